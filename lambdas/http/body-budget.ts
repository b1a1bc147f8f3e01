import type { Clock } from '../core/clock.ts';
import { GatewayError } from '../core/errors/gateway-error.ts';
import type { RequestMemory } from '../core/limits/request-memory.ts';
import { BODY_BYTES_MAX } from '../limits.ts';
import { MemoryPool } from './memory-pool.ts';

const WAIT_MS = 10_000;
/** Number of bytes of every body that do not count toward the budget, so that large bodies never block small ones. */
export const FREE_BYTES = 64 * 1024;
/** The budget is at least this many times the share of one owner. */
const SHARES = 4;

/** The memory of responses is limited to the budget divided by this. */
const RESPONSES_SHARE = 2;

const counted = (bytes: number): number => Math.max(0, bytes - FREE_BYTES);

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
  /** Replaces all bytes of the body so far by this number: those of its decoded form. Never waits. */
  replace(bytes: number): void;
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

/** Changes the bytes of a body in the share of each owner, and returns the new number. */
const change = (shares: Shares, owners: readonly string[], from: number, to: number): number => {
  for (const owner of owners) add(shares, owner, to - from);
  return to;
};

/** Memory that a request needs beyond its body, until `end` releases it. */
export interface MemoryLease extends RequestMemory {
  end(): void;
}

interface SharedPool {
  readonly pool: MemoryPool;
  users: number;
}

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
 * beyond their length have a further quarter, with the same rule. So have images that the gateway fetches and large
 * responses, because requests with complete bodies would block each other.
 */
export class BodyBudget {
  readonly #clock: Clock;
  readonly #bytesMax: number;
  readonly #all: MemoryPool;
  /** Responses have a limit of their own, because a client that reads slowly keeps them long. */
  readonly #responses: MemoryPool;
  /** Reserved bytes by owner. */
  readonly #shares: Shares = new Map();
  /** Bytes that parsed bodies need beyond their length, by owner. */
  readonly #expansions: Shares = new Map();
  /** Bytes that requests need after their bodies, by owner. */
  readonly #later = new Map<string, SharedPool>();
  readonly #waiting = new Set<Waiter>();

  constructor(bytesMax: number, clock: Clock) {
    this.#bytesMax = bytesMax;
    this.#all = new MemoryPool(bytesMax);
    this.#responses = new MemoryPool(bytesMax / RESPONSES_SHARE);
    this.#clock = clock;
  }

