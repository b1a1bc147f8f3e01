import { type Clock, isAhead } from '../clock.ts';
import { GatewayError } from '../errors/gateway-error.ts';

/** Consecutive requests without a confirmed hold after which new holds are rejected. */
const FAILURES = 5;
/** Time of rejection, and the time that one probe has, in ms. */
const OPEN_MS = 5_000;

/**
 * Rejects new holds of this process while the store does not confirm any, so that clients get their error immediately and
 * the store gets no further load (BILL-14). Every 5 s one request probes the store. Only new holds pass here, never a
 * commit, a release or an update of an account.
 */
export class HoldBreaker {
  readonly #clock: Clock;
  #failures = 0;
  #openUntilMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Throws 503 `service_unavailable` while holds are rejected. */
  admit(): void {
    if (this.#failures < FAILURES) return;
    const now = this.#clock.now();
    if (isAhead(this.#openUntilMs, now, OPEN_MS)) {
      throw new GatewayError(
        'service_unavailable',
        'The balance cannot be reached in time now. Nothing was charged. Retry the request.',
        { retryAfterSeconds: Math.ceil((this.#openUntilMs - now) / 1_000) },
      );
    }
    // This request is the probe. The others wait for its result.
    this.#openUntilMs = now + OPEN_MS;
  }

  succeeded(): void {
    this.#failures = 0;
  }

  /** Records a request for which the store confirmed no hold. */
  failed(): void {
    this.#failures += 1;
    if (this.#failures >= FAILURES) this.#openUntilMs = this.#clock.now() + OPEN_MS;
  }
}
