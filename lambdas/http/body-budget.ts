import type { Clock } from '../core/clock.ts';
import { GatewayError } from '../core/errors/gateway-error.ts';

const WAIT_MS = 10_000;
/** This much of every body is free, so that large ones never keep small ones out. */
export const FREE_BYTES = 64 * 1024;

/** One request's share of the budget. */
export interface BodyLease {
  /** Waits until this many more bytes may come in. Throws `service_unavailable`. */
  grow(bytes: number): Promise<void>;
  /** It has come whole: there is nothing more that it waits for. */
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
 * GEN-14: how many bytes of bodies this process has in memory at a time. They are counted as they arrive, never as announced, so
 * that a socket which announces much and sends little keeps nobody out. Beyond the budget a request waits, unread, for up to
 * 10 s; only the oldest that is still coming in goes on, since somebody has to end for the others to begin.
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
