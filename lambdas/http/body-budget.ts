import type { Clock } from '../core/clock.ts';
import { GatewayError } from '../core/errors/gateway-error.ts';

const WAIT_MS = 10_000;
/** Number of bytes of every body that do not count toward the budget, so that large bodies never block small ones. */
export const FREE_BYTES = 64 * 1024;

/** One request's share of the budget. */
export interface BodyLease {
  /** Waits until the budget has room for this many more bytes. Throws `service_unavailable`. */
  grow(bytes: number): Promise<void>;
  /** Reports that the body is complete, so that waiting bodies can continue. */
  whole(): void;
  /** Releases all bytes of the body. */
  end(): void;
}

interface Waiter {
  readonly lease: object;
  readonly bytes: number;
  readonly admit: () => void;
}

/**
 * Limits the bytes of request bodies in memory of this process (GEN-14). Bytes count when they arrive, not when they
 * are announced, so a client that announces much and sends little does not block others. Above the budget a request
 * waits, unread, for up to 10 s. Only the oldest incomplete request continues, because one has to finish before others
 * can start.
 */
export class BodyBudget {
  readonly #clock: Clock;
  readonly #bytesMax: number;
  #bytes = 0;
  /** Leases of the bodies that are arriving, the oldest first. */
  readonly #leases = new Set<object>();
  readonly #waiting = new Set<Waiter>();

  constructor(bytesMax: number, clock: Clock) {
    this.#bytesMax = bytesMax;
    this.#clock = clock;
  }

  enter(): BodyLease {
    let seen = 0;
    let taken = 0;
    const leave = (): void => {
      this.#leases.delete(lease);
      this.#admitWaiting();
    };
    const lease: BodyLease = {
      grow: async (bytes) => {
        seen += bytes;
        const counted = Math.min(bytes, Math.max(0, seen - FREE_BYTES));
        if (counted === 0) return;
        if (this.#fits(lease, counted)) this.#bytes += counted;
        else await this.#wait(lease, counted);
        taken += counted;
      },
      whole: leave,
      end: () => {
        this.#bytes -= taken;
        taken = 0;
        leave();
      },
    };
    this.#leases.add(lease);
    return lease;
  }

  #fits(lease: object, bytes: number): boolean {
    const [oldest] = this.#leases;
    return lease === oldest || this.#bytes + bytes < this.#bytesMax;
  }

  #wait(lease: object, bytes: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = this.#clock.after(WAIT_MS, () => {
        this.#waiting.delete(waiter);
        reject(
          new GatewayError('service_unavailable', 'Too many large requests are in progress. Retry in a moment.', {
            retryAfterSeconds: 1,
          }),
        );
      });
      const admit = (): void => {
        cancel();
        resolve();
      };
      const waiter: Waiter = { lease, bytes, admit };
      this.#waiting.add(waiter);
    });
  }

  #admitWaiting(): void {
    for (const waiter of this.#waiting) {
      if (!this.#fits(waiter.lease, waiter.bytes)) continue;
      this.#waiting.delete(waiter);
      this.#bytes += waiter.bytes;
      waiter.admit();
    }
  }
}
