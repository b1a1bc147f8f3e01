import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../lambdas/core/clock.ts';
import { SKEW_MS_MAX, type StoreClock, skewProblemOf } from '../../../lambdas/core/store-clock.ts';
import { type Database, textOf } from './database.ts';
import { setFact } from './facts.ts';

const PREFIX = 'clock#';
const BEAT_MS = 15_000;
/** Time without a beat after which a process counts as ended, in ms. */
const SILENT_MS = 60_000;
/** Time within which a process that runs beats again, in ms. */
const FOUND_MS = 2 * BEAT_MS;
/** Longest time from the hold of a request to its expiry, in ms: the deadline of a model that reasons, and the grace. */
const REQUEST_MS = 1_200_000;

/** The clock of a process, as its row in the table `facts` shows it. */
export interface Beat {
  readonly name: string;
  readonly atMs: number;
  /** Number of the beat. A process that runs raises it. */
  readonly count: number;
  /** Time since the clock of the process moved forward, in ms. Infinity if it did not. */
  readonly stepAgeMs: number;
}

export const readBeats = (db: Database): readonly Beat[] =>
  db
    .sql('SELECT name, value FROM facts WHERE name >= ? AND name < ?')
    .all(PREFIX, `${PREFIX}~`)
    .map((row) => {
      const [atMs = Number.NaN, count = Number.NaN, stepAgeMs = Number.POSITIVE_INFINITY] = textOf(row, 'value')
        .split(' ')
        .map(Number);
      return { name: textOf(row, 'name'), atMs, count, stepAgeMs };
    });

interface Seen extends Beat {
  /** Monotonic time at which this process saw the beat first. */
  readonly seenMs: number;
  /** Whether this process saw an earlier beat, or the clocks agreed. Otherwise it is unknown whether the process runs. */
  readonly isKnown: boolean;
}

export interface HeartbeatOptions {
  /** Clock of the machine. */
  readonly own: Pick<Clock, 'now'>;
  readonly monotonicMs: () => number;
  /** Learns the time of the processes that share the database. */
  readonly clock: Pick<StoreClock, 'learn' | 'skewMs'>;
}

/**
 * Compares the clocks of the processes that share a database: each writes its own to a row, every 15 s. The median counts
 * as the clock of the store, of two the earlier one, because a clock that is behind ends no hold early. A process alone,
 * or one that differs by less than a minute, follows its own clock.
 */
export class Heartbeats {
  readonly #db: Database;
  readonly #options: HeartbeatOptions;
  readonly #name = `${PREFIX}${randomUUID()}`;
  #count = 0;
  #others: readonly Seen[] = [];
  /** Own clock minus the monotonic time. It changes only with a step of the clock. */
  #aheadMs: number | undefined;
  #steppedAtMs = Number.NEGATIVE_INFINITY;

  constructor(db: Database, options: HeartbeatOptions) {
    this.#db = db;
    this.#options = options;
  }

  /** Writes the own clock, and learns from those of the others. Throws StoreError. */
  async beat(): Promise<void> {
    const { own, monotonicMs, clock } = this.#options;
    this.#count += 1;
    const nowMs = own.now();
    const monotonic = monotonicMs();
    const aheadMs = nowMs - monotonic;
    if (aheadMs - (this.#aheadMs ?? aheadMs) > SKEW_MS_MAX) this.#steppedAtMs = monotonic;
    this.#aheadMs = aheadMs;
    const silent = this.#others.filter(({ seenMs }) => monotonic - seenMs > SILENT_MS);
    const found = await this.#db.write(() => {
      setFact(this.#db, this.#name, `${nowMs} ${this.#count} ${monotonic - this.#steppedAtMs}`);
      const beats = readBeats(this.#db);
      const isEnded = (beat: Beat): boolean =>
        silent.some(({ name, count }) => name === beat.name && count === beat.count);
      for (const beat of beats.filter(isEnded)) setFact(this.#db, beat.name, undefined);
      return beats.filter((beat) => beat.name !== this.#name && !isEnded(beat));
    });
    const before = new Map(this.#others.map((seen) => [seen.name, seen]));
    this.#others = found.map((beat) => {
      const last = before.get(beat.name);
      if (last?.count === beat.count) return last;
      const isKnown = last !== undefined || Math.abs(beat.atMs - nowMs) <= SILENT_MS;
      return { ...beat, seenMs: monotonic, isKnown };
    });
    const clocks = [nowMs, ...this.#running(monotonic).map(({ atMs, seenMs }) => atMs + monotonic - seenMs)];
    const median = clocks.sort((one, other) => one - other)[Math.floor((clocks.length - 1) / 2)] ?? nowMs;
    const skewMs = nowMs - median;
    // A beat can be as old as the time between two when it is seen, so a smaller difference says nothing.
    if (Math.abs(skewMs) <= SKEW_MS_MAX) clock.learn(0);
    else if (Math.abs(skewMs - clock.skewMs()) > FOUND_MS) clock.learn(skewMs);
  }

  /**
   * Names the reason why this process must not judge stored times now; undefined if there is none. Beats first, because
   * a process can have been suspended. Throws StoreError.
   */
  async problem(): Promise<string | undefined> {
    await this.beat();
    const monotonic = this.#options.monotonicMs();
    const skewed = skewProblemOf(this.#options.clock.skewMs());
    if (skewed !== undefined) return skewed;
    if (this.#others.some(({ isKnown, seenMs }) => !isKnown && monotonic - seenMs <= FOUND_MS))
      return 'another process of the data folder may run with another time';
    // A process that started after the step does not know the time of requests from before, which others still serve.
    const running = this.#running(monotonic);
    const ages = running.map(({ stepAgeMs, seenMs }) => stepAgeMs + monotonic - seenMs);
    const isRecent = Math.min(monotonic - this.#steppedAtMs, ...ages) < REQUEST_MS;
    return isRecent && running.length > 0
      ? 'the clock of the machine moved forward, and another process may serve requests from before'
      : undefined;
  }

  /** Removes the own row. Throws StoreError. */
  async end(): Promise<void> {
    await this.#db.write(() => setFact(this.#db, this.#name, undefined));
  }

  #running(monotonic: number): readonly Seen[] {
    return this.#others.filter(({ isKnown, seenMs }) => isKnown && monotonic - seenMs <= SILENT_MS);
  }
}

/** Starts the beats of this process. Returns a function that ends them. Throws StoreError if the first one fails. */
export const startHeartbeats = async (heartbeats: Heartbeats): Promise<() => Promise<void>> => {
  await heartbeats.beat();
  // The health of the database shows a beat that fails.
  const timer = setInterval(() => void heartbeats.beat().catch(() => undefined), BEAT_MS).unref();
  return async () => {
    clearInterval(timer);
    await heartbeats.end().catch(() => undefined);
  };
};
