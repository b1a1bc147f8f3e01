import { expect } from 'vitest';
import { StoreError } from '../../lambdas/core/errors/store-error.ts';
import type { CapChange } from '../../lambdas/core/ledger/caps.ts';
import type { CreditDependencies } from '../../lambdas/core/ledger/credit.ts';
import type { LedgerDependencies } from '../../lambdas/core/ledger/ledger.ts';
import { renderRequestId } from '../../lambdas/core/request-id.ts';
import {
  CAPPED_KEY,
  type ClientResult,
  changeCaps,
  FIRST_CAP,
  GIVEN_PICOS,
  LIFETIME_MS,
  playRequest,
  type RequestPlan,
  sweepNowAndThen,
  takeBack,
  topUp,
} from '../lambdas/core/ledger/history.ts';
import type { Call, Fault } from '../support/fault-proxy.ts';
import { Choices } from '../support/memory/interleaved-store.ts';
import { ManualClock } from '../support/memory/manual-clock.ts';
import { MemoryOutbox } from '../support/memory/memory-outbox.ts';
import { sweep } from '../support/strict-tending.ts';
import type { Engine } from './engine-ledger.ts';
import { auditAccount } from './ledger-audit.ts';

const troubles = ['fail-before', 'throttle', 'conflict', 'lose-reply', 'hold-back', 'repeat'] as const;
/** Number of choices for a call. Each kind of fault is one choice, and the others mean no fault. */
const CALLS = 16;

/** Returns the id of a request by its number in the history. */
export const requestIdAt = (index: number): string => renderRequestId({ atMs: 0, random: index });

/** Call that has arrived at the proxy. */
interface Waiting {
  readonly name: string;
  readonly call: Call;
  readonly go: (fault: Fault | undefined) => void;
}

type Step = () => Promise<void>;

interface EngineDependencies extends LedgerDependencies, CreditDependencies {
  readonly store: LedgerDependencies['store'];
  readonly setCap: (accountId: string, change: CapChange | undefined) => Promise<void>;
}

const DAY_MS = 86_400_000;

/**
 * Plays one random history of one account on the real engine. Every call waits at the proxy. When no process can
 * continue, the next numbers of the list select which call or process continues, and how. The same numbers give the
 * same history, regardless of the load of the machine. Exception: if two sweepers make the same call, the call that
 * arrived first is the first.
 */
export class EngineHistory {
  readonly told: ClientResult[] = [];
  readonly #engine: Engine;
  readonly #accountId: string;
  readonly #choices: Choices;
  /** A day ends soon after the start. */
  readonly #clock = new ManualClock(DAY_MS - LIFETIME_MS);
  readonly #outbox = new MemoryOutbox();
  readonly #waiting: Waiting[] = [];
  readonly #dead = new Set<string>();
  readonly #errors: unknown[] = [];
  readonly #processes: { readonly name: string; readonly start: (deps: EngineDependencies) => Promise<unknown> }[];
  #late: Step[] = [];
  #muchLater: Step[] = [];
  #underWay = 0;
  #moved = Promise.withResolvers<void>();

