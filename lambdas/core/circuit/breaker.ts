import { hash } from 'node:crypto';
import { type Clock, inTime } from '../clock.ts';
import type { CircuitEvent } from '../metrics.ts';
import type { ProcessPauses } from '../process-pauses.ts';
import { RecentMap } from '../recent-map.ts';
import {
  type CallPermit,
  type CallRejection,
  type CircuitId,
  type CircuitSettings,
  type Circuits,
  type Outcome,
  outcomeForAll,
} from './circuit.ts';
import type { CircuitStore } from './circuit-store.ts';
import { LocalCircuit } from './local-circuit.ts';
import { Quarantines } from './quarantine.ts';
import type { SharedProbe } from './shared-circuit.ts';
import { SharedCircuit } from './shared-circuit.ts';

const CIRCUITS_MAX = 1_000;
/**
 * Longest wait for the write of a count or of a probe's result, in ms. The response waits for the write, because the
 * process may freeze after the response and leave the write unfinished.
 */
const COUNTED_WITHIN_MS = 200;

export interface CircuitDependencies {
  readonly store: CircuitStore;
  readonly clock: Clock;
  /** Pauses of this process, whose failures do not count. Undefined means none. */
  readonly pauses?: Pick<ProcessPauses, 'watch'> | undefined;
  /**
   * Reports an event of a circuit, in the process that caused it. `key` is `<provider>/<model>`, or the model id for a
   * quarantine.
   */
  readonly notice?: (notice: CircuitEvent, key: string) => void;
}

export const createCircuits = (deps: CircuitDependencies, settings: CircuitSettings): Circuits =>
  new ProcessCircuits(deps, settings);

interface Circuit {
  readonly name: string;
  readonly local: LocalCircuit;
  readonly shared: SharedCircuit;
}

/** A call in progress. */
interface Entry {
  /** Hash of the account id. */
  readonly account: string;
  readonly owner: string;
  /** Whether this call probes the circuit of this process or the shared circuit. */
  readonly isProbe: boolean;
  readonly probe: SharedProbe | undefined;
}

class ProcessCircuits implements Circuits {
  readonly #deps: CircuitDependencies;
  readonly #settings: CircuitSettings;
  readonly #circuits = new RecentMap<Circuit>(CIRCUITS_MAX);
  readonly #quarantines: Quarantines;
  #entered = 0;

  constructor(deps: CircuitDependencies, settings: CircuitSettings) {
    this.#deps = deps;
    this.#settings = settings;
    this.#quarantines = new Quarantines(deps.store, deps.clock, (modelId) =>
      deps.notice?.('model_quarantined', modelId),
    );
  }

  peek(key: CircuitId, accountId: string): CallRejection | undefined {
    const circuit = this.#circuitOf(key);
    circuit.shared.look();
    return this.#rejection(circuit, key.modelId, hashOf(accountId));
  }

  async acquire(key: CircuitId, caller: { accountId: string; requestId: string }): Promise<CallPermit | CallRejection> {
    const circuit = this.#circuitOf(key);
    const { local, shared } = circuit;
    const account = hashOf(caller.accountId);
    shared.look();
    const reading = shared.lookedUp();
    if (reading) await reading;
    const rejection = this.#rejection(circuit, key.modelId, account);
    if (rejection) return rejection;
    this.#entered += 1;
    // One request may make several calls.
    const owner = `${caller.requestId}/${this.#entered}`;
    if (!shared.isOpen) {
      const isProbe = local.enter(account, owner, this.#deps.clock.now());
      return this.#permit(circuit, { account, owner, isProbe, probe: undefined });
    }
    const probe = await shared.lease(owner);
    return probe && 'kind' in probe
      ? probe
      : this.#permit(circuit, { account, owner, isProbe: probe !== undefined, probe });
  }

  async usageMissing(modelId: string, accountId: string): Promise<void> {
    const counted = this.#quarantines.usageMissing(modelId, hashOf(accountId));
    await inTime(this.#deps.clock, COUNTED_WITHIN_MS, counted);
  }

  #rejection({ local, shared }: Circuit, modelId: string, account: string): CallRejection | undefined {
    if (this.#quarantines.isShut(modelId)) return { kind: 'quarantined' };
    if (shared.isOpen) local.forget();
    return shared.rejection() ?? local.rejection(account, this.#deps.clock.now());
  }

  #permit(circuit: Circuit, { account, owner, isProbe, probe }: Entry): CallPermit {
    const { clock, pauses } = this.#deps;
    const hasPaused = pauses?.watch();
    let isReported = false;
    const report = (reported: Outcome): Promise<void> | undefined => {
      if (isReported) return undefined;
      isReported = true;
      // A process that did not run cannot judge a provider: its timers are late and its connections have ended.
      const outcome = reported !== 'succeeded' && hasPaused?.() ? 'unknown' : reported;
      if (probe) return inTime(clock, COUNTED_WITHIN_MS, probe.end(outcomeForAll(outcome)));
      this.#reportLocal(circuit, account, owner, outcome);
      if (outcome === 'succeeded') circuit.shared.succeeded();
      return outcome === 'failed' ? inTime(clock, COUNTED_WITHIN_MS, circuit.shared.failed(account)) : undefined;
    };
    return { kind: 'permit', report, started: () => (isProbe ? report('succeeded') : undefined) };
  }

  #reportLocal({ local, shared, name }: Circuit, account: string, owner: string, outcome: Outcome): void {
    if (shared.isOpen) {
      local.forget();
      return;
    }
    const change = local.report(account, owner, outcome, this.#deps.clock.now());
    if (change) this.#deps.notice?.(`circuit_${change}`, name);
  }

  #circuitOf(key: CircuitId): Circuit {
    const name = `${key.providerId}/${key.modelId}`;
    return this.#circuits.getOrMake(name, () => {
      const { store, clock, notice } = this.#deps;
      const settings = this.#settings;
      return {
        name,
        local: new LocalCircuit(settings),
        shared: new SharedCircuit(key, {
          store,
          clock,
          settings,
          learnQuarantine: (untilMs) => this.#quarantines.learn(key.modelId, untilMs),
          noticeOpened: () => notice?.('circuit_opened', name),
          noticeClosed: () => notice?.('circuit_closed', name),
        }),
      };
    });
  }
}

const HASHES_MAX = 1_000;
const hashes = new RecentMap<string>(HASHES_MAX);

const hashOf = (accountId: string): string => hashes.getOrMake(accountId, () => hash('sha256', accountId).slice(0, 16));
