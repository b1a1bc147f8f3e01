import { isDeepStrictEqual } from 'node:util';
import type { Outcome } from '../../../../lambdas/core/circuit/circuit.ts';
import type { CircuitStore } from '../../../../lambdas/core/circuit/circuit-store.ts';
import { type CircuitWorld, STUCK_MS } from './circuit-world.ts';

const BUCKET_MS = 15_000;
const OPEN_MS = [30_000, 60_000, 120_000, 300_000];
/**
 * Longest time, in ms, from a decision of the circuit to its write on the store, with all delays that a history can
 * add.
 */
const LATE_MS = 3 * STUCK_MS;

interface Counted {
  readonly startMs: number;
  readonly failures: number;
  readonly successes: number;
  readonly accounts: readonly string[];
}

/**
 * Checks every call on the store against an independent implementation of the rules. It computes from the counts and
 * the reported outcomes when a circuit may open, lease a probe, judge it and close.
 */
export class CircuitWatch {
  readonly #world: CircuitWorld;
  readonly #counted: Counted[] = [];
  /** Outcome of each request's call, by request id. */
  readonly outcomes = new Map<string, Outcome>();
  /** Lease of each probing request, as last written. Removed when its outcome is reported or its process dies. */
  readonly probing = new Map<string, { leaseUntilMs: number; readonly sinceMs: number }>();
  readonly seen = { opened: 0, leased: 0, reopened: 0, closed: 0 };
  openedAtMs = Number.NEGATIVE_INFINITY;
  closedAtMs = Number.NEGATIVE_INFINITY;
  /** Violations of the rules. They are collected because the circuit catches errors of the store. */
  readonly violations: string[] = [];
  readonly #refused = new Set<string>();
  #good = 0;

  constructor(world: CircuitWorld) {
    this.#world = world;
  }

  /**
   * Records that a request was rejected. If its late write still obtains a lease, the lease belongs to no running
   * probe.
   */
  turnedAway(request: string): void {
    this.#refused.add(request);
    this.probing.delete(request);
  }

  /** Returns the watched store for one process. */
  store(): CircuitStore {
    const { store, clock, key } = this.#world;
    let ruleHeldAtMs = Number.NEGATIVE_INFINITY;
    const real: CircuitStore = store;
    return {
      read: async (...given) => {
        if (this.#ruleHolds()) ruleHeldAtMs = clock.now();
        return store.read(...given);
      },
      count: async (given, added) => {
        this.#counted.push(added);
        return store.count(given, added);
      },
      open: async (given, opening, ...rest) => {
        const opened = await store.open(given, opening, ...rest);
        if (!opened) return false;
        this.#must(clock.now() - ruleHeldAtMs <= LATE_MS, 'opened although the rule for opening did not hold');
        this.#began(opening, 1);
        this.openedAtMs = clock.now();
        this.seen.opened += 1;
        return true;
      },
      lease: async (given, probe, nowMs) => {
        const before = store.stateOf(key);
        const reply = await store.lease(given, probe, nowMs);
        if (!('leased' in reply)) return reply;
        this.#must(
          before !== undefined && before.openUntilMs <= clock.now(),
          'leased a probe before the circuit was half open',
        );
        const asked = requestOf(probe.owner);
        if (this.#refused.has(asked)) return reply;
        for (const [request, other] of this.probing) {
          this.#must(other.leaseUntilMs <= clock.now(), `leased a probe while ${request} still probes`);
        }
        this.probing.set(asked, { leaseUntilMs: probe.leaseUntilMs, sinceMs: clock.now() });
        this.seen.leased += 1;
        return reply;
      },
      renew: async (given, owner, leaseUntilMs) => {
        const renewed = await store.renew(given, owner, leaseUntilMs);
        const probe = this.probing.get(requestOf(owner));
        if (renewed && probe) probe.leaseUntilMs = leaseUntilMs;
        return renewed;
      },
      releaseProbe: (...given) => real.releaseProbe(...given),
      judge: async (given, owner, opening, expiresAtMs) => {
        const before = store.stateOf(key);
        if (!(await store.judge(given, owner, opening, expiresAtMs))) return false;
        const outcome = this.outcomes.get(requestOf(owner));
        if (outcome === 'failed') {
          this.#began(opening, (before?.openings ?? 0) + 1);
          this.seen.reopened += 1;
        } else {
          this.#must(outcome === 'succeeded', 'counted a probe as good although its call did not succeed');
          this.#good += 1;
          const after = { ...before, goodProbes: this.#good, probe: undefined };
          this.#must(isDeepStrictEqual(store.stateOf(key), after), 'a good probe changed more than its count');
        }
        return true;
      },
      close: async (given, owner) => {
        if (!(await store.close(given, owner))) return false;
        this.#must(this.outcomes.get(requestOf(owner)) === 'succeeded', 'closed by a call that did not succeed');
        this.#must(this.#good === 2, `closed after ${this.#good} good probes and one more`);
        this.closedAtMs = clock.now();
        this.seen.closed += 1;
        return true;
      },
      countMissing: (...given) => real.countMissing(...given),
      readMissing: (...given) => real.readMissing(...given),
      quarantine: (...given) => real.quarantine(...given),
    };
  }

  #began(opening: { openUntilMs: number; openings: number; goodProbes: number }, openings: number): void {
    this.#good = 0;
    const fullMs = OPEN_MS[Math.min(openings, OPEN_MS.length) - 1] ?? 0;
    const leftMs = opening.openUntilMs - this.#world.clock.now();
    this.#must(opening.openings === openings && opening.goodProbes === 0, `wrote ${opening.openings} openings`);
    this.#must(leftMs <= fullMs && leftMs >= fullMs - LATE_MS, `opened for ${leftMs} ms`);
  }

  #must(holds: boolean, text: string): void {
    if (!holds) this.violations.push(text);
  }

  #ruleHolds(): boolean {
    const current = Math.floor(this.#world.clock.now() / BUCKET_MS) * BUCKET_MS;
    const window = this.#counted.filter(({ startMs }) => startMs === current || startMs === current - BUCKET_MS);
    let failures = 0;
    let calls = 0;
    for (const counted of window) {
      failures += counted.failures;
      calls += counted.failures + counted.successes;
    }
    return calls >= 10 && failures * 2 >= calls && new Set(window.flatMap(({ accounts }) => accounts)).size >= 2;
  }
}

const requestOf = (owner: string): string => owner.split('/')[0] ?? '';
