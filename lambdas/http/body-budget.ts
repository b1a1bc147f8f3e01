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

/** Part of the budget that the bodies of one account or client IP may use. */
const SHARE = 4;

/** Bodies of one account or client IP. */
interface Owner {
  bytes: number;
  /** Its bodies that are arriving, the oldest first. */
  readonly arriving: Set<BodyLease>;
}

interface Waiter {
  readonly owner: Owner;
  readonly lease: BodyLease;
  readonly bytes: number;
  readonly admit: () => void;
}

/**
 * Limits the bytes of request bodies in memory of this process (GEN-14). Bytes count when they arrive, not when they
 * are announced, so a client that announces much and sends little does not block others. Above the budget a request
 * waits, unread, for up to 10 s. Each owner, an account or a client IP, has a quarter of the budget at most, so that one
 * cannot make the others wait. Only the oldest incomplete request continues, because one has to finish before others
 * can start; the same applies within a quarter.
 */
export class BodyBudget {
  readonly #clock: Clock;
  readonly #bytesMax: number;
  #bytes = 0;
  /** Leases of the bodies that are arriving, the oldest first. */
  readonly #leases = new Set<BodyLease>();
  readonly #owners = new Map<string, Owner>();
  readonly #waiting = new Set<Waiter>();

  constructor(bytesMax: number, clock: Clock) {
    this.#bytesMax = bytesMax;
    this.#clock = clock;
  }

  enter(name: string): BodyLease {
    const owner = this.#owners.get(name) ?? { bytes: 0, arriving: new Set() };
    this.#owners.set(name, owner);
    let seen = 0;
    let taken = 0;
    const leave = (): void => {
      this.#leases.delete(lease);
      owner.arriving.delete(lease);
      if (owner.bytes === 0 && owner.arriving.size === 0) this.#owners.delete(name);
      this.#admitWaiting();
    };
    const lease: BodyLease = {
      grow: async (bytes) => {
        seen += bytes;
        const counted = Math.min(bytes, Math.max(0, seen - FREE_BYTES));
        if (counted === 0) return;
        if (this.#fits(owner, lease, counted)) this.#take(owner, counted);
        else await this.#wait(owner, lease, counted);
        taken += counted;
      },
      whole: leave,
      end: () => {
        this.#take(owner, -taken);
        taken = 0;
        leave();
      },
    };
    this.#leases.add(lease);
    owner.arriving.add(lease);
    return lease;
  }

  #take(owner: Owner, bytes: number): void {
    this.#bytes += bytes;
    owner.bytes += bytes;
  }

  #fits(owner: Owner, lease: BodyLease, bytes: number): boolean {
    const [oldest] = this.#leases;
    const [ownOldest] = owner.arriving;
    const hasShare = lease === ownOldest || owner.bytes + bytes < this.#bytesMax / SHARE;
    return hasShare && (lease === oldest || this.#bytes + bytes < this.#bytesMax);
  }

  #wait(owner: Owner, lease: BodyLease, bytes: number): Promise<void> {
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
      const waiter: Waiter = { owner, lease, bytes, admit };
      this.#waiting.add(waiter);
    });
  }

  #admitWaiting(): void {
    for (const waiter of this.#waiting) {
      if (!this.#fits(waiter.owner, waiter.lease, waiter.bytes)) continue;
      this.#waiting.delete(waiter);
      this.#take(waiter.owner, waiter.bytes);
      waiter.admit();
    }
  }
}
