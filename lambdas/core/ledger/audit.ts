import type { Clock } from '../clock.ts';
import { StoreError } from '../errors/store-error.ts';
import { formatUsd } from '../money/usd.ts';
import { isKnownCount, sumOfCounts } from '../pricing/count-prices.ts';
import { capProblems } from './audit-caps.ts';
import { type CreditInvariant, creditProblems } from './audit-credits.ts';
import { type StatementInvariant, statementProblems } from './audit-statements.ts';
import { type CreditRecord, changeOf } from './credit-record.ts';
import { requestIdOf } from './hold.ts';
import { type Account, balanceOf, type ChargeRecord, heldOf, type LedgerStore } from './ledger.ts';
import type { MonthClosing } from './month.ts';
import { accountIds, type LedgerRecords } from './records.ts';

interface AuditDependencies extends AuditStores {
  readonly clock: Clock;
}

/** Dependencies of an audit of all accounts. */
export interface AllAuditDependencies extends AuditDependencies {
  readonly records: AuditDependencies['records'] & Pick<LedgerRecords, 'accountPlaces'>;
}

export interface AccountAudit {
  readonly accountId: string;
  /** False if the account changed during every read, so its sums could not be compared. */
  readonly stable: boolean;
  readonly records: number;
  readonly openHolds: number;
  readonly expiredHolds: number;
  /** Hold ids of charges above their hold (BILL-7). */
  readonly overage: readonly string[];
  /** Hold ids of charges with implausible counts (BILL-7). */
  readonly implausible: readonly string[];
  readonly findings: readonly Finding[];
}

const READINGS = 4;

/**
 * Compares an account with its records. The account may be in use: a difference is checked again from scratch and
 * reported only if it remains. Undefined if the account does not exist. Throws StoreError.
 */
export const auditAccount = async (deps: AuditDependencies, accountId: string): Promise<AccountAudit | undefined> => {
  try {
    return await readUntilSure(deps, accountId);
  } catch (error) {
    if (error instanceof StoreError || !(error instanceof Error)) throw error;
    return unreadable(accountId, error);
  }
};

const readUntilSure = async (deps: AuditDependencies, accountId: string): Promise<AccountAudit | undefined> => {
  let earlier: readonly Finding[] = [];
  for (let read = 1; ; read += 1) {
    const reading = await readStably(deps, accountId);
    if (!reading) return undefined;
    const nowMs = deps.clock.now();
    const found = findingsOf(reading, nowMs);
    const confirmed = found.filter((finding) => earlier.some((before) => same(before, finding)));
    const stable = reading.stable && confirmed.length === found.length;
    if (stable || read === READINGS) return { ...toAudit(reading, nowMs, confirmed), stable };
    earlier = found;
  }
};

/** Audits all accounts, one after the other. */
export async function* auditAll(deps: AllAuditDependencies): AsyncGenerator<AccountAudit, void> {
  for await (const accountId of accountIds(deps.records)) {
    const audit = await auditAccount(deps, accountId);
    if (audit) yield audit;
  }
}

const same = (one: Finding, other: Finding): boolean =>
  one.invariant === other.invariant && one.recordId === other.recordId && one.differencePicos === other.differencePicos;

const toAudit = (
  { account, records }: Reading,
  nowMs: number,
  findings: readonly Finding[],
): Omit<AccountAudit, 'stable'> => {
  const flagged = (flag: 'overage' | 'implausible'): readonly string[] =>
    [...records.values()].filter((record) => record[flag]).map(({ holdId }) => holdId);
  return {
    accountId: account.id,
    records: records.size,
    openHolds: account.holds.size,
    expiredHolds: [...account.holds.values()].filter(({ expiresAtMs }) => expiresAtMs <= nowMs).length,
    overage: flagged('overage'),
    implausible: flagged('implausible'),
    findings,
  };
};

const unreadable = (accountId: string, { message }: Error): AccountAudit => ({
  accountId,
  stable: true,
  records: 0,
  openHolds: 0,
  expiredHolds: 0,
  overage: [],
  implausible: [],
  findings: [{ accountId, recordId: null, invariant: 'readable', message }],
});

type Invariant =
  | CreditInvariant
  | StatementInvariant
  /** Available plus open holds equals credited minus spent. */
  | 'balance'
  /** Spent is the sum of the charges whose holds are closed. */
  | 'spent'
  /** Credited is the sum of credits and reversals, less refunds, chargebacks and debits. */
  | 'credited'
  /**
   * Available is negative only after a charge above its hold, which is marked `overage` (BILL-7), or after money was
   * taken back.
   */
  | 'overdrawn-by-overage'
  /** The rest of a cap, with the charges and open holds of its period, is its limit (KEY-9). */
  | 'cap'
  | 'one-charge-per-request'
  | 'released-costs-nothing'
  /** A charge equals its usage times its prices (BILL-3), and is never negative. */
  | 'charge-as-priced'
  /** A record is stored under the account, hold and request in its fields. */
  | 'record-in-place'
  /** A hold ends soon after its expiry (BILL-13). */
  | 'hold-swept'
  /** Every stored item, hold and outcome is readable for this release (OPS-11). */
  | 'readable';

