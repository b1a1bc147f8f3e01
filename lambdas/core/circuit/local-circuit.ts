import { isAhead } from '../clock.ts';
import { RecentMap } from '../recent-map.ts';
import type { CallRejection } from './circuit.ts';
import {
  afterProbe,
  type CircuitSettings,
  isOpenUntil,
  type Opening,
  type Outcome,
  openedAgain,
  outcomeForAll,
  type ProbeOutcome,
  retryAfterSeconds,
} from './circuit.ts';

const ACCOUNTS_MAX = 1_000;
/** Age at which an unreported probe is dropped, in ms. No call takes this long. */
const PROBE_MS = 1_200_000;

/** Fewest accounts whose timeouts open the circuit for all, however low its setting is. */
const TIMED_OUT_ACCOUNTS_MIN = 3;

/** Key of an opening that applies to all accounts. Account hashes are hex, so none equals it. */
const EVERYBODY = '*';

interface LocalOpening extends Opening {
  readonly probe: { readonly owner: string; readonly untilMs: number } | undefined;
}

/** Change of the circuit for all accounts; undefined if nothing changed for them. */
export type LocalChange = 'opened' | 'closed' | undefined;

/**
 * Circuit of a provider's model in one process. Consecutive failures from at least two accounts open it for all
 * accounts. Consecutive failures from one account open it for that account only, so that one account cannot disable a
 * model for others. A client can cause a timeout by a long request, so an account's timeouts count once for all others.
 */
export class LocalCircuit {
  readonly #settings: CircuitSettings;
  readonly #openings = new RecentMap<LocalOpening>(ACCOUNTS_MAX);
  /** Accounts of the latest consecutive failures. */
  #streak: readonly string[] = [];
  /** Timeouts by account since the latest success. */
  readonly #timeouts = new Map<string, number>();

  constructor(settings: CircuitSettings) {
    this.#settings = settings;
  }

  rejection(account: string, nowMs: number): CallRejection | undefined {
    for (const scope of [EVERYBODY, account]) {
      const opening = this.#openings.get(scope);
      if (!opening) continue;
      const { openUntilMs, probe } = opening;
      if (isOpenUntil(openUntilMs, nowMs, this.#settings))
        return { kind: 'open', retryAfterSeconds: retryAfterSeconds(openUntilMs, nowMs) };
      // It is unknown when the running probe ends.
      if (probe && isAhead(probe.untilMs, nowMs, PROBE_MS)) return { kind: 'open', retryAfterSeconds: 1 };
    }
    return undefined;
  }

  /**
   * Makes this call the probe of a half-open circuit. Call it directly after `rejection` returned undefined. Returns
   * whether the circuit is half open.
   */
  enter(account: string, owner: string, nowMs: number): boolean {
    let probes = false;
    for (const scope of [EVERYBODY, account]) {
      const opening = this.#openings.get(scope);
      if (!opening) continue;
      this.#openings.set(scope, { ...opening, probe: { owner, untilMs: nowMs + PROBE_MS } });
      probes = true;
    }
    return probes;
  }

  report(account: string, owner: string, outcome: Outcome, nowMs: number): LocalChange {
    const change = this.#judge(EVERYBODY, owner, outcomeForAll(outcome), nowMs);
    this.#judge(account, owner, outcome === 'timed_out' ? 'failed' : outcome, nowMs);
    if (outcome === 'succeeded') this.#forgetFailures();
    if (outcome === 'failed' && this.#fail(account, nowMs)) return 'opened';
    if (outcome === 'timed_out' && this.#timeOut(account, nowMs)) return 'opened';
    return change;
  }

  /** Drops the local state, because the circuit is open for all processes and only the shared state counts. */
  forget(): void {
    this.#openings.clear();
    this.#forgetFailures();
  }

  #forgetFailures(): void {
    this.#streak = [];
    this.#timeouts.clear();
  }

  #judge(scope: string, owner: string, outcome: ProbeOutcome, nowMs: number): LocalChange {
    const opening = this.#openings.get(scope);
    if (opening?.probe?.owner !== owner) return undefined;
    const after = outcome === 'unknown' ? opening : afterProbe(opening, outcome, nowMs, this.#settings);
    if (after) {
      this.#openings.set(scope, { ...after, probe: undefined });
      return undefined;
    }
    this.#openings.delete(scope);
    return 'closed';
  }

  /** Returns whether the failure opened the circuit for all accounts. */
  #fail(account: string, nowMs: number): boolean {
    if (this.#openings.get(EVERYBODY)) return false;
    const { failures } = this.#settings;
    this.#streak = [...this.#streak, account].slice(-failures);
    if (this.#streak.length < failures) return false;
    const scope = this.#streak.every((each) => each === account) ? account : EVERYBODY;
    this.#open(scope, nowMs);
    return scope === EVERYBODY;
  }

  /** Returns whether the timeout opened the circuit for all accounts. */
  #timeOut(account: string, nowMs: number): boolean {
    if (this.#openings.get(EVERYBODY)) return false;
    const { failures } = this.#settings;
    const ofAccount = (this.#timeouts.get(account) ?? 0) + 1;
    this.#timeouts.set(account, ofAccount);
    const isForAll = this.#timeouts.size >= Math.max(TIMED_OUT_ACCOUNTS_MIN, failures);
    if (isForAll) this.#open(EVERYBODY, nowMs);
    else if (ofAccount >= failures) this.#open(account, nowMs);
    return isForAll;
  }

  #open(scope: string, nowMs: number): void {
    if (!this.#openings.get(scope)) {
      this.#openings.set(scope, { ...openedAgain(undefined, nowMs, this.#settings), probe: undefined });
    }
    if (scope === EVERYBODY) this.#forgetFailures();
  }
}
