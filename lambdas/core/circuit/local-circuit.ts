import { RecentMap } from '../recent-map.ts';
import type { CallRejection } from './circuit.ts';
import {
  afterProbe,
  type CircuitSettings,
  type Opening,
  type Outcome,
  openedAgain,
  retryAfterSeconds,
} from './circuit.ts';

const ACCOUNTS_MAX = 1_000;
/** Age at which an unreported probe is dropped, in ms. No call takes this long. */
const PROBE_MS = 1_200_000;

/** Whom an opening bars. Account names are hashes in hex, so none is like this one. */
const EVERYBODY = '*';

interface LocalOpening extends Opening {
  readonly probe: { readonly owner: string; readonly untilMs: number } | undefined;
}

/** What changed for everybody. */
export type LocalChange = 'opened' | 'closed' | undefined;

/**
 * What one process has seen of a provider's model. Failures in a row open it: for all if two accounts or more had them, else for that
 * one account, which must not shut a model for others.
 */
export class LocalCircuit {
  readonly #settings: CircuitSettings;
  readonly #openings = new RecentMap<LocalOpening>(ACCOUNTS_MAX);
  /** The accounts of the last failures, no success between them. */
  #streak: readonly string[] = [];

  constructor(settings: CircuitSettings) {
    this.#settings = settings;
  }

  rejection(account: string, nowMs: number): CallRejection | undefined {
    for (const scope of [EVERYBODY, account]) {
      const opening = this.#openings.get(scope);
      if (!opening) continue;
      const untilMs = opening.openUntilMs > nowMs ? opening.openUntilMs : (opening.probe?.untilMs ?? 0);
      if (opening.openUntilMs > nowMs) return { kind: 'open', retryAfterSeconds: retryAfterSeconds(untilMs, nowMs) };
      // When the probe under way will end is not known.
      if (untilMs > nowMs) return { kind: 'open', retryAfterSeconds: 1 };
    }
    return undefined;
  }

  /** Right after `barred` said no: makes this call the probe of whatever is half open. Whether anything is. */
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
    const changes = [EVERYBODY, account].map((scope) => this.#judge(scope, owner, outcome, nowMs));
    if (outcome === 'succeeded') this.#streak = [];
    if (outcome === 'failed' && this.#fail(account, nowMs)) return 'opened';
    return changes[0];
  }

  /** The circuit is open for all processes: that alone counts now. */
  forget(): void {
    this.#openings.clear();
    this.#streak = [];
  }

  #judge(scope: string, owner: string, outcome: Outcome, nowMs: number): LocalChange {
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

  /** Whether that opened the circuit for everybody. */
  #fail(account: string, nowMs: number): boolean {
    if (this.#openings.get(EVERYBODY)) return false;
    const { failures } = this.#settings;
    this.#streak = [...this.#streak, account].slice(-failures);
    if (this.#streak.length < failures) return false;
    const scope = this.#streak.every((each) => each === account) ? account : EVERYBODY;
    if (!this.#openings.get(scope)) {
      this.#openings.set(scope, { ...openedAgain(undefined, nowMs, this.#settings), probe: undefined });
    }
    if (scope === EVERYBODY) this.#streak = [];
    return scope === EVERYBODY;
  }
}
