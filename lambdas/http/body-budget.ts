import type { Clock } from '../core/clock.ts';
import { GatewayError } from '../core/errors/gateway-error.ts';
import { BODY_BYTES_MAX } from '../limits.ts';

const WAIT_MS = 10_000;
/** Number of bytes of every body that do not count toward the budget, so that large bodies never block small ones. */
export const FREE_BYTES = 64 * 1024;
/** The budget is at least this many times the share of one owner. */
const SHARES = 4;

/** Undefined if there is room, because a promise costs time in every small request. */
export type Wait = Promise<void> | undefined;

/** One request's share of the budget. */
export interface BodyLease {
  /** Waits until each owner's share has room for the whole body. Throws `service_unavailable`. */
  reserve(): Wait;
  /** Reserves the body if needed, and waits until the budget has room for this many more bytes. Throws the same. */
  grow(bytes: number): Wait;
  /**
   * Waits until the budget has room for this many bytes that the parsed body needs beyond its length. They have a quarter
   * of their own, because otherwise bodies that have arrived would block each other. Throws the same.
   */
  expand(bytes: number): Promise<void>;
  /** Reports that the body is complete, so that waiting bodies can continue. */
  whole(): void;
  /** Releases all bytes of the body. */
  end(): void;
}

/** Bytes by owner. */
type Shares = Map<string, number>;

const add = (shares: Shares, owner: string, more: number): void => {
  const bytes = (shares.get(owner) ?? 0) + more;
  if (bytes === 0) shares.delete(owner);
  else shares.set(owner, bytes);
};

interface Waiter {
  readonly fits: () => boolean;
  readonly take: () => void;
  readonly admit: () => void;
}

/**
 * Limits the bytes of request bodies in memory of this process (GEN-14). Bytes count when they arrive, not when they
 * are announced, so a client that announces much and sends little does not block others. Above the budget a request
 * waits, unread, for up to 10 s. If incomplete bodies fill the budget, the oldest of them continues, because one has to
 * finish before others can start.
 *
 * Each owner has a quarter of the budget. There a body counts with its announced length from the start, so an owner's
 * bodies never block each other half read. A body above the quarter needs the whole share. Bytes that parsed bodies need
 * beyond their length have a further quarter, with the same rule.
 */
export class BodyBudget {
  readonly #clock: Clock;
  readonly #bytesMax: number;
  #bytes = 0;
  /** Bytes of complete bodies, which are released without further bytes. */
  #wholeBytes = 0;
  /** Reserved bytes by owner. */
  readonly #shares: Shares = new Map();
  /** Bytes that parsed bodies need beyond their length, by owner. */
  readonly #expansions: Shares = new Map();
  /** Leases of the reserved bodies that are arriving, the oldest first. */
  readonly #leases = new Set<object>();
  readonly #waiting = new Set<Waiter>();

  constructor(bytesMax: number, clock: Clock) {
    this.#bytesMax = bytesMax;
    this.#clock = clock;
  }

  /** Enters a body of the given owners. A body without `declaredBytes` counts as the longest until it is complete. */
  enter(owners: readonly string[], declaredBytes = BODY_BYTES_MAX): BodyLease {
    const announced = Math.max(0, declaredBytes - FREE_BYTES);
    let seen = 0;
    let taken = 0;
    let reserved = 0;
    let expanded = 0;
    let isWhole = false;
    const setReserved = (bytes: number): void => {
      for (const owner of owners) add(this.#shares, owner, bytes - reserved);
      reserved = bytes;
    };
    const setExpanded = (bytes: number): void => {
      for (const owner of owners) add(this.#expansions, owner, bytes - expanded);
      expanded = bytes;
    };
    const leave = (): void => {
      this.#leases.delete(lease);
      setReserved(taken - expanded);
      this.#admitWaiting();
    };
    const reserve = (bytes: number): Wait => {
      if (bytes <= reserved) return undefined;
      return this.#admit(
        () => owners.every((owner) => this.#isWithinShare(this.#shares, owner, reserved, bytes)),
        () => {
          setReserved(bytes);
          this.#leases.add(lease);
        },
      );
    };
    const takeFitting = (bytes: number): Promise<void> =>
      this.#admit(
        () => this.#fits(lease, taken, bytes),
        () => {
          this.#bytes += bytes;
          taken += bytes;
        },
      );
    const lease: BodyLease = {
      reserve: () => reserve(announced),
      grow: (bytes) => {
        seen += bytes;
        const counted = Math.min(bytes, Math.max(0, seen - FREE_BYTES));
        if (counted === 0) return undefined;
        const reserving = reserve(Math.max(announced, seen - FREE_BYTES));
        return reserving ? reserving.then(() => takeFitting(counted)) : takeFitting(counted);
      },
      expand: async (bytes) => {
        // While the body waits for its owner's other bodies, it must not keep the place of the oldest.
        this.#leases.delete(lease);
        this.#admitWaiting();
        await this.#admit(
          () => owners.every((owner) => this.#isWithinShare(this.#expansions, owner, expanded, expanded + bytes)),
          () => {
            setExpanded(expanded + bytes);
            this.#leases.add(lease);
          },
        );
        await takeFitting(bytes);
      },
      whole: () => {
        isWhole = true;
        this.#wholeBytes += taken;
        leave();
      },
      end: () => {
        this.#bytes -= taken;
        if (isWhole) this.#wholeBytes -= taken;
        taken = 0;
        setExpanded(0);
        leave();
      },
    };
    return lease;
  }

  /** The oldest arriving body competes only with complete ones, so that arriving bodies never block each other. */
  #fits(lease: object, taken: number, bytes: number): boolean {
    const [oldest] = this.#leases;
    const others = lease === oldest ? this.#wholeBytes : this.#bytes - taken;
    return others === 0 || others + taken + bytes < this.#bytesMax;
  }

  /** Whether an owner can have this many bytes for a body that has `own` now. The owner's only body may exceed the share. */
  #isWithinShare(shares: Shares, owner: string, own: number, bytes: number): boolean {
    const others = (shares.get(owner) ?? 0) - own;
    return others === 0 || others + bytes <= this.#bytesMax / SHARES;
  }

  /** Takes the bytes as soon as they fit. Throws `service_unavailable` after 10 s. */
  #admit(fits: () => boolean, take: () => void): Promise<void> {
    if (fits()) {
      take();
      return Promise.resolve();
    }
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
      const waiter: Waiter = { fits, take, admit };
      this.#waiting.add(waiter);
    });
  }

  #admitWaiting(): void {
    for (const waiter of this.#waiting) {
      if (!waiter.fits()) continue;
      this.#waiting.delete(waiter);
      waiter.take();
      waiter.admit();
    }
  }
}