  /** Enters a body of the given owners. A body without `declaredBytes` counts as the longest until it is complete. */
  enter(owners: readonly string[], declaredBytes = BODY_BYTES_MAX): BodyLease {
    const announced = counted(declaredBytes);
    let seen = 0;
    let taken = 0;
    let reserved = 0;
    let expanded = 0;
    let isWhole = false;
    const setReserved = (bytes: number): void => {
      reserved = change(this.#shares, owners, reserved, bytes);
    };
    const setExpanded = (bytes: number): void => {
      expanded = change(this.#expansions, owners, expanded, bytes);
    };
    const setTaken = (bytes: number): void => {
      this.#all.add(bytes - taken, isWhole);
      taken = bytes;
    };
    const leave = (): void => {
      this.#all.stopGrowing(lease);
      setReserved(taken - expanded);
      this.#admitWaiting();
    };
    const reserve = (bytes: number): Wait => {
      if (bytes <= reserved) return undefined;
      return this.#admit(
        () => owners.every((owner) => this.#isWithinShare(this.#shares, owner, reserved, bytes)),
        () => {
          setReserved(bytes);
          this.#all.startGrowing(lease);
        },
      );
    };
    const takeFitting = (bytes: number): Wait =>
      this.#admit(
        () => this.#all.fits(lease, taken, bytes),
        () => setTaken(taken + bytes),
      );
    const lease: BodyLease = {
      reserve: () => reserve(announced),
      grow: (bytes) => {
        seen += bytes;
        const more = Math.min(bytes, counted(seen));
        if (more === 0) return undefined;
        const reserving = reserve(Math.max(announced, counted(seen)));
        return reserving ? reserving.then(() => takeFitting(more)) : takeFitting(more);
      },
      expand: async (bytes) => {
        // While the body waits for its owner's other bodies, it must not keep the place of the oldest.
        this.#all.stopGrowing(lease);
        this.#admitWaiting();
        await this.#admit(
          () => owners.every((owner) => this.#isWithinShare(this.#expansions, owner, expanded, expanded + bytes)),
          () => {
            setExpanded(expanded + bytes);
            this.#all.startGrowing(lease);
          },
        );
        await takeFitting(bytes);
      },
      replace: (bytes) => {
        setTaken(counted(bytes));
        leave();
      },
      whole: () => {
        if (!isWhole) this.#all.complete(taken);
        isWhole = true;
        leave();
      },
      end: () => {
        setTaken(0);
        setExpanded(0);
        leave();
      },
    };
    return lease;
  }

  /** Opens the memory that a request of these owners needs after its body. Each wait for it takes at most 10 s. */
  open(owners: readonly string[]): MemoryLease {
    return this.#open(this.#all, owners, WAIT_MS);
  }

  /** Opens the memory of a response, until the client has read it. Each wait for it takes at most `waitMs`. */
  openResponse(owners: readonly string[], waitMs: number): MemoryLease {
    return this.#open(this.#responses, owners, waitMs);
  }

  #open(all: MemoryPool, owners: readonly string[], waitMs: number): MemoryLease {
    const shares = owners.map((owner) => this.#enterLater(owner));
    let needed = 0;
    /** Bytes taken from each share of an owner, and from the budget of all. They differ while the lease waits for the latter. */
    let ofShares = 0;
    let ofAll = 0;
    let isWhole = false;
    let isOpen = true;
    const changeShares = (bytes: number): void => {
      for (const share of shares) share.add(bytes, isWhole);
      ofShares += bytes;
    };
    const changeAll = (bytes: number): void => {
      all.add(bytes, isWhole);
      ofAll += bytes;
    };
    const setWhole = (next: boolean): void => {
      if (next === isWhole) return;
      for (const share of shares) share.complete(next ? ofShares : -ofShares);
      all.complete(next ? ofAll : -ofAll);
      isWhole = next;
    };
    const setBytes = (bytes: number): void => {
      changeShares(bytes - ofShares);
      changeAll(bytes - ofAll);
      for (const pool of [all, ...shares]) pool.stopGrowing(lease);
    };
    const takeOfAll = (more: number): Wait => {
      if (!isOpen) return undefined;
      all.startGrowing(lease);
      return this.#admit(
        () => !isOpen || all.fits(lease, ofAll, more),
        () => isOpen && changeAll(more),
        waitMs,
      );
    };
    const lease: MemoryLease = {
      reserve: (bytes) => {
        const before = counted(needed);
        needed += bytes;
        const more = counted(needed) - before;
        if (more === 0 || !isOpen) return undefined;
        setWhole(false);
        for (const share of shares) share.startGrowing(lease);
        const waiting = this.#admit(
          () => !isOpen || shares.every((share) => share.fits(lease, ofShares, more)),
          () => isOpen && changeShares(more),
          waitMs,
        );
        if (!waiting) return takeOfAll(more);
        // While the lease waits for its owner's other leases, it must not keep the place of the oldest.
        all.stopGrowing(lease);
        this.#admitWaiting();
        return waiting.then(() => takeOfAll(more));
      },
      settle: (bytes) => {
        if (!isOpen) return;
        needed = bytes;
        setBytes(counted(bytes));
        setWhole(true);
        this.#admitWaiting();
      },
      end: () => {
        if (!isOpen) return;
        isOpen = false;
        setBytes(0);
        for (const owner of owners) this.#leaveLater(owner);
        this.#admitWaiting();
      },
    };
    return lease;
  }

  #enterLater(owner: string): MemoryPool {
    const shared = this.#later.get(owner) ?? { pool: new MemoryPool(this.#bytesMax / SHARES), users: 0 };
    shared.users += 1;
    this.#later.set(owner, shared);
    return shared.pool;
  }

  #leaveLater(owner: string): void {
    const shared = this.#later.get(owner);
    if (!shared) return;
    shared.users -= 1;
    if (shared.users === 0) this.#later.delete(owner);
  }

  /** Whether an owner can have this many bytes for a body that has `own` now. The owner's only body may exceed the share. */
  #isWithinShare(shares: Shares, owner: string, own: number, bytes: number): boolean {
    const others = (shares.get(owner) ?? 0) - own;
    return others === 0 || others + bytes <= this.#bytesMax / SHARES;
  }

  /** Takes the bytes as soon as they fit. Throws `service_unavailable` after the wait. */
  #admit(fits: () => boolean, take: () => void, waitMs = WAIT_MS): Wait {
    if (fits()) {
      take();
      return undefined;
    }
    return new Promise((resolve, reject) => {
      const cancel = this.#clock.after(waitMs, () => {
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
