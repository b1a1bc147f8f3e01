import { createCircuits } from '../../../../lambdas/core/circuit/breaker.ts';
import type { CallPermit, CallRejection, CircuitId, Circuits } from '../../../../lambdas/core/circuit/circuit.ts';
import { type CircuitSettings, circuitDefaults, type Outcome } from '../../../../lambdas/core/circuit/circuit.ts';
import type { CircuitStore } from '../../../../lambdas/core/circuit/circuit-store.ts';
import { sleep } from '../../../../lambdas/core/clock.ts';
import { StoreError } from '../../../../lambdas/core/errors/store-error.ts';
import type { ProcessPauses } from '../../../../lambdas/core/process-pauses.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { MemoryCircuitStore } from '../../../support/memory/memory-circuit-store.ts';

export const weathers = ['fine', 'down', 'throttled', 'slow', 'stuck', 'lands-late', 'loses-reply'] as const;
/** Behavior of the store. `slow` exceeds the wait for a look-up but not for a count; `stuck` exceeds both. */
export type Weather = (typeof weathers)[number];

export const SLOW_MS = 120;
export const STUCK_MS = 900;

type Method = keyof CircuitStore;
type Around = <T>(method: Method, call: () => Promise<T>) => Promise<T>;

export const around = (store: CircuitStore, run: Around): CircuitStore => ({
  read: (...given) => run('read', () => store.read(...given)),
  count: (...given) => run('count', () => store.count(...given)),
  open: (...given) => run('open', () => store.open(...given)),
  lease: (...given) => run('lease', () => store.lease(...given)),
  renew: (...given) => run('renew', () => store.renew(...given)),
  releaseProbe: (...given) => run('releaseProbe', () => store.releaseProbe(...given)),
  judge: (...given) => run('judge', () => store.judge(...given)),
  close: (...given) => run('close', () => store.close(...given)),
  countMissing: (...given) => run('countMissing', () => store.countMissing(...given)),
  readMissing: (...given) => run('readMissing', () => store.readMissing(...given)),
  quarantine: (...given) => run('quarantine', () => store.quarantine(...given)),
});

export interface StartOptions {
  readonly settings?: CircuitSettings;
  readonly pauses?: ProcessPauses;
}

/** One process with its store calls, its operational events and whether it is dead. */
export class WorldProcess {
  readonly circuits: Circuits;
  readonly calls: Method[] = [];
  readonly notices: string[] = [];
  dead = false;
  readonly #world: CircuitWorld;

  constructor(world: CircuitWorld, store: CircuitStore, { settings = circuitDefaults, pauses }: StartOptions) {
    this.#world = world;
    const run: Around = (method, call) => {
      if (this.dead) return new Promise(() => undefined);
      this.calls.push(method);
      return world.weathered(call);
    };
    this.circuits = createCircuits(
      {
        store: around(store, run),
        clock: world.clock,
        pauses,
        notice: (name, key) => this.notices.push(`${name} ${key}`),
      },
      settings,
    );
  }

  /** Store calls that write. */
  get writes(): readonly Method[] {
    return this.calls.filter((method) => method !== 'read' && method !== 'readMissing');
  }

  enter(account = 'a', key = this.#world.key): Promise<CallPermit | CallRejection> {
    this.#world.requests += 1;
    const caller = { accountId: account, requestId: `r${this.#world.requests}` };
    return this.#world.clock.until(this.circuits.acquire(key, caller));
  }

  /** Makes a call and reports its outcome. Returns the rejection, or undefined if the circuit permitted the call. */
  async call(outcome: Outcome, account = 'a', key = this.#world.key): Promise<CallRejection | undefined> {
    const entered = await this.enter(account, key);
    if (entered.kind !== 'permit') return entered;
    await this.#world.clock.until(entered.report(outcome));
    return undefined;
  }

  async series(outcomes: string, accounts = 'ab'): Promise<void> {
    for (const [index, letter] of [...outcomes].entries()) {
      await this.call(letter === 'f' ? 'failed' : 'succeeded', accounts[index % accounts.length]);
    }
  }
}

/** Processes that share only a store and a clock. */
export class CircuitWorld {
  readonly key: CircuitId = { providerId: 'vendor', modelId: 'model' };
  readonly clock = new ManualClock();
  readonly store = new MemoryCircuitStore();
  weather: Weather = 'fine';
  requests = 0;

  start(store: CircuitStore = this.store, options: StartOptions = {}): WorldProcess {
    return new WorldProcess(this, store, options);
  }

  get state() {
    return this.store.stateOf(this.key);
  }

  async weathered<T>(call: () => Promise<T>): Promise<T> {
    const noAnswer = new StoreError('unavailable', 'no response');
    switch (this.weather) {
      case 'fine':
        return call();
      case 'down':
        throw noAnswer;
      case 'throttled':
        throw new StoreError('throttled', 'throttled');
      case 'slow':
        await sleep(this.clock, SLOW_MS);
        return call();
      case 'stuck':
        await sleep(this.clock, STUCK_MS);
        return call();
      case 'loses-reply':
        await call();
        throw noAnswer;
      case 'lands-late':
        void sleep(this.clock, STUCK_MS).then(call);
        throw noAnswer;
    }
  }

  /** Opens the circuit for all processes by failed calls in two of them. */
  async openForAll(): Promise<void> {
    const [one, other] = [this.start(), this.start()];
    // Each process sees half of the failures, at most three in a row, so neither opens its own circuit.
    for (const process of [one, other, one, other]) await process.series('fffs');
    if (this.state?.openings !== 1) throw new Error('the circuit did not open');
  }
}
