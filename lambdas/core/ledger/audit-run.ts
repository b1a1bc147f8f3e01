import { StoreError } from '../errors/store-error.ts';
import type { AccountRecords } from './audit.ts';
import { type AccountAudit, type AllAuditDependencies, auditAccount } from './audit.ts';

/**
 * Position of the next run. Every method is one call, safe to repeat, and throws StoreError if the result is not
 * definite.
 */
export interface AuditCursor {
  /** Returns the last written place, after which the run continues; undefined at the start of a pass. */
  read(): Promise<string | undefined>;
  write(place: string | undefined): Promise<void>;
}

export interface AuditRunDependencies extends AllAuditDependencies {
  readonly cursor: AuditCursor;
}

export interface AuditRun {
  /** Whether every account was read since the pass began. */
  readonly complete: boolean;
}

export interface AuditListener {
  audited(audit: AccountAudit): void;
  /** Reports an account with more records than a run can read. An operator must audit it separately. */
  tooLong(accountId: string): void;
}

/** Number of records of one account that fit into the memory of a process. */
const RECORDS_MAX = 500_000;

/** Error that stops a read because the time is over or the account has too many records. */
class TooLong extends StoreError {
  constructor() {
    super('unavailable', 'no time is left to read more');
  }
}

/** Continues after the previous run, until every account was audited or the time is over. Throws StoreError. */
export const auditUntil = async (
  deps: AuditRunDependencies,
  endsAtMs: number,
  listener: AuditListener,
): Promise<AuditRun> => {
  const { clock, cursor, records } = deps;
  const isOver = (): boolean => clock.now() >= endsAtMs;
  let last = await cursor.read();
  let accounts = 0;
  let complete = true;
  try {
    for await (const { accountId, place } of records.accountPlaces(last)) {
      if (isOver()) {
        complete = false;
        break;
      }
      if (accountId === undefined) {
        last = place;
        continue;
      }
      const audit = await auditAccount({ ...deps, records: bounded(records, isOver) }, accountId).catch(ifTooLong);
      // If the account was not the first one of this run, the next run may have enough time for it.
      if (audit === 'too-long' && isOver() && accounts > 0) {
        complete = false;
        break;
      }
      if (audit === 'too-long') listener.tooLong(accountId);
      else if (audit) listener.audited(audit);
      last = place;
      accounts += 1;
    }
  } catch (error) {
    // The next run continues after this account.
    await cursor.write(last);
    throw error;
  }
  await cursor.write(complete ? undefined : last);
  return { complete };
};

const ifTooLong = (error: unknown): 'too-long' => {
  if (error instanceof TooLong) return 'too-long';
  throw error;
};

/** Limits the time and the number of records of a read. The count restarts when a read of all records begins. */
const bounded = (records: AccountRecords, isOver: () => boolean): AccountRecords => {
  let read = 0;
  return {
    listRecords: async (accountId, range) => {
      if (range.fromHoldId === undefined && range.beforeHoldId === undefined) read = 0;
      if (isOver() || read >= RECORDS_MAX) throw new TooLong();
      const page = await records.listRecords(accountId, range);
      read += page.records.length;
      return page;
    },
    readCredits: (accountId) => records.readCredits(accountId),
    closings: (accountId, throughMonth) => records.closings(accountId, throughMonth),
  };
};
