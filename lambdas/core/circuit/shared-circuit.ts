import { type Clock, inTime, isAhead } from '../clock.ts';
import {
  afterProbe,
  type CallRejection,
  type CircuitId,
  type CircuitSettings,
  openedAgain,
  type ProbeOutcome,
  retryAfterSeconds,
} from './circuit.ts';
import {
  type BucketCount,
  type CircuitReading,
  type CircuitState,
  type CircuitStore,
  orUndefined,
  PROBE_LEASE_MS,
  unavailableUntilMs,
} from './circuit-store.ts';

const KNOWN_FOR_MS = 5_000;

/** Pause after a store failure, in ms. */
const PAUSE_MS = 1_000;

const LOOKED_UP_WITHIN_MS = 50;

const LEASED_WITHIN_MS = 200;

/** Value of `Retry-After` in seconds if the store did not return when the next probe is due. */
const UNKNOWN_SECONDS = 5;

/**
 * State of a shared circuit, as this process knows it. While the store fails, the last known state applies: an open
 * circuit stays open, a closed one stays usable.
 */
export class SharedCircuit {
  readonly #key: CircuitId;
  readonly #deps: SharedDependencies;
  readonly #tally: CallTally;
  readonly #reads: SharedRun<boolean>;
  #state: CircuitState | undefined;
  #buckets: readonly BucketCount[] = [];
  #knownAtMs = Number.NEGATIVE_INFINITY;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  /**
   * Number of state changes that did not come from a read. A read that started before the latest change is outdated.
   */
  #learnt = 0;

  constructor(key: CircuitId, deps: SharedDependencies) {
    this.#key = key;
    this.#deps = deps;
    this.#reads = new SharedRun(() => this.#read());
    this.#tally = new CallTally(deps.store, deps.clock, key, (startMs) => this.#accountsIn(startMs));
  }

  /** Whether the circuit is open or half open. */
  get isOpen(): boolean {
    return this.#state !== undefined;
  }

  rejection(): CallRejection | undefined {
    const { clock, settings } = this.#deps;
    const now = clock.now();
    const untilMs = this.#state && unavailableUntilMs(this.#state, now, settings);
    return untilMs === undefined ? undefined : { kind: 'open', retryAfterSeconds: retryAfterSeconds(untilMs, now) };
  }

