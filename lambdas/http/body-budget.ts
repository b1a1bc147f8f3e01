import type { Clock } from '../core/clock.ts';
import { GatewayError } from '../core/errors/gateway-error.ts';

const WAIT_MS = 10_000;

interface Waiter {
  readonly bytes: number;
  readonly admit: () => void;
}

/**
 * GEN-14: how many bytes of bodies this process has in memory at a time. Beyond it a request waits, unread and in order, and
 * gives up after 10 s.
 */
export class BodyBudget {
  readonly #clock: Clock;
  readonly #bytesMax: number;
  #bytes = 0;
  readonly #waiting = new Set<Waiter>();

  constructor(bytesMax: number, clock: Clock) {
    this.#bytesMax = bytesMax;
    this.#clock = clock;
  }

  /** Answers how to give the bytes back. Throws `service_unavailable`. */
  async take(bytes: number): Promise<() => void> {
    if (this.#waiting.size > 0 || !this.#fits(bytes)) await this.#wait(bytes);
    else this.#bytes += bytes;
    let given = false;
    return () => {
      if (given) return;
      given = true;
      this.#bytes -= bytes;
      this.#admitNext();
    };
  }

  /** A body larger than the whole budget is let in alone rather than never. */
  #fits(bytes: number): boolean {
    return this.#bytes === 0 || this.#bytes + bytes <= this.#bytesMax;
  }

  #wait(bytes: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = this.#clock.after(WAIT_MS, () => {
        this.#waiting.delete(waiter);
        reject(
          new GatewayError('service_unavailable', 'Too many large requests are under way. Try again in a moment.', {
            retryAfterSeconds: 1,
          }),
        );
      });
      const waiter: Waiter = {
        bytes,
        admit: () => {
          cancel();
          resolve();
        },
      };
      this.#waiting.add(waiter);
    });
  }

  #admitNext(): void {
    for (const waiter of this.#waiting) {
      if (!this.#fits(waiter.bytes)) return;
      this.#waiting.delete(waiter);
      this.#bytes += waiter.bytes;
      waiter.admit();
    }
  }
}
