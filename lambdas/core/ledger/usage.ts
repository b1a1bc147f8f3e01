import { requestIdOf } from './hold.ts';
import type { Account, ChargeRecord, Hold, LedgerStore } from './ledger.ts';
import type { LedgerRecords, RecordRange } from './records.ts';

export interface UsagePage {
  /** One record per request, the newest first. */
  readonly records: readonly ChargeRecord[];
  /** Start of the next page: it contains only records before this hold id. Undefined on the last page. */
  readonly nextHoldId: string | undefined;
}

/**
 * Selects the record that decides the outcome of a request: its charge, else the release of its last hold. Ids that
 * were closed while a hold was placed do not count, because the request continued under another id or was rejected. A
 * takeover of an idempotency key releases every possible id.
 */
const decisive = (records: readonly ChargeRecord[]): ChargeRecord | undefined => {
  const inOrder = records
    .filter(({ reason }) => reason !== 'given_up')
    .toSorted((one, other) => (one.holdId < other.holdId ? -1 : 1));
  return (
    inOrder.find(({ outcome }) => outcome === 'settled') ??
    inOrder.findLast(({ reason }) => reason !== 'taken_over') ??
    inOrder[0]
  );
};

/**
 * Groups records by request. Takes them in list order, so that those of one request are adjacent. Passes on the
 * decisive record of a request when the first record of another request is taken, and on `end`.
 */
export const gatherRequests = (ended: (record: ChargeRecord) => void) => {
  let request: ChargeRecord[] = [];
  const end = (): void => {
    const record = decisive(request);
    if (record) ended(record);
    request = [];
  };
  const take = (record: ChargeRecord): void => {
    const [first] = request;
    if (first && requestIdOf(first.holdId) !== requestIdOf(record.holdId)) end();
    request.push(record);
  };
  return { take, end };
};

/** Returns the finished requests of an account (BILL-15). Throws StoreError. */
export const listUsage = async (ledger: LedgerRecords, accountId: string, range: RecordRange): Promise<UsagePage> => {
  const ended: ChargeRecord[] = [];
  const requests = gatherRequests((record) => ended.push(record));
  let { beforeHoldId } = range;
  // One more row than requested shows whether there is a next page.
  while (ended.length <= range.limit) {
    const page = await ledger.listRecords(accountId, { ...range, beforeHoldId, limit: range.limit + 1 });
    page.records.forEach(requests.take);
    beforeHoldId = page.records.at(-1)?.holdId;
    if (page.more && beforeHoldId !== undefined) continue;
    requests.end();
    break;
  }
  const records = ended.slice(0, range.limit);
  const last = records.at(-1);
  return {
    records,
    nextHoldId: last && ended.length > range.limit ? `${requestIdOf(last.holdId)}.0` : undefined,
  };
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