  /** Starts a read if the known state is older than 5 s. */
  look(): void {
    const now = this.#deps.clock.now();
    if (this.#isFresh(now) || isAhead(this.#pausedUntilMs, now, PAUSE_MS) || this.#reads.pending) return;
    if (!this.isOpen && holdsFailure(this.#buckets, now)) void this.#tally.send();
    else this.#tally.dropSuccesses();
    void this.#reads.request();
  }

  /** Returns a promise if the state is being read. It waits at most 50 ms. */
  lookedUp(): Promise<unknown> | undefined {
    const { pending } = this.#reads;
    return pending && inTime(this.#deps.clock, LOOKED_UP_WITHIN_MS, pending);
  }

  /** Takes the lease of a half-open circuit. Undefined if the circuit is closed. */
  async lease(owner: string): Promise<SharedProbe | CallRejection | undefined> {
    const { store, clock } = this.#deps;
    const probe = new SharedProbe(this.#key, owner, this.#deps);
    const pending = orUndefined(() => probe.take(this.#state));
    const reply = await inTime(clock, LEASED_WITHIN_MS, pending);
    if (!reply) {
      // The store may still grant the lease after the timeout. This call does not use the lease, so the lease is
      // released.
      void pending.then((late) =>
        late && 'refused' in late ? undefined : orUndefined(() => store.releaseProbe(this.#key, owner)),
      );
      return { kind: 'open', retryAfterSeconds: UNKNOWN_SECONDS };
    }
    if ('leased' in reply) {
      this.#learn(reply.leased);
      probe.keep(
        (state) => this.#learn(state),
        () => this.#doubt(),
      );
      return probe;
    }
    this.#learn(reply.refused);
    return this.rejection() ?? (reply.refused && { kind: 'open', retryAfterSeconds: 1 });
  }

  /**
   * Counts a success, unless the circuit is open: a call that ends while the circuit is open started before it opened.
   */
  succeeded(): void {
    if (!this.isOpen) this.#tally.addSuccess();
  }

  async failed(account: string): Promise<void> {
    const { clock, settings } = this.#deps;
    if (!this.#isFresh(clock.now())) await this.#reads.request();
    if (this.isOpen) return;
    this.#tally.addFailure(account);
    if (!(await this.#tally.send())) return;
    // Reads the counts of all processes, because together fewer than half of the calls may have failed.
    const isKnown = await this.#reads.request();
    if (isKnown && !this.isOpen && opensForAll(this.#buckets, clock.now(), settings)) await this.#open();
  }

  async #open(): Promise<void> {
    const { store, clock, settings, noticeOpened } = this.#deps;
    const now = clock.now();
    const opening = openedAgain(undefined, now, settings);
    const opened = await orUndefined(() => store.open(this.#key, opening, now, now + STATE_RETENTION_MS));
    if (!opened) return this.#doubt();
    this.#learn({ ...opening, probe: undefined });
    noticeOpened();
  }

  /** Returns whether the state is known now. */
  async #read(): Promise<boolean> {
    const { store, clock, learnQuarantine } = this.#deps;
    const now = clock.now();
    const learnt = this.#learnt;
    const reading = await orUndefined(() => store.read(this.#key, windowStarts(now), now));
    if (!reading?.state.known) this.#pausedUntilMs = clock.now() + PAUSE_MS;
    if (!reading) return false;
    if (reading.state.known && learnt === this.#learnt) {
      this.#state = reading.state.value;
      this.#knownAtMs = now;
    }
    this.#keepBuckets(reading, now);
    if (reading.quarantinedUntilMs.known) learnQuarantine(reading.quarantinedUntilMs.value);
    return reading.state.known;
  }

  #keepBuckets(reading: CircuitReading, nowMs: number): void {
    const told = new Set(reading.buckets.map(({ startMs }) => startMs));
    const [, previous] = windowStarts(nowMs);
    const kept = this.#buckets.filter(({ startMs }) => startMs >= previous && !told.has(startMs));
    this.#buckets = [...kept, ...reading.buckets];
  }

  #accountsIn(start: number): number {
    return this.#buckets.find(({ startMs }) => startMs === start)?.accounts.length ?? 0;
  }

  #isFresh(nowMs: number): boolean {
    return Math.abs(nowMs - this.#knownAtMs) <= KNOWN_FOR_MS;
  }

  #learn(state: CircuitState | undefined): void {
    this.#learnt += 1;
    this.#state = state;
  }

  /** Makes the next `look` start a read. */
  #doubt(): void {
    this.#learnt += 1;
    this.#knownAtMs = Number.NEGATIVE_INFINITY;
  }
}

const RENEWED_EVERY_MS = 10_000;

/**
 * Limit on renewals, in ms. It is longer than any call. After it, the lease of a probe that was never reported expires.
 */
const RENEWED_AT_MOST_MS = 1_200_000;

/** Retention of the state, in ms. The state expires if the circuit does not change for a day. */
const STATE_RETENTION_MS = 86_400_000;

interface SharedDependencies {
  readonly store: CircuitStore;
  readonly clock: Clock;
  readonly settings: CircuitSettings;
  /** Receives the end of the model's quarantine that a read returned. */
  readonly learnQuarantine: (untilMs: number) => void;
  readonly noticeOpened: () => void;
  readonly noticeClosed: () => void;
}

/**
 * Probe of a half-open circuit: the only call that all processes together allow. Its lease is renewed while this
 * process runs.
 */
export class SharedProbe {
  readonly #key: CircuitId;
  readonly #owner: string;
  readonly #deps: SharedDependencies;
  #state: CircuitState | undefined;
  #learn: (state: CircuitState | undefined) => void = () => undefined;
  #doubt: () => void = () => undefined;
  #cancel: () => void = () => undefined;

  constructor(key: CircuitId, owner: string, deps: SharedDependencies) {
    this.#key = key;
    this.#owner = owner;
    this.#deps = deps;
  }

  /** `seen` is the known state. Its times that are too far ahead are over, if they are still stored. */
  async take(seen: CircuitState | undefined): ReturnType<CircuitStore['lease']> {
    const { store, clock, settings } = this.#deps;
    const now = clock.now();
    const isOver = seen && unavailableUntilMs(seen, now, settings) === undefined;
    const byMs = isOver ? Math.max(now, seen.openUntilMs, seen.probe?.leaseUntilMs ?? 0) : now;
    const reply = await store.lease(this.#key, { owner: this.#owner, leaseUntilMs: now + PROBE_LEASE_MS }, byMs);
    if ('leased' in reply) this.#state = reply.leased;
    return reply;
  }

  /** Renews the lease until the call ends. Calls `learn` with the new state, and `doubt` if the state is unknown. */
  keep(learn: (state: CircuitState | undefined) => void, doubt: () => void): void {
    this.#learn = learn;
    this.#doubt = doubt;
    this.#renewAfter(RENEWED_AT_MOST_MS);
  }

  async end(outcome: ProbeOutcome): Promise<void> {
    const { store, clock, settings, noticeClosed } = this.#deps;
    this.#cancel();
    if (!this.#state) return;
    const now = clock.now();
    const before = this.#state;
    const after = outcome === 'unknown' ? before : afterProbe(before, outcome, now, settings);
    const done = await orUndefined(() => {
      if (outcome === 'unknown') return store.releaseProbe(this.#key, this.#owner);
      if (!after) return store.close(this.#key, this.#owner);
      return store.judge(this.#key, this.#owner, after, now + STATE_RETENTION_MS);
    });
    if (done) this.#learn(after && { ...after, probe: undefined });
    else this.#doubt();
    if (done && !after) noticeClosed();
  }

  #renewAfter(leftMs: number): void {
    if (leftMs <= 0) return;
    const { store, clock } = this.#deps;
    this.#cancel = clock.after(RENEWED_EVERY_MS, async () => {
      this.#renewAfter(leftMs - RENEWED_EVERY_MS);
      const kept = await orUndefined(() => store.renew(this.#key, this.#owner, clock.now() + PROBE_LEASE_MS));
      // Another owner has the lease, so renewals cannot succeed.
      if (kept === false) this.#cancel();
    });
  }
}

/**
 * Runs `work` at most once at a time. Requests made during a run share the next run, so every caller sees data at least
 * as new as its request. `work` must not reject.
 */
class SharedRun<T> {
  readonly #work: () => Promise<T>;
  #current: Promise<T> | undefined;
  #next: Promise<T> | undefined;

  constructor(work: () => Promise<T>) {
    this.#work = work;
  }

  /** Work that was requested and is not done. */
  get pending(): Promise<T> | undefined {
    return this.#next ?? this.#current;
  }

  request(): Promise<T> {
    if (this.#next) return this.#next;
    if (!this.#current) return this.#start();
    this.#next = this.#current.then(() => {
      this.#next = undefined;
      return this.#start();
    });
    return this.#next;
  }

  #start(): Promise<T> {
    this.#current = this.#work().then((result) => {
      this.#current = undefined;
      return result;
    });
    return this.#current;
  }
}

/** Age in ms at which counted successes are dropped, because they do not belong to the current bucket. */
const SUCCESSES_KEPT_MS = 15_000;

const ACCOUNTS_TOLD = 2;

/**
 * Calls of this process that are not yet written to the shared window. Successes are counted in memory and written
 * together with a failure, or while the window holds a failure. If successes were counted only after the first failure,
 * a few failures among thousands of calls per second would look like half of the calls. If a write fails, its counts
 * are lost.
 */
class CallTally {
  readonly #clock: Clock;
  readonly #sends: SharedRun<boolean>;
  #successes = 0;
  #sinceMs = 0;
  #failures = 0;
  readonly #accounts = new Set<string>();

  /** `accountsKnown` returns how many failing accounts are known in the bucket that starts at `startMs`. */
  constructor(store: CircuitStore, clock: Clock, key: CircuitId, accountsKnown: (startMs: number) => number) {
    this.#clock = clock;
    this.#sends = new SharedRun(async () => {
      const [startMs] = windowStarts(clock.now());
      const accounts = accountsKnown(startMs) >= ACCOUNTS_TOLD ? [] : [...this.#accounts].slice(0, ACCOUNTS_TOLD);
      this.#forgetStale();
      const added = { startMs, failures: this.#failures, successes: this.#successes, accounts };
      this.#failures = 0;
      this.#accounts.clear();
      this.dropSuccesses();
      if (added.failures + added.successes === 0) return true;
      const sent = await orUndefined(async () => {
        await store.count(key, added, bucketExpiry(startMs));
        return true;
      });
      return sent ?? false;
    });
  }

  addSuccess(): void {
    this.#forgetStale();
    if (this.#successes === 0) this.#sinceMs = this.#clock.now();
    this.#successes += 1;
  }

  addFailure(account: string): void {
    this.#failures += 1;
    this.#accounts.add(account);
  }

  dropSuccesses(): void {
    this.#successes = 0;
  }

  /** Returns whether the store confirmed the write. */
  send(): Promise<boolean> {
    return this.#sends.request();
  }

  #forgetStale(): void {
    if (this.#clock.now() - this.#sinceMs > SUCCESSES_KEPT_MS) this.dropSuccesses();
  }
}

const BUCKET_MS = 15_000;

/** Longer than the window, so that clocks may differ a little. */
const RETENTION_MS = 120_000;

/** Returns the starts of the current bucket and the previous one, which cover the last 15 to 30 s. */
const windowStarts = (nowMs: number): readonly [current: number, previous: number] => {
  const current = nowMs - (nowMs % BUCKET_MS);
  return [current, current - BUCKET_MS];
};

const bucketExpiry = (startMs: number): number => startMs + RETENTION_MS;

const within = (buckets: readonly BucketCount[], nowMs: number): readonly BucketCount[] => {
  const starts: readonly number[] = windowStarts(nowMs);
  return buckets.filter(({ startMs }) => starts.includes(startMs));
};

const holdsFailure = (buckets: readonly BucketCount[], nowMs: number): boolean =>
  within(buckets, nowMs).some(({ failures }) => failures > 0);

/** Whether there are enough calls, half of them failed, and the failures come from more than one account. */
const opensForAll = (buckets: readonly BucketCount[], nowMs: number, { calls }: CircuitSettings): boolean => {
  const counted = within(buckets, nowMs);
  const failures = sum(counted.map((bucket) => bucket.failures));
  const successes = sum(counted.map((bucket) => bucket.successes));
  const accounts = new Set(counted.flatMap((bucket) => bucket.accounts));
  return failures + successes >= calls && failures >= successes && accounts.size >= 2;
};

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