  constructor(engine: Engine, accountId: string, numbers: readonly number[], plans: readonly RequestPlan[]) {
    this.#engine = engine;
    this.#accountId = accountId;
    this.#choices = new Choices(numbers);
    this.#processes = [
      ...plans.map((plan, index) => ({
        name: `request-${index}`,
        start: (deps: EngineDependencies) =>
          playRequest(deps, requestIdAt(index), accountId, plan, (result) => {
            this.told[index] = result;
          }),
      })),
      { name: 'sweep-1', start: sweepNowAndThen },
      { name: 'sweep-2', start: sweepNowAndThen },
      { name: 'credit-1', start: (deps) => topUp(deps, [accountId]) },
      { name: 'credit-2', start: (deps) => topUp(deps, [accountId]) },
      { name: 'returns-1', start: (deps) => takeBack(deps, accountId, 1) },
      { name: 'returns-2', start: (deps) => takeBack(deps, accountId, 2) },
      { name: 'caps', start: ({ clock, setCap }) => changeCaps(clock, [accountId], setCap) },
    ];
  }

  /**
   * Plays the history to its end, ends every hold, lets the last late calls arrive, and ends the holds that they
   * placed. Returns the audit.
   */
  async play(): Promise<Awaited<ReturnType<typeof auditAccount>>> {
    const { direct, plans } = this.#engine;
    await direct.createAccount(this.#accountId, 0);
    await direct.credit({
      accountId: this.#accountId,
      ref: 'first',
      amountPicos: GIVEN_PICOS,
      reason: 'test',
      at: 0,
    });
    await this.#engine.setCap(this.#accountId, CAPPED_KEY, FIRST_CAP, this.#clock.now());
    plans.set(this.#accountId, (call) => this.#arrived(call));
    try {
      await this.#drive();
      await this.#endHolds();
      this.#late.push(...this.#muchLater.splice(0));
      await this.#drive();
      await this.#endHolds();
    } finally {
      plans.delete(this.#accountId);
    }
    expect(this.#errors).toEqual([]);
    return auditAccount(this.#engine, this.#accountId);
  }

  #arrived(call: Call): Promise<Fault | undefined> {
    return new Promise((go) => {
      this.#waiting.push({ name: `${call.operation} ${call.key} ${JSON.stringify(call.body)}`, call, go });
      this.#move();
    });
  }

  #move(): void {
    this.#moved.resolve();
    this.#moved = Promise.withResolvers();
  }

  /**
   * Waits until every call in progress has arrived at the proxy. Sorts the waiting calls, because their order of
   * arrival is random.
   */
  async #quiet(): Promise<void> {
    for (;;) {
      const { promise } = this.#moved;
      await this.#clock.flush();
      if (this.#underWay === this.#waiting.length) break;
      await promise;
    }
    this.#waiting.sort((one, other) => Number(one.name > other.name) - Number(one.name < other.name));
  }

  async #drive(): Promise<void> {
    do await this.#quiet();
    while (await this.#goOn());
  }

  /**
   * Usually lets the store continue; sometimes a process starts or dies, or time passes. Returns false when nothing is
   * left to do.
   */
  async #goOn(): Promise<boolean> {
    const kind = this.#choices.next(24);
    const steps = this.#waiting.length + this.#late.length;
    if (kind === 23) this.#dead.add(`request-${this.#choices.next(4)}`);
    else if (kind === 22) await this.#clock.advance(LIFETIME_MS / 2);
    else if (kind < 18 && steps > 0) await this.#step(this.#choices.next(steps));
    else if (this.#processes.length > 0) this.#start(this.#choices.next(this.#processes.length));
    else if (this.#clock.waiting > 0) await this.#clock.advance(LIFETIME_MS / 10);
    else return steps > 0;
    return true;
  }

  async #step(index: number): Promise<void> {
    const [waiting] = this.#waiting.splice(index, 1);
    if (waiting) {
      waiting.go(this.#faultOf(waiting.call));
      return;
    }
    const [late] = this.#late.splice(index - this.#waiting.length, 1);
    await late?.();
  }

  #faultOf(call: Call): Fault | undefined {
    const kind = troubles[this.#choices.next(CALLS) - (CALLS - troubles.length)];
    switch (kind) {
      case undefined:
        return undefined;
      case 'fail-before':
        return { kind, ...([{}, { status: 500 }, { status: 503 }] as const)[this.#choices.next(3)] };
      case 'hold-back':
        return { kind, until: this.#moment(call) };
      case 'repeat':
        // A hold is never repeated: its client makes one attempt.
        return isHold(call) ? undefined : { kind, until: this.#moment(call) };
      default:
        return { kind };
    }
  }

  /**
   * Returns a promise that resolves in a separate step, soon or after everything else. The step then waits until the
   * call is over.
   */
  #moment(call: Call): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const steps = this.#choices.next(2) === 0 ? this.#late : this.#muchLater;
    steps.push(async () => {
      resolve();
      await call.over;
    });
    return promise;
  }

  #start(index: number): void {
    const [next] = this.#processes.splice(index, 1);
    if (!next) return;
    next.start(this.#portsOf(next.name)).catch((error: unknown) => {
      if (!(error instanceof StoreError)) this.#errors.push(error);
    });
  }

  /** Returns the ledger of one process. After the death of the process, its calls never return. */
  #portsOf(process: string): EngineDependencies {
    const around = async <T>(call: () => Promise<T>): Promise<T> => {
      if (this.#dead.has(process)) return new Promise<T>(() => undefined);
      this.#underWay += 1;
      const [outcome] = await Promise.allSettled([call()]);
      this.#underWay -= 1;
      this.#move();
      if (this.#dead.has(process)) return new Promise<T>(() => undefined);
      if (outcome.status === 'rejected') throw outcome.reason;
      return outcome.value;
    };
    const { proxied, direct, records } = this.#engine;
    return {
      records: { readCredits: (accountId) => around(() => records.readCredits(accountId)) },
      store: {
        hold: (request) => around(() => proxied.hold(request)),
        putRecord: (record) => around(() => proxied.putRecord(record)),
        apply: (record, amountPicos, nowMs) => around(() => proxied.apply(record, amountPicos, nowMs)),
        readAccount: (accountId) => around(() => proxied.readAccount(accountId)),
        readRecord: (accountId, holdId) => around(() => proxied.readRecord(accountId, holdId)),
        createAccount: (accountId, nowMs) => around(() => proxied.createAccount(accountId, nowMs)),
        closeMonths: (accountId, nowMs) => around(() => proxied.closeMonths(accountId, nowMs)),
        credit: (request) => around(() => proxied.credit(request)),
        // The sweep list is shared, because other histories use the same database.
        due: (nowMs, latestMs) =>
          around(async () =>
            (await direct.due(nowMs, latestMs)).filter(({ accountId }) => accountId === this.#accountId),
          ),
        reschedule: (accountId, atMs, dueMs) => around(() => proxied.reschedule(accountId, atMs, dueMs)),
        clearUncollected: (accountId) => around(() => proxied.clearUncollected(accountId)),
        sweepBy: (accountId, atMs) => around(() => proxied.sweepBy(accountId, atMs)),
      },
      setCap: (accountId, change) =>
        around(() => this.#engine.setCap(accountId, CAPPED_KEY, change, this.#clock.now())),
      outbox: this.#outbox,
      clock: this.#clock,
      random: () => 0,
      shortestLifetimeMs: LIFETIME_MS,
    };
  }

  /** Runs undisturbed sweeps, one lifetime apart. At most three sweeps must find and end all open holds. */
  async #endHolds(): Promise<void> {
    const deps = this.#portsOf('last-sweep');
    const store = { ...this.#engine.direct, due: deps.store.due };
    for (let round = 0; round < 3 && (await this.#openHolds()).length > 0; round += 1) {
      await this.#clock.advance(LIFETIME_MS);
      await sweep({ ...deps, store });
    }
    expect(await this.#openHolds(), 'holds that no sweep finds').toEqual([]);
  }

  async #openHolds(): Promise<readonly string[]> {
    const account = await this.#engine.direct.readAccount(this.#accountId);
    return [...(account?.holds.keys() ?? [])];
  }
}

const isHold = ({ operation, body }: Call): boolean =>
  operation === 'UpdateItem' && JSON.stringify(body).includes('holds.#id = :hold');
