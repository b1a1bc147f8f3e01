import type { Account } from './account.ts';
import type { ChargeRecord } from './charge-record.ts';
import type { LedgerRecords } from './ledger-records.ts';
import type { LedgerStore } from './ledger-store.ts';

/** What was written down about one account. */
export type AccountRecords = Pick<LedgerRecords, 'listRecords' | 'readCredits'>;

export interface AuditStores {
  readonly store: Pick<LedgerStore, 'readAccount'>;
  readonly records: AccountRecords;
}

/** An account beside everything that was written down about it. */
export interface Reading {
  readonly account: Account;
  /** By hold id. */
  readonly records: ReadonlyMap<string, ChargeRecord>;
  /** By reference. Pico-USD. */
  readonly credits: ReadonlyMap<string, bigint>;
  /** Nothing was written to the account meanwhile, so that its sums can be compared. */
  readonly stable: boolean;
}

const TRIES = 50;
const PAGE = 1_000;
/** Records of requests that overtook one another are this close together, or a second reading finds them. */
const OVERLAP = 50;

/**
 * Reads the account before and after its records, again and again until both are the same. Records never change, so every try but the
 * first reads the latest ones only, which is fast enough to come between two writes of an account that is in use.
 */
export const readStably = async (stores: AuditStores, accountId: string): Promise<Reading | undefined> => {
  const records = new Map<string, ChargeRecord>();
  let account = await stores.store.readAccount(accountId);
  let fromHoldId: string | undefined;
  for (let tried = 1; account; tried += 1) {
    const [credits, latest] = await Promise.all([
      stores.records.readCredits(accountId),
      gather(stores.records, accountId, fromHoldId, records),
    ]);
    const after = await stores.store.readAccount(accountId);
    if (!after) return undefined;
    const stable = after.version === account.version;
    if (stable || tried === TRIES) {
      return { account, records, credits: new Map(credits.map(({ ref, amountPicos }) => [ref, amountPicos])), stable };
    }
    fromHoldId = latest && oldestInMotion(account, latest);
    account = after;
  }
  return undefined;
};

/** Answers the id before which nothing new is expected; undefined when there is too little to tell. */
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

/** Holds that were open may have been closed since; all others were placed later than those that are known. */
const oldestInMotion = (account: Account, latest: string): string =>
  [...account.holds.keys()].reduce((oldest, holdId) => (holdId < oldest ? holdId : oldest), latest);
