import { expect } from 'vitest';
import { type Clock, sleep } from '../../../../lambdas/core/clock.ts';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { StoreError } from '../../../../lambdas/core/errors/store-error.ts';
import { capProblems } from '../../../../lambdas/core/ledger/audit-caps.ts';
import { creditProblems } from '../../../../lambdas/core/ledger/audit-credits.ts';
import { statementProblems } from '../../../../lambdas/core/ledger/audit-statements.ts';
import type { CapChange } from '../../../../lambdas/core/ledger/caps.ts';
import { type CreditDependencies, creditAccount } from '../../../../lambdas/core/ledger/credit.ts';
import { changeOf } from '../../../../lambdas/core/ledger/credit-record.ts';
import { placeHold } from '../../../../lambdas/core/ledger/hold.ts';
import type { Account, LedgerDependencies, LedgerStore } from '../../../../lambdas/core/ledger/ledger.ts';
import { balanceOf, heldOf } from '../../../../lambdas/core/ledger/ledger.ts';
import { release } from '../../../../lambdas/core/ledger/release.ts';
import { apply, commit } from '../../../../lambdas/core/ledger/resolve.ts';
import { Choices, InterleavedStore } from '../../../support/memory/interleaved-store.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { MemoryLedgerStore } from '../../../support/memory/memory-ledger-store.ts';
import { MemoryOutbox } from '../../../support/memory/memory-outbox.ts';
import { sweep } from '../../../support/strict-tending.ts';

export const LIFETIME_MS = 300_000;
const ACCOUNTS = ['account-0', 'account-1'];
export const GIVEN_PICOS = 1_000n;

export interface RequestPlan {
  readonly account: number;
  readonly holdPicos: bigint;
  /** An amount above the hold is an overage. */
  readonly chargePicos: bigint;
  readonly ends: 'settled' | 'released';
  readonly acceptsLess: boolean;
  /** Duration of the provider call in ms. It may exceed the lifetime of the hold. */
  readonly callMs: number;
  /** Whether its API key has a cap. */
  readonly isCapped: boolean;
  /** How far the clock of its process is ahead when the hold is placed, in ms. It decides the period of the cap. */
  readonly aheadMs?: number;
}

/** API key with a cap. The database packs its holds. */
export const CAPPED_KEY = '0123456789abcdef';
/** Version of an account with which it gets its first cap. */
const CAP_EPOCH = 2;
/** First cap of each account. It covers one to several holds, and less than the account has. */
export const FIRST_CAP: CapChange = { limitPicos: 600n, kind: 'day' };

/** Result that a client got. Undefined if no response was sent yet, or if the process died before the response. */
export type ClientResult = 'charged' | 'refused' | 'released' | 'failed' | undefined;

/** An empty ledger whose content can be read between two writes. */
export type InspectedLedger = LedgerStore &
  Pick<MemoryLedgerStore, 'accounts' | 'recordsOf' | 'creditRecordsOf' | 'closingsOf'> & {
    setCap(accountId: string, keyId: string, change: CapChange | undefined, nowMs: number): void | Promise<void>;
  };

/**
 * A random history of a ledger: concurrent requests, sweepers and credits on a store that fails, by processes whose clocks
 * step.
 */
export class History {
  /** A month ends soon after the start. */
  readonly clock = new ManualClock(Date.UTC(2026, 10, 1) - LIFETIME_MS);
  readonly ledger: InspectedLedger;
  readonly outbox = new MemoryOutbox();
  readonly told: ClientResult[] = [];
  readonly #choices: Choices;
  readonly #store: InterleavedStore;
  readonly #waiting: { readonly name: string; readonly start: (deps: LedgerDependencies) => Promise<unknown> }[];
  readonly #errors: unknown[] = [];
  readonly #versions = new Map<string, number>();
  readonly #everOpen = new Map<string, Set<string>>();
  readonly #closed = new Set<string>();
  readonly #records = new Map<string, string>();
  readonly #closings = new Map<string, string>();
  /** How far the clocks of the processes are ahead, in ms. */
  readonly #skews: number[] = [0, 0, 0];