export interface Finding {
  readonly accountId: string;
  /** Hold id or reference of a credit; null for a finding about the whole account. */
  readonly recordId: string | null;
  readonly invariant: Invariant;
  readonly message: string;
  /** Difference of the sums in pico-USD, if sums differ. */
  readonly differencePicos?: bigint;
}

/**
 * The audit reports a hold that is still open this many ms after the hold expired. Longer than any delay of a sweeper
 * that runs.
 */
export const SWEEP_LATE_MS = 600_000;

const findingsOf = (reading: Reading, nowMs: number): readonly Finding[] => [
  ...balanceFinding(reading.account),
  ...(reading.stable ? sumFindings(reading) : []),
  ...overdrawnFinding(reading),
  ...recordFindings(reading),
  ...unsweptHolds(reading.account, nowMs),
  ...newerFindings(reading),
];

const sumOf = (amounts: Iterable<bigint>): bigint => [...amounts].reduce((sum, amount) => sum + amount, 0n);

const differing = (
  accountId: string,
  invariant: Invariant,
  [what, actual]: readonly [string, bigint],
  [against, expected]: readonly [string, bigint],
): readonly Finding[] => {
  const differencePicos = actual - expected;
  if (differencePicos === 0n) return [];
  const amounts = `${what} ${formatUsd(actual)} USD, ${against} ${formatUsd(expected)} USD`;
  const message = `${amounts}: ${formatUsd(differencePicos)} USD apart`;
  return [{ accountId, recordId: null, invariant, message, differencePicos }];
};

const balanceFinding = (account: Account): readonly Finding[] =>
  differing(
    account.id,
    'balance',
    ['available and held are', account.availablePicos + heldOf(account)],
    ['credited less spent is', balanceOf(account)],
  );

/** A record whose hold is open is not counted yet. */
const sumFindings = ({ account, records, credits, closings }: Reading): readonly Finding[] => {
  const closed = [...records.values()].filter(({ holdId }) => !account.holds.has(holdId));
  const charged = closed.filter(({ outcome }) => outcome === 'settled').map(({ amountPicos }) => amountPicos);
  return [
    ...differing(account.id, 'spent', ['spent is', account.spentPicos], ['its charges are', sumOf(charged)]),
    ...differing(
      account.id,
      'credited',
      ['credited is', account.creditedPicos],
      ['its credits are', sumOf(credits.map(changeOf))],
    ),
    ...creditProblems(credits).map(({ ref, invariant, message }) => ({
      accountId: account.id,
      recordId: ref,
      invariant,
      message,
    })),
    ...capProblems(account, records.values()).map(({ message, differencePicos }) => ({
      accountId: account.id,
      recordId: null,
      invariant: 'cap' as const,
      message,
      differencePicos,
    })),
    ...statementProblems(account, closings, credits).map((problem) => ({
      accountId: account.id,
      recordId: null,
      ...problem,
    })),
  ];
};

const overdrawnFinding = ({ account, records, credits }: Reading): readonly Finding[] => {
  const isExplained =
    [...records.values()].some(({ overage }) => overage) || credits.some((record) => changeOf(record) < 0n);
  if (account.availablePicos >= 0n || isExplained) return [];
  const message = `available is ${formatUsd(account.availablePicos)} USD, and no charge is flagged as above its hold, and no money was taken back`;
  return [{ accountId: account.id, recordId: null, invariant: 'overdrawn-by-overage', message }];
};

const recordFindings = ({ account, records }: Reading): readonly Finding[] => {
  const chargedBy = new Map<string, string>();
  const findings: Finding[] = [];
  const find = ({ holdId }: ChargeRecord, invariant: Invariant, message: string) =>
    findings.push({ accountId: account.id, recordId: holdId, invariant, message });
  const known = [...records.values()].filter(({ newerOutcome }) => newerOutcome === undefined);
  for (const record of known.toSorted((one, other) => (one.holdId < other.holdId ? -1 : 1))) {
    const { accountId, holdId, requestId, outcome, amountPicos } = record;
    if (accountId !== account.id || requestId !== requestIdOf(holdId))
      find(
        record,
        'record-in-place',
        `the record names account ${accountId} and request ${requestId}, but is not stored under both`,
      );
    if (outcome === 'released') {
      if (amountPicos !== 0n)
        find(record, 'released-costs-nothing', `released, but with a charge of ${formatUsd(amountPicos)} USD`);
      continue;
    }
    const priced = recordedAmount(record);
    if (amountPicos < 0n || (priced !== undefined && priced !== amountPicos))
      find(record, 'charge-as-priced', `charged ${formatUsd(amountPicos)} USD, usage and prices make ${worth(priced)}`);
    const first = chargedBy.get(requestIdOf(holdId));
    if (first !== undefined) find(record, 'one-charge-per-request', `the request was charged by ${first} already`);
    chargedBy.set(requestIdOf(holdId), holdId);
  }
  return findings;
};

