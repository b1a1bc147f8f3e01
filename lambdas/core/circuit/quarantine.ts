import { type Clock, isAhead } from '../clock.ts';
import { RecentMap } from '../recent-map.ts';
import { SKEW_MS_MAX } from '../store-clock.ts';
import { type CircuitStore, type MissingCount, orUndefined, sumOfMissing } from './circuit-store.ts';

const MODELS_MAX = 1_000;
const MISSING_MAX = 20;
/** One account alone must not disable a model for all others. */
const ACCOUNTS_MIN = 2;
const SHUT_MS = 900_000;
/**
 * Length of a bucket, in ms. The window has five buckets, the current one and the four before it, so it covers 4 to 5
 * minutes.
 */
const BUCKET_MS = 60_000;
const BUCKETS = 5;
const RETENTION_MS = 600_000;

const isTooMany = ({ count, accounts }: MissingCount): boolean =>
  count >= MISSING_MAX && accounts.length >= ACCOUNTS_MIN;

/**
 * BILL-10: disables models whose provider does not report usage. The 20th such response disables the model for 15
 * minutes, once two accounts had one. Deleting the item `quarantine#<model>` enables it again. The counts stay, so one
 * more such response within their five minutes disables it again.
 */
export class Quarantines {
  readonly #store: CircuitStore;
  readonly #clock: Clock;
  readonly #notice: (modelId: string) => void;
  readonly #untilMs = new RecentMap<number>(MODELS_MAX);

  constructor(store: CircuitStore, clock: Clock, notice: (modelId: string) => void) {
    this.#store = store;
    this.#clock = clock;
    this.#notice = notice;
  }

  isShut(modelId: string): boolean {
    return isShutUntil(this.#untilMs.get(modelId) ?? 0, this.#clock.now());
  }

  learn(modelId: string, untilMs: number): void {
    const now = this.#clock.now();
    if (isShutUntil(untilMs, now)) this.#untilMs.set(modelId, untilMs);
    else this.#untilMs.delete(modelId);
    // One that a clock ahead has stored is over. Otherwise it would block the next one, and start when it is near.
    if (untilMs > now && !this.isShut(modelId)) void orUndefined(() => this.#store.quarantine(modelId, now, untilMs));
  }

  /** `account`: hash of the account of the response. */
  async usageMissing(modelId: string, account: string): Promise<void> {
    const now = this.#clock.now();
    const current = now - (now % BUCKET_MS);
    const counted = await orUndefined(() =>
      this.#store.countMissing(modelId, account, current, current + RETENTION_MS),
    );
    if (!counted) return;
    if (!isTooMany(counted) && !isTooMany(sumOfMissing([counted, ...(await this.#before(modelId, current))]))) return;
    const untilMs = now + SHUT_MS;
    const shut = await orUndefined(() => this.#store.quarantine(modelId, untilMs, now));
    if (!shut) return;
    this.learn(modelId, untilMs);
    this.#notice(modelId);
  }

  async #before(modelId: string, currentMs: number): Promise<readonly MissingCount[]> {
    const starts = Array.from({ length: BUCKETS - 1 }, (_, index) => currentMs - (index + 1) * BUCKET_MS);
    const before = await orUndefined(() => this.#store.readMissing(modelId, starts));
    return before ? [before] : [];
  }
}

const isShutUntil = (untilMs: number, nowMs: number): boolean => isAhead(untilMs, nowMs, SHUT_MS + SKEW_MS_MAX);