  constructor(
    numbers: readonly number[],
    plans: readonly RequestPlan[],
    ledger: InspectedLedger = new MemoryLedgerStore(),
  ) {
    this.ledger = ledger;
    this.#choices = new Choices(numbers);
    this.#store = new InterleavedStore(this.ledger, this.#choices, (method) => this.check(method));
    this.#waiting = [
      ...plans.map((plan, index) => ({
        name: `request-${index}`,
        start: (deps: LedgerDependencies) =>
          playRequest(deps, `r${index}`, `account-${plan.account}`, plan, (told) => {
            this.told[index] = told;
          }),
      })),
      { name: 'sweep-1', start: sweepNowAndThen },
      { name: 'sweep-2', start: sweepNowAndThen },
      { name: 'credit-1', start: (deps) => topUp(deps, ACCOUNTS) },
      { name: 'credit-2', start: (deps) => topUp(deps, ACCOUNTS) },
      ...ACCOUNTS.flatMap((accountId) =>
        [1, 2].map((number) => ({
          name: `returns-${number}-${accountId}`,
          start: (deps: LedgerDependencies) => takeBack(this.#creditDependencies(deps), accountId, number),
        })),
      ),
      { name: 'caps', start: ({ clock }) => changeCaps(clock, ACCOUNTS, (...change) => this.#setCap(...change)) },
    ];
  }

  /** Runs all requests, sweeps all holds, then lets the most delayed calls land and sweeps again. */
  async play(): Promise<void> {
    for (const accountId of ACCOUNTS) {
      await this.ledger.createAccount(accountId, 0);
      await this.ledger.credit({ accountId, ref: 'first', amountPicos: GIVEN_PICOS, reason: 'test', at: 0 });
      await this.ledger.setCap(accountId, CAPPED_KEY, FIRST_CAP, this.clock.now());
    }
    this.check('start');
    await this.#drive();
    await this.#endHolds();
    this.#store.comeMuchLater();
    await this.#drive();
    await this.#endHolds();
    this.check('end');
    expect(this.#errors).toEqual([]);
  }

  async #setCap(accountId: string, change: CapChange | undefined): Promise<void> {
    await this.ledger.setCap(accountId, CAPPED_KEY, change, this.clock.now());
    this.check('cap');
  }

  /** Checks the invariants that hold after every write. */
  check(method: string): void {
    for (const account of this.ledger.accounts()) {
      const { id, holds, version } = account;
      expect(account.availablePicos + heldOf(account), `${method}: available + held = credited - spent`).toBe(
        balanceOf(account),
      );
      const rise = version - (this.#versions.get(id) ?? version);
      expect(rise === 0 || rise === 1, `${method}: the version rose by ${rise}`).toBe(true);
      this.#versions.set(id, version);
      this.#checkHolds(method, id, holds);
      const settled = this.#checkRecords(id);
      expect(account.spentPicos, `${method}: spent = settled records of closed holds`).toBe(settled);
      expect(capProblems(account, this.ledger.recordsOf(id)), `${method}: caps`).toEqual([]);
      // Every write of credits and closings also raises the version.
      if (rise === 0 && method !== 'end') continue;
      const credits = this.ledger.creditRecordsOf(id);
      const net = credits.reduce((sum, record) => sum + changeOf(record), 0n);
      expect(account.creditedPicos, `${method}: credited = credits - returns`).toBe(net);
      expect(creditProblems(credits), `${method}: returns`).toEqual([]);
      this.#checkMonths(method, account);
    }
  }

  /** Expects that the closings match the records, and that none of them changes. */
  #checkMonths(method: string, account: Account): void {
    const closings = this.ledger.closingsOf(account.id);
    const credits = this.ledger.creditRecordsOf(account.id);
    expect(statementProblems(account, closings, credits), `${method}: closings`).toEqual([]);
    for (const { month, creditedPicos, spentPicos } of closings) {
      const name = `${account.id} ${month}`;
      const sums = `${creditedPicos} ${spentPicos}`;
      expect(this.#closings.get(name) ?? sums, `${method}: the closing of ${name} changed`).toBe(sums);
      this.#closings.set(name, sums);
      const listed = credits.filter((record) => record.month !== undefined && record.month <= month);
      const net = listed.reduce((sum, record) => sum + changeOf(record), 0n);
      expect(creditedPicos, `${method}: credited through ${name}`).toBe(net);
    }
  }

  /** Reads of credits are not delayed: a change decides again by the condition of its write. */
  #creditDependencies(deps: LedgerDependencies): CreditDependencies {
    return { ...deps, records: { readCredits: async (accountId) => this.ledger.creditRecordsOf(accountId) } };
  }

  #checkHolds(method: string, accountId: string, holds: ReadonlyMap<string, unknown>): void {
    const ever = this.#everOpen.get(accountId) ?? new Set();
    this.#everOpen.set(accountId, ever);
    for (const holdId of ever) if (!holds.has(holdId)) this.#closed.add(holdId);
    for (const holdId of holds.keys()) {
      ever.add(holdId);
      expect(this.#closed.has(holdId), `${method}: ${holdId} was closed and is open again`).toBe(false);
    }
  }

  /**
   * Returns the sum of charges of closed holds. Expects that a record never changes and that every closed hold has one.
   */
  #checkRecords(accountId: string): bigint {
    let settled = 0n;
    const known = new Set<string>();
    for (const { holdId, outcome, amountPicos, at } of this.ledger.recordsOf(accountId)) {
      const now = `${outcome} ${amountPicos} ${at}`;
      expect(this.#records.get(holdId) ?? now, `the record of ${holdId}`).toBe(now);
      this.#records.set(holdId, now);
      known.add(holdId);
      if (this.#closed.has(holdId)) settled += amountPicos;
    }
    for (const holdId of this.#everOpen.get(accountId) ?? []) {
      if (this.#closed.has(holdId)) expect(known.has(holdId), `${holdId} is closed and has a record`).toBe(true);
    }
    return settled;
  }

  async #drive(): Promise<void> {
    do await this.clock.flush();
    while (await this.#goOn());
  }

  /**
   * Mostly runs the next store call. Sometimes a process starts or dies, or time passes. False when nothing is left to
   * do.
   */
  async #goOn(): Promise<boolean> {
    const kind = this.#choices.next(25);
    const steps = this.#store.waiting;
    if (kind === 24) this.#skews[this.#choices.next(this.#skews.length)] = this.#anySkewMs();
    else if (kind === 23) this.#store.kill(`request-${this.#choices.next(4)}`);
    else if (kind === 22) await this.clock.advance(LIFETIME_MS / 2);
    else if (kind < 18 && steps > 0) await this.#store.run(this.#choices.next(steps));
    else if (this.#waiting.length > 0) this.#start(this.#choices.next(this.#waiting.length));
    else if (this.clock.waiting > 0) await this.clock.advance(LIFETIME_MS / 10);
    else return steps > 0;
    return true;
  }

  #anySkewMs(): number {
    return (this.#choices.next(5) - 2) * LIFETIME_MS;
  }

  /** The clock of a process, which steps now and then. Timers do not follow its steps. */
  #clockOf(number: number): Clock {
    return {
      now: () => this.clock.now() + (this.#skews[number] ?? 0),
      after: (delayMs, callback) => this.clock.after(delayMs, callback),
    };
  }

  #start(index: number): void {
    const [next] = this.#waiting.splice(index, 1);
    if (!next) return;
    const deps = {
      store: this.#store.seenBy(next.name),
      outbox: this.outbox,
      clock: this.#clockOf(this.#waiting.length % this.#skews.length),
      random: () => 0,
      shortestLifetimeMs: LIFETIME_MS,
    };
    next.start(deps).catch((error: unknown) => {
      if (!(error instanceof StoreError)) this.#errors.push(error);
    });
  }

  /**
   * Expects five undisturbed sweeps, a lifetime apart, to end every open hold: three, and two for clocks that were ahead.
   */
  async #endHolds(): Promise<void> {
    const deps = {
      store: this.ledger,
      outbox: this.outbox,
      clock: this.clock,
      random: () => 0,
      shortestLifetimeMs: LIFETIME_MS,
    };
    for (let round = 0; round < 5; round += 1) {
      await this.clock.advance(LIFETIME_MS);
      await sweep(deps);
    }
    const open = this.ledger.accounts().flatMap(({ holds }) => [...holds.keys()]);
    expect(open, 'holds that no sweep finds').toEqual([]);
    this.#versions.clear();
    this.check('sweep');
  }
}

/**
 * Runs one request from its hold to its end. Reports the client's result before the last write, because the process may
 * die there.
 */
export const playRequest = async (
  deps: LedgerDependencies,
  requestId: string,
  accountId: string,
  plan: RequestPlan,
  tell: (told: ClientResult) => void,
): Promise<void> => {
  const order = {
    accountId,
    requestId,
    amountPicos: plan.holdPicos,
    expiresAtMs: deps.clock.now() + LIFETIME_MS,
    // The stored key names the first cap, also after a change.
    ...(plan.isCapped && { cap: { keyId: CAPPED_KEY, kind: FIRST_CAP.kind, epoch: CAP_EPOCH } }),
  };
  const smaller = (availablePicos: bigint) => (availablePicos > 1n ? availablePicos / 2n : undefined);
  const { aheadMs = 0 } = plan;
  const clock = { now: () => deps.clock.now() + aheadMs, after: deps.clock.after.bind(deps.clock) };
  // The account is swept as if the clock were right.
  const store: LedgerStore = { ...deps.store, sweepBy: (id, atMs) => deps.store.sweepBy(id, atMs - aheadMs) };
  const holding = { ...deps, store, clock, shortestLifetimeMs: deps.shortestLifetimeMs - aheadMs };
  const placed = await placeHold(holding, plan.acceptsLess ? { ...order, smaller } : order).catch((error: unknown) => {
    if (error instanceof GatewayError) return undefined;
    throw error;
  });
  if (!placed) {
    tell('refused');
    return;
  }
  await sleep(deps.clock, plan.callMs);
  if (plan.ends === 'released') {
    await release(deps, placed, { reason: 'upstream_error' });
    tell('released');
    return;
  }
  const { holdId, amountPicos, cap } = placed;
  const at = deps.clock.now();
  let told: ClientResult;
  try {
    const record = await commit(deps, {
      accountId,
      holdId,
      requestId,
      outcome: 'settled',
      amountPicos: plan.chargePicos,
      at,
      ...(cap && { cap }),
    });
    told = record.outcome === 'settled' ? 'charged' : 'failed';
    tell(told);
    await apply(deps, record, amountPicos);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    if (told === undefined) tell('failed');
  }
};

/** Gives the API key another limit, a cap of another kind, no cap, and the first one again. */
export const changeCaps = async (
  clock: Clock,
  accountIds: readonly string[],
  setCap: (accountId: string, change: CapChange | undefined) => Promise<void>,
): Promise<void> => {
  const changes = [
    { limitPicos: 700n, kind: 'day' },
    { limitPicos: 500n, kind: 'month' },
    undefined,
    FIRST_CAP,
  ] as const;
  for (const change of changes) {
    for (const accountId of accountIds) await setCap(accountId, change);
    await sleep(clock, LIFETIME_MS / 2);
  }
};

export const sweepNowAndThen = async (deps: LedgerDependencies): Promise<void> => {
  for (let round = 0; round < 4; round += 1) {
    await sweep(deps).catch((error: unknown) => {
      if (!(error instanceof StoreError)) throw error;
    });
    await sleep(deps.clock, LIFETIME_MS / 2);
  }
};

/** Credits the same reference for each account. Two concurrent runs must credit it once. */
export const topUp = async (deps: LedgerDependencies, accountIds: readonly string[]): Promise<void> => {
  for (const accountId of accountIds) {
    await deps.store.credit({ accountId, ref: 'second', amountPicos: 50n, reason: 'test', at: 0 });
  }
};

/**
 * Refunds and charges back 40% of the first credit, reverses a chargeback, and debits. Two concurrent runs share the
 * references of the refund and the reversal, so each of them must count once. Only one of their chargebacks fits.
 */
export const takeBack = async (deps: CreditDependencies, accountId: string, run: number): Promise<void> => {
  const change = { accountId, of: 'first', reason: 'test' } as const;
  const amountPicos = (GIVEN_PICOS * 2n) / 5n;
  await creditAccount(deps, { ...change, ref: 'refund', type: 'refund', amountPicos });
  await creditAccount(deps, { ...change, ref: `dispute-${run}`, type: 'chargeback', amountPicos });
  await creditAccount(deps, { ...change, ref: 'won', type: 'chargeback_reversed', amountPicos });
  await creditAccount(deps, { accountId, ref: `debit-${run}`, type: 'debit', amountPicos: 7n, reason: 'test' });
};