const worth = (picos: bigint | undefined): string => (picos === undefined ? 'no amount' : `${formatUsd(picos)} USD`);

const unsweptHolds = ({ id, holds }: Account, nowMs: number): readonly Finding[] =>
  [...holds]
    .filter(([, { expiresAtMs, isNewer }]) => !isNewer && nowMs - expiresAtMs > SWEEP_LATE_MS)
    .map(([holdId, { expiresAtMs }]) => ({
      accountId: id,
      recordId: holdId,
      invariant: 'hold-swept',
      message: `open, and expired since ${new Date(expiresAtMs).toISOString()}: the sweeper does not run`,
    }));

/** OPS-11: holds that only a newer release closes, and outcomes that count as settled at their amount. */
const newerFindings = ({ account, records }: Reading): readonly Finding[] => {
  const find = (recordId: string, message: string): Finding => ({
    accountId: account.id,
    recordId,
    invariant: 'readable',
    message,
  });
  const holds = [...account.holds].filter(([, { isNewer }]) => isNewer);
  const outcomes = [...records.values()].filter(({ newerOutcome }) => newerOutcome !== undefined);
  return [
    ...holds.map(([holdId]) => find(holdId, 'open, in a form of a newer release, which must close it')),
    ...outcomes.map(({ holdId, newerOutcome }) => find(holdId, `the outcome "${newerOutcome}" is of a newer release`)),
  ];
};

/** Records of one account. */
export type AccountRecords = Pick<LedgerRecords, 'listRecords' | 'readCredits' | 'closings'>;

export interface AuditStores {
  readonly store: Pick<LedgerStore, 'readAccount'>;
  readonly records: AccountRecords;
}

/** An account with all its records. */
interface Reading {
  readonly account: Account;
  /** Records by hold id. */
  readonly records: ReadonlyMap<string, ChargeRecord>;
  readonly credits: readonly CreditRecord[];
  readonly closings: readonly MonthClosing[];
  /** Whether the account did not change during the read, so its sums can be compared. */
  readonly stable: boolean;
}

const TRIES = 50;

const PAGE = 1_000;
/** Every stored month is at most this one. */
const LAST_MONTH = '9999-12';

/**
 * Number of known records that the next try reads again, because concurrent requests can finish in another order than
 * they started.
 */
const OVERLAP = 50;

/**
 * Reads the account before and after its records, until both reads are equal. Records never change, so later tries read
 * only the latest ones. That is fast enough to fit between two writes of an account in use.
 */
const readStably = async (stores: AuditStores, accountId: string): Promise<Reading | undefined> => {
  const records = new Map<string, ChargeRecord>();
  let account = await stores.store.readAccount(accountId);
  let fromHoldId: string | undefined;
  for (let tried = 1; account; tried += 1) {
    const [credits, closings, latest] = await Promise.all([
      stores.records.readCredits(accountId),
      stores.records.closings(accountId, LAST_MONTH),
      gather(stores.records, accountId, fromHoldId, records),
    ]);
    const after = await stores.store.readAccount(accountId);
    if (!after) return undefined;
    const stable = after.version === account.version;
    if (stable || tried === TRIES) {
      return { account, records, credits, closings, stable };
    }
    fromHoldId = latest && oldestInMotion(account, latest);
    account = after;
  }
  return undefined;
};

/**
 * Reads records into the map. Returns the hold id before which no new record is expected, apart from open holds;
 * undefined if there are too few records.
 */
const gather = async (
  source: AccountRecords,
  accountId: string,
  fromHoldId: string | undefined,
  into: Map<string, ChargeRecord>,
): Promise<string | undefined> => {
  let latest: string | undefined;
  let beforeHoldId: string | undefined;
  for (;;) {
    const { records, more } = await source.listRecords(accountId, { fromHoldId, beforeHoldId, limit: PAGE });
    for (const record of records) into.set(record.holdId, record);
    if (beforeHoldId === undefined) latest = records[OVERLAP]?.holdId;
    beforeHoldId = records.at(-1)?.holdId;
    if (!more || beforeHoldId === undefined) return latest ?? fromHoldId;
  }
};

/**
 * Returns the hold id from which the next try must read: `latest`, or the oldest open hold if it is older, because that
 * hold may have been closed since.
 */
const oldestInMotion = (account: Account, latest: string): string =>
  [...account.holds.keys()].reduce((oldest, holdId) => (holdId < oldest ? holdId : oldest), latest);

/**
 * Amount that the counts and prices of a record add up to, in pico-USD. Undefined if they do not determine it:
 * implausible counts were charged at a bound (BILL-7).
 */
export const recordedAmount = ({ usage, prices, implausible }: ChargeRecord): bigint | undefined => {
  if (!usage || !prices || implausible) return undefined;
  if (![...Object.keys(usage), ...Object.keys(prices)].every(isKnownCount)) return undefined;
  return sumOfCounts(usage, prices);
};
