import type { AuditCursor } from '../../core/ledger/audit-run.ts';
import type { ChargeRecord } from '../../core/ledger/ledger.ts';
import type {
  AccountPlace,
  LedgerRecords,
  Operation,
  OperationLog,
  RecordPage,
  RecordRange,
} from '../../core/ledger/records.ts';
import { CREDIT_PREFIX, toCreditRecord } from './credit-items.ts';
import { type DynamoDB, type QueryRequest, type ScanPage, withPrefix } from './dynamodb.ts';
import { type Item, optionalText, readNumber, readText } from './item.ts';
import { accountIdOf, toChargeRecord } from './ledger-items.ts';
import { createStatementRecords } from './statement-records.ts';
import { createUsageSums } from './usage-sums.ts';

export const createLedgerRecords = (db: DynamoDB, table: string): LedgerRecords => ({
  listRecords: (accountId, range) => listRecords(db, table, accountId, range),
  recordsOfRequest: async (accountId, requestId) => {
    const items = await db.query(withPrefix(table, accountId, `CHARGE#${requestId}.`));
    return items.map(toNamed);
  },
  readCredits: async (accountId) => {
    const items = await db.query(withPrefix(table, accountId, CREDIT_PREFIX));
    return items.map(toCreditRecord);
  },
  accountPlaces: (after) => accountPlaces(db, table, after),
  ...createStatementRecords(db, table),
  ...createUsageSums(db, table),
});

/** Throws an Error that names a record that cannot be read. */
const toNamed = (item: Item): ChargeRecord => {
  try {
    return toChargeRecord(item);
  } catch (cause) {
    throw new Error(`${optionalText(item, 'sk')}: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
};

/** First sort key after every `CHARGE#...`. */
const AFTER_CHARGES = 'CHARGE$';

const listRecords = async (
  db: DynamoDB,
  table: string,
  accountId: string,
  { fromHoldId = '', beforeHoldId, limit, isOldestFirst = false }: RecordRange,
): Promise<RecordPage> => {
  const high = beforeHoldId === undefined ? AFTER_CHARGES : `CHARGE#${beforeHoldId}`;
  const low = `CHARGE#${fromHoldId}`;
  if (low > high) return { records: [], more: false };
  const request: QueryRequest = {
    table,
    keyCondition: 'pk = :pk AND sk BETWEEN :low AND :high',
    values: { ':pk': `account#${accountId}`, ':low': low, ':high': high },
    isConsistent: true,
    isForward: isOldestFirst,
    // One more for the upper bound, which BETWEEN includes, and one more to detect further records.
    limit: limit + 2,
  };
  const items = await db.query(request, limit + 2);
  const wanted = items.filter((item) => optionalText(item, 'sk') !== high);
  return { records: wanted.slice(0, limit).map(toNamed), more: wanted.length > limit };
};

/** The position is the key of the last item read, of any kind, because an account can have millions of items. */
async function* accountPlaces(db: DynamoDB, table: string, after?: string): AsyncGenerator<AccountPlace, void> {
  let from = after === undefined ? undefined : toKey(after);
  do {
    const page: ScanPage = await db.scan({
      table,
      filter: 'sk = :account',
      values: { ':account': 'ACCOUNT' },
      after: from,
    });
    for (const item of page.items) yield { accountId: accountIdOf(item), place: toPlace(item) };
    from = page.next;
    if (from) yield { place: toPlace(from) };
  } while (from);
}

/** Neither key contains a line break. */
const toPlace = (item: Item): string => `${readText(item, 'pk')}\n${readText(item, 'sk')}`;

/** Returns undefined for an invalid position; the scan then starts at the beginning. */
const toKey = (place: string): Item | undefined => {
  const [pk, sk] = place.split('\n');
  return pk && sk ? { pk, sk } : undefined;
};

const PREFIX = 'OPERATION#';

/** Stores one item per operation, in the partition of its account. */
export const createOperationLog = (db: DynamoDB, table: string): OperationLog => ({
  add: async (operation) => {
    await db.put({ table, item: toItem(operation) });
  },
  list: async (accountId) => {
    const items = await db.query(withPrefix(table, accountId, PREFIX));
    return items.map(toOperation);
  },
});

const toItem = ({ accountId, id, command, reason, ref, at }: Operation): Item => ({
  pk: `account#${accountId}`,
  sk: `${PREFIX}${id}`,
  accountId,
  command,
  reason,
  ...(ref === undefined ? {} : { ref }),
  at,
});

const toOperation = (item: Item): Operation => ({
  accountId: readText(item, 'accountId'),
  id: readText(item, 'sk').slice(PREFIX.length),
  command: readText(item, 'command'),
  reason: readText(item, 'reason'),
  ...(item.ref === undefined ? {} : { ref: readText(item, 'ref') }),
  at: readNumber(item, 'at'),
});

const KEY = { pk: 'audit#cursor' };

/** Stores one item in the counters table. If it is lost, the audit restarts its pass. */
export const createAuditCursor = (db: DynamoDB, table: string): AuditCursor => ({
  read: async () => {
    const item = await db.get(table, KEY);
    return item && optionalText(item, 'place');
  },
  write: async (place) => {
    await db.put({ table, item: place === undefined ? KEY : { ...KEY, place } });
  },
});
