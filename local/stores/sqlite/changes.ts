import type { BalanceChange } from '../../../lambdas/core/accounts/low-balance.ts';
import type { NotificationOutcome } from '../../../lambdas/core/accounts/send-notifications.ts';
import type { Clock } from '../../../lambdas/core/clock.ts';
import { StoreError } from '../../../lambdas/core/errors/store-error.ts';
import type { Account, ChargeRecord } from '../../../lambdas/core/ledger/ledger.ts';
import { SKEW_MS_MAX } from '../../../lambdas/core/store-clock.ts';
import { readAccount } from './account-rows.ts';
import { bigintOf, type Database, numberOf, type Row, textOf } from './database.ts';
import { readRecord } from './ledger-store.ts';

/** Change of an account since its last known state, by one or more writes. `before` is undefined for a new account. */
export interface FollowedChange {
  readonly before: Account | undefined;
  readonly after: Account;
  readonly recordOf: (holdId: string) => ChargeRecord | undefined;
}

/** Accounts whose last state is remembered, to see what another process has changed. */
const KNOWN_MAX = 1_000;

/**
 * Finds changes of accounts by other processes. `take` costs one cheap query while no other process has written.
 * Several writes of one account between two calls are one change.
 */
export const createForeignChanges = (db: Database) => {
  const known = new Map<string, Account>();
  let seenCommits = db.foreignCommits();
  let seenChange = 0n;
  /** Whether the last read stopped at its limit, so that newer changes may be left. */
  let isBehind = false;

  const remember = (account: Account): void => {
    known.delete(account.id);
    known.set(account.id, account);
    const [oldest] = known.keys();
    if (oldest !== undefined && known.size > KNOWN_MAX) known.delete(oldest);
  };

  const readSince = (change: bigint): readonly Account[] => {
    const rows = db
      .sql('SELECT id, change FROM accounts WHERE change > ? ORDER BY change LIMIT ?')
      .all(change, KNOWN_MAX);
    isBehind = rows.length === KNOWN_MAX;
    const last = rows.at(-1);
    if (last) seenChange = bigintOf(last, 'change');
    return rows.flatMap((row) => readAccount(db, textOf(row, 'id')) ?? []);
  };

  const toChange = (after: Account): FollowedChange | undefined => {
    const before = known.get(after.id);
    remember(after);
    // Skips a state that is already known, and a later write of an unknown account, whose previous state is not known.
    if (before?.version === after.version || (!before && after.version > 1)) return undefined;
    const gone = [...(before?.holds.keys() ?? [])].filter((holdId) => !after.holds.has(holdId));
    const records = new Map(gone.map((holdId) => [holdId, readRecord(db, after.id, holdId)]));
    return { before, after, recordOf: (holdId) => records.get(holdId) };
  };

  return {
    /** Remembers the accounts that changed last. To be called once, before `take`. */
    start: (): Promise<void> =>
      db.peek(() => {
        const { newest } = db.sql('SELECT max(change) AS newest FROM accounts').get() ?? {};
        const from = typeof newest === 'bigint' ? newest - BigInt(KNOWN_MAX) : 0n;
        for (const account of readSince(from)) remember(account);
      }),
    /** Keeps a state that this process has written. */
    remember,
    take: async (): Promise<readonly FollowedChange[]> => {
      const commits = db.foreignCommits();
      if (commits === seenCommits && !isBehind) return [];
      seenCommits = commits;
      return db.peek(() => readSince(seenChange).flatMap((account) => toChange(account) ?? []));
    },
  };
};

/** Longer than one attempt to send takes. */
const LEASE_MS = 60_000;
const RETRY_MS = 1_000;
const RETRY_MS_MAX = 300_000;
const ATTEMPTS_MAX = 20;

interface LowBalanceOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly send: (change: BalanceChange) => Promise<NotificationOutcome>;
  readonly report: (outcome: 'notice_failed' | 'notice_refused', accountId: string, reason: string) => void;
}

/**
 * Sends every notification that is due, the oldest first, and returns how many it tried. A notification is removed once
 * it is sent or refused; after a failure it is tried again later, by any process.
 */
export const sendLowBalances = async (db: Database, options: LowBalanceOptions): Promise<number> => {
  for (let tried = 0; ; tried += 1) {
    const row = await lease(db, options.clock.now());
    if (!row) return tried;
    const change = toBalanceChange(row);
    const outcome = await options.send(change).catch(toFailure);
    if (outcome.kind !== 'done') {
      options.report(outcome.kind === 'failed' ? 'notice_failed' : 'notice_refused', change.accountId, outcome.reason);
    }
    await db.write(() => end(db, row, outcome, options.clock.now()));
  }
};

/** Without a bot nothing sends notifications. */
export const forgetLowBalances = async (db: Database): Promise<void> => {
  if (await db.peek(() => db.sql('SELECT 1 FROM low_balances LIMIT 1').get())) {
    await db.write(() => db.sql('DELETE FROM low_balances').run());
  }
};

/** A wait that ends later than any wait from now on started before the clock was set back. */
const DUE = `SELECT id FROM low_balances WHERE leased_until <= ?1 OR leased_until > ?1 + ${RETRY_MS_MAX + SKEW_MS_MAX} ORDER BY id LIMIT 1`;

/** Looks before it writes: most of the time nothing is due. */
const lease = async (db: Database, nowMs: number): Promise<Row | undefined> => {
  if (!(await db.peek(() => db.sql(DUE).get(nowMs)))) return undefined;
  return db.write(() =>
    db
      .sql(`UPDATE low_balances SET leased_until = ?2, attempts = attempts + 1 WHERE id = (${DUE}) RETURNING *`)
      .get(nowMs, nowMs + LEASE_MS),
  );
};

const end = (db: Database, row: Row, outcome: NotificationOutcome, nowMs: number): void => {
  const id = bigintOf(row, 'id');
  const attempts = numberOf(row, 'attempts');
  if (outcome.kind !== 'failed' || attempts >= ATTEMPTS_MAX) db.sql('DELETE FROM low_balances WHERE id = ?').run(id);
  else {
    const delayMs = Math.min(RETRY_MS * 2 ** (attempts - 1), RETRY_MS_MAX);
    db.sql('UPDATE low_balances SET leased_until = ? WHERE id = ?').run(nowMs + delayMs, id);
  }
};

const toBalanceChange = (row: Row): BalanceChange => ({
  accountId: textOf(row, 'account_id'),
  chatId: textOf(row, 'chat_id'),
  version: numberOf(row, 'version'),
  beforePicos: bigintOf(row, 'before'),
  afterPicos: bigintOf(row, 'after'),
  thresholdPicos: bigintOf(row, 'threshold'),
});

const toFailure = (error: unknown): NotificationOutcome => {
  if (!(error instanceof StoreError)) throw error;
  return { kind: 'failed', reason: `the store: ${error.kind}` };
};
