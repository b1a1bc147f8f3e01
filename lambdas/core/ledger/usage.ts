import { requestIdOf } from './hold.ts';
import type { Account, ChargeRecord, Hold, LedgerStore } from './ledger.ts';
import type { LedgerRecords, RecordRange } from './records.ts';

export interface UsagePage {
  /** One record per request, the newest first. */
  readonly records: readonly ChargeRecord[];
  /**
   * Start of the next page: it contains only records before this hold id. Undefined on the last page. A filtered page
   * can have it although it has fewer records than the limit.
   */
  readonly nextHoldId: string | undefined;
}

/** Selects requests by the record that decides their outcome. Every field that is set must match. */
export type UsageFilter = Partial<Pick<ChargeRecord, 'model' | 'keyId' | 'outcome' | 'endUser'>>;

export interface UsageRange extends RecordRange {
  /** Undefined: all requests. */
  readonly filter?: UsageFilter | undefined;
}

const isMatch = (record: ChargeRecord, { model, keyId, outcome, endUser }: UsageFilter): boolean =>
  (model === undefined || record.model === model) &&
  (keyId === undefined || record.keyId === keyId) &&
  (outcome === undefined || record.outcome === outcome) &&
  (endUser === undefined || record.endUser === endUser);

/**
 * Selects the record that decides the outcome of a request: its charge, else the release of its last hold. Ids that
 * were closed while a hold was placed do not count, because the request continued under another id or was rejected. A
 * takeover of an idempotency key releases every possible id.
 */
const decisive = (records: readonly ChargeRecord[]): ChargeRecord | undefined => {
  const inOrder = records
    .filter(({ reason }) => reason !== 'given_up')
    .toSorted((one, other) => numberOf(one.holdId) - numberOf(other.holdId));
  return (
    inOrder.find(({ outcome }) => outcome === 'settled') ??
    inOrder.findLast(({ reason }) => reason !== 'taken_over') ??
    inOrder[0]
  );
};

/** Number of a hold within its request: `.10` follows `.9`. */
const numberOf = (holdId: string): number => Number(holdId.slice(holdId.lastIndexOf('.') + 1));

/**
 * Groups records by request. Takes them in list order, so that those of one request are adjacent. Passes on the
 * decisive record of a request, undefined if none decides, when the first record of another request is taken, and on
 * `end`.
 */
export const gatherRequests = (ended: (record: ChargeRecord | undefined, requestId: string) => void) => {
  let request: ChargeRecord[] = [];
  const end = (): void => {
    const [first] = request;
    if (first) ended(decisive(request), requestIdOf(first.holdId));
    request = [];
  };
  const take = (record: ChargeRecord): void => {
    const [first] = request;
    if (first && requestIdOf(first.holdId) !== requestIdOf(record.holdId)) end();
    request.push(record);
  };
  return { take, end };
};

/** Records of one read of the store with a filter, and of one filtered page. */
const FILTERED_READ = 1_000;
const FILTERED_MAX = 5 * FILTERED_READ;

/** Returns the finished requests of an account (BILL-15). A filtered page reads at most 5,000 records. Throws StoreError. */
export const listUsage = async (ledger: LedgerRecords, accountId: string, range: UsageRange): Promise<UsagePage> => {
  const { filter, fromHoldId, limit } = range;
  const found: ChargeRecord[] = [];
  let readRequest: string | undefined;
  const requests = gatherRequests((record, requestId) => {
    readRequest = requestId;
    if (record && (!filter || isMatch(record, filter))) found.push(record);
  });
  let { beforeHoldId } = range;
  let left = filter ? FILTERED_MAX : Number.POSITIVE_INFINITY;
  let isCut = false;
  // One more row than requested shows whether there is a next page.
  while (found.length <= limit && !isCut) {
    const read = filter ? FILTERED_READ : limit + 1;
    const page = await ledger.listRecords(accountId, { fromHoldId, beforeHoldId, limit: read });
    page.records.forEach(requests.take);
    beforeHoldId = page.records.at(-1)?.holdId;
    if (!page.more || beforeHoldId === undefined) {
      requests.end();
      break;
    }
    left -= page.records.length;
    isCut = left <= 0;
  }
  const records = found.slice(0, limit);
  const last = records.at(-1);
  if (last && found.length > limit) return { records, nextHoldId: `${requestIdOf(last.holdId)}.0` };
  // The request that was read last may have unread records, so the next page starts with it.
  return { records, nextHoldId: isCut && readRequest !== undefined ? `${readRequest}.0` : undefined };
};

export type UsageOfRequest =
  | { readonly kind: 'ended'; readonly record: ChargeRecord }
  | { readonly kind: 'open'; readonly hold: Hold };

/**
 * Returns undefined if this account has no such request, or if the request was rejected before a hold. Throws
 * StoreError.
 */
export const usageOfRequest = async (
  store: Pick<LedgerStore, 'readAccount'>,
  ledger: LedgerRecords,
  { accountId, requestId }: { readonly accountId: string; readonly requestId: string },
): Promise<UsageOfRequest | undefined> => {
  const read = () => ledger.recordsOfRequest(accountId, requestId);
  const before = await read();
  const ended = decisive(before);
  if (ended) return { kind: 'ended', record: ended };
  const hold = openHoldOf(await store.readAccount(accountId), requestId, before);
  if (hold) return { kind: 'open', hold };
  // The request may have ended between the two reads.
  const since = decisive(await read());
  return since && { kind: 'ended', record: since };
};

const openHoldOf = (
  account: Account | undefined,
  requestId: string,
  closed: readonly ChargeRecord[],
): Hold | undefined => {
  for (const [holdId, hold] of account?.holds ?? []) {
    const isOpen = !closed.some((record) => record.holdId === holdId);
    if (isOpen && requestIdOf(holdId) === requestId) return hold;
  }
  return undefined;
};
