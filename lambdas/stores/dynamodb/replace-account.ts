import { StoreError } from '../../core/errors/store-error.ts';
import type { UncollectedState } from '../../core/ledger/allowance.ts';
import type { Account } from '../../core/ledger/ledger.ts';
import { closingsBefore, type MonthClosing } from '../../core/ledger/month.ts';
import { toCapReplacement } from './cap-items.ts';
import { type DynamoDB, putNew, type UpdateRequest, type Write } from './dynamodb.ts';
import { entryNames } from './hold-entries.ts';
import { type Item, readBigint, readNumber, readText } from './item.ts';
import { accountKey } from './ledger-items.ts';

interface Replacement {
  readonly before: Account;
  /** Computed from `before`. It may lack holds of `before`, and has no others. */
  readonly after: Account;
  /** Caller's clock in Unix ms, from which `after` was computed. */
  readonly nowMs: number;
}

/**
 * Writes an account that was computed from an earlier state, with the closings of months that are over and other writes.
 * Throws StoreError `conflict` if another write came first.
 */
export const replaceAccount = async (
  db: DynamoDB,
  table: string,
  replacement: Replacement,
  others: readonly Write[] = [],
): Promise<void> => {
  const update = toReplacement(table, replacement);
  const writes = [...toClosingWrites(table, replacement), ...others];
  const failed =
    writes.length === 0
      ? 'conditionFailed' in (await db.update(update))
      : (await db.transact([{ update }, ...writes])) !== undefined;
  if (failed) throw lostRace();
};

export const lostRace = (): StoreError => new StoreError('conflict', 'another write changed the account first');

export const toReplacement = (table: string, { before, after }: Replacement): UpdateRequest => {
  const closed = [...before.holds].filter(([holdId]) => !after.holds.has(holdId));
  const names = Object.assign(
    {},
    ...closed.map(([holdId, { cap }], index) => entryNames(holdId, `id${index}`, cap !== undefined)),
  );
  const caps = toCapReplacement(before.caps, after.caps);
  const removed = [...Object.keys(names).map((name) => `holds.${name}`), ...caps.removed];
  const allowance = toAllowanceReplacement(after);
  return {
    table,
    key: accountKey(after.id),
    update:
      'SET available = :available, credited = :credited, returned = :returned, spent = :spent, version = :after' +
      (after.month === undefined ? '' : ', #month = :month') +
      allowance.set +
      caps.set +
      (removed.length > 0 ? ` REMOVE ${removed.join(', ')}` : ''),
    condition: 'version = :before',
    names: { ...names, ...caps.names, ...(after.month !== undefined && { '#month': 'month' }) },
    values: {
      ':available': after.availablePicos,
      ':credited': after.creditedPicos,
      ':returned': after.returnedPicos,
      ':spent': after.spentPicos,
      ':after': after.version,
      ':before': before.version,
      ...(after.month !== undefined && { ':month': after.month }),
      ...caps.values,
      ...allowance.values,
    },
  };
};

/** Attributes of the state of the allowance. Only `clearUncollected` removes them. */
export const ALLOWANCE_ATTRIBUTES = [
  'uncollectedDay',
  'uncollected',
  'uncollectedSilent',
  'uncollectedSilentAt',
  'uncollectedFree',
  'uncollectedOtherDay',
  'uncollectedOther',
  'probationUntil',
] as const;

const toAllowanceReplacement = ({ uncollected, probationUntilPicos }: UncollectedState) => {
  const { other, silentAtMs, freePicos } = uncollected ?? {};
  return {
    set:
      (uncollected ? ', uncollectedDay = :day, uncollected = :uncollected, uncollectedSilent = :silent' : '') +
      (silentAtMs === undefined ? '' : ', uncollectedSilentAt = :silentAt') +
      (freePicos === undefined ? '' : ', uncollectedFree = :free') +
      (other ? ', uncollectedOtherDay = :otherDay, uncollectedOther = :other' : '') +
      (probationUntilPicos === undefined ? '' : ', probationUntil = :probationUntil'),
    values: {
      ...(uncollected && {
        ':day': uncollected.day,
        ':uncollected': uncollected.picos,
        ':silent': uncollected.silentDeadlines ?? 0,
      }),
      ...(silentAtMs !== undefined && { ':silentAt': silentAtMs }),
      ...(freePicos !== undefined && { ':free': freePicos }),
      ...(other && { ':otherDay': other.day, ':other': other.picos }),
      ...(probationUntilPicos !== undefined && { ':probationUntil': probationUntilPicos }),
    },
  };
};

const PREFIX = 'STATEMENT#';

export const closingKey = (accountId: string, month: string): Item => ({
  pk: `account#${accountId}`,
  sk: `${PREFIX}${month}`,
});

/** Writes of the closings that come with the first write in a later month. */
export const toClosingWrites = (table: string, { before, nowMs }: Replacement): readonly Write[] =>
  closingsBefore(before, nowMs).map((closing) => putNew(table, toClosingItem(before.id, closing)));

const toClosingItem = (accountId: string, closing: MonthClosing): Item => ({
  ...closingKey(accountId, closing.month),
  month: closing.month,
  credited: closing.creditedPicos,
  returned: closing.returnedPicos,
  spent: closing.spentPicos,
  held: closing.heldPicos,
  ...(closing.startMs === undefined ? {} : { start: closing.startMs }),
});

export const toClosing = (item: Item): MonthClosing => ({
  month: readText(item, 'month'),
  creditedPicos: readBigint(item, 'credited'),
  returnedPicos: readBigint(item, 'returned'),
  spentPicos: readBigint(item, 'spent'),
  heldPicos: readBigint(item, 'held'),
  ...(item.start === undefined ? {} : { startMs: readNumber(item, 'start') }),
});
