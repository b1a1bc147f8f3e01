import { formatUsd } from '../money/usd.ts';
import { recordedAmount } from '../pricing/recorded-amount.ts';
import { type Account, balanceOf, heldOf } from './account.ts';
import type { Reading } from './audit-reading.ts';
import type { ChargeRecord } from './charge-record.ts';
import { requestIdOf } from './hold.ts';

export type Invariant =
  /** Available plus open holds is credited minus spent. */
  | 'balance'
  /** Spent is the sum of the charges whose holds are closed. */
  | 'spent'
  /** Credited is the sum of the credits. */
  | 'credited'
  /** Available is below zero only where a charge was above its hold, and says so (BILL-7). */
  | 'overdrawn-by-overage'
  | 'one-charge-per-request'
  | 'released-costs-nothing'
  /** A charge is what its usage and prices come to (BILL-3), and never below zero. */
  | 'charge-as-priced'
  /** A record stands under the account, hold and request that it names. */
  | 'record-in-place'
  /** A hold ends soon after its expiry (BILL-13). */
  | 'hold-swept'
  /** Whatever is stored can be read. */
  | 'readable';

export interface Finding {
  readonly accountId: string;
  /** A hold id; null where the account as a whole does not add up. */
  readonly recordId: string | null;
  readonly invariant: Invariant;
  readonly message: string;
  /** By how much, where sums differ. Pico-USD. */
  readonly differencePicos?: bigint;
}

/** Later than the sweeper ever is. */
export const SWEEP_LATE_MS = 600_000;

export const findingsOf = (reading: Reading, nowMs: number): readonly Finding[] => [
  ...balanceFinding(reading.account),
  ...(reading.stable ? sumFindings(reading) : []),
  ...overdrawnFinding(reading),
  ...recordFindings(reading),
  ...unsweptHolds(reading.account, nowMs),
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

/** A record whose hold is still open has not been counted yet. */
const sumFindings = ({ account, records, credits }: Reading): readonly Finding[] => {
  const closed = [...records.values()].filter(({ holdId }) => !account.holds.has(holdId));
  const charged = closed.filter(({ outcome }) => outcome === 'settled').map(({ amountPicos }) => amountPicos);
  return [
    ...differing(account.id, 'spent', ['spent is', account.spentPicos], ['its charges are', sumOf(charged)]),
    ...differing(
      account.id,
      'credited',
      ['credited is', account.creditedPicos],
      ['its credits are', sumOf(credits.values())],
    ),
  ];
};

const overdrawnFinding = ({ account, records }: Reading): readonly Finding[] => {
  if (account.availablePicos >= 0n || [...records.values()].some(({ overage }) => overage)) return [];
  const message = `available is ${formatUsd(account.availablePicos)} USD, and no charge is flagged as above its hold`;
  return [{ accountId: account.id, recordId: null, invariant: 'overdrawn-by-overage', message }];
};

const recordFindings = ({ account, records }: Reading): readonly Finding[] => {
  const chargedBy = new Map<string, string>();
  const findings: Finding[] = [];
  const find = ({ holdId }: ChargeRecord, invariant: Invariant, message: string) =>
    findings.push({ accountId: account.id, recordId: holdId, invariant, message });
  for (const record of [...records.values()].toSorted((one, other) => (one.holdId < other.holdId ? -1 : 1))) {
    const { accountId, holdId, requestId, outcome, amountPicos } = record;
    if (accountId !== account.id || requestId !== requestIdOf(holdId))
      find(record, 'record-in-place', `the record names account ${accountId} and request ${requestId}`);
    if (outcome === 'released') {
      if (amountPicos !== 0n)
        find(record, 'released-costs-nothing', `released, and yet of ${formatUsd(amountPicos)} USD`);
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
    .filter(([, { expiresAtMs }]) => nowMs - expiresAtMs > SWEEP_LATE_MS)
    .map(([holdId, { expiresAtMs }]) => ({
      accountId: id,
      recordId: holdId,
      invariant: 'hold-swept',
      message: `open, and expired since ${new Date(expiresAtMs).toISOString()}: the sweeper does not run`,
    }));
