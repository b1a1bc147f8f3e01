import { isCrossing, LOW_BALANCE_THRESHOLD_DEFAULT } from '../../../lambdas/core/accounts/low-balance.ts';
import type { UncollectedOfDay } from '../../../lambdas/core/ledger/allowance.ts';
import { type Account, balanceOf, type Hold, toAccountStatus } from '../../../lambdas/core/ledger/ledger.ts';
import { readCaps, readHold } from './cap-columns.ts';
import { bigintOf, type Database, numberOf, optionalTextOf, type Row, textOf } from './database.ts';

/** Order of a write among the writes of all accounts. */
export const NEXT_CHANGE = '(SELECT coalesce(max(change), 0) + 1 FROM accounts)';

/**
 * One statement, so that account and holds are consistent. The columns of a hold are null in an account without holds.
 */
const SELECT_ACCOUNT = `
SELECT a.id, a.status, a.available, a.credited, a.spent, a.returned, a.month, a.version, a.uncollected_day, a.uncollected,
  a.uncollected_silent, a.uncollected_silent_at, a.uncollected_free, a.uncollected_other_day, a.uncollected_other, a.probation_until,
  a.caps, a.counted_to_id, h.hold_id, h.amount, h.expires_at, h.cap_key, h.cap_period, h.cap_expires_at
FROM accounts a LEFT JOIN holds h ON h.account_id = a.id WHERE a.id = ?`;

export const readAccount = (db: Database, accountId: string): Account | undefined => {
  const rows = db.sql(SELECT_ACCOUNT).all(accountId);
  const [first] = rows;
  if (!first) return undefined;
  const holds = new Map<string, Hold>();
  for (const row of rows) {
    const entry = readHold(row);
    if (entry) holds.set(...entry);
  }
  const month = optionalTextOf(first, 'month');
  const uncollected = readUncollected(first);
  const probationUntil = optionalTextOf(first, 'probation_until');
  const countedToId = optionalTextOf(first, 'counted_to_id');
  return {
    id: textOf(first, 'id'),
    status: toAccountStatus(textOf(first, 'status')),
    availablePicos: bigintOf(first, 'available'),
    creditedPicos: bigintOf(first, 'credited'),
    returnedPicos: BigInt(optionalTextOf(first, 'returned') ?? 0),
    spentPicos: bigintOf(first, 'spent'),
    ...(month === undefined ? {} : { month }),
    version: numberOf(first, 'version'),
    holds,
    ...(uncollected && { uncollected }),
    ...(probationUntil !== undefined && { probationUntilPicos: BigInt(probationUntil) }),
    caps: readCaps(first),
    ...(countedToId !== undefined && { countedToId }),
  };
};

const readUncollected = (row: Row): UncollectedOfDay | undefined => {
  const day = optionalTextOf(row, 'uncollected_day');
  if (day === undefined) return undefined;
  const otherDay = optionalTextOf(row, 'uncollected_other_day');
  return {
    day,
    picos: bigintOf(row, 'uncollected'),
    ...(row.uncollected_silent ? { silentDeadlines: numberOf(row, 'uncollected_silent') } : {}),
    ...(row.uncollected_silent_at ? { silentAtMs: numberOf(row, 'uncollected_silent_at') } : {}),
    ...(row.uncollected_free === null ? {} : { freePicos: bigintOf(row, 'uncollected_free') }),
    ...(otherDay !== undefined && { other: { day: otherDay, picos: bigintOf(row, 'uncollected_other') } }),
  };
};

/**
 * Stores a notification of a low balance in the transaction of the charge, so that it is sent even if this process ends
 * now.
 */
export const noteLowBalance = (db: Database, before: Account, after: Account): void => {
  if (balanceOf(before) <= balanceOf(after)) return;
  const row = db.sql('SELECT chat_id, threshold FROM accounts WHERE id = ?').get(after.id);
  const chatId = row && optionalTextOf(row, 'chat_id');
  if (!row || chatId === undefined) return;
  const change = {
    accountId: after.id,
    chatId,
    version: after.version,
    beforePicos: balanceOf(before),
    afterPicos: balanceOf(after),
    thresholdPicos: row.threshold === null ? LOW_BALANCE_THRESHOLD_DEFAULT : bigintOf(row, 'threshold'),
  };
  if (!isCrossing(change)) return;
  db.sql(
    'INSERT INTO low_balances (account_id, chat_id, version, before, after, threshold) VALUES (?, ?, ?, ?, ?, ?)',
  ).run(change.accountId, chatId, change.version, change.beforePicos, change.afterPicos, change.thresholdPicos);
};
