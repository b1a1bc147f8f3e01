import { accessSync, chmodSync, closeSync, constants, existsSync, openSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { StoreError } from '../../../lambdas/core/errors/store-error.ts';
import { syncFolder } from '../../sync-folder.ts';
import { DAMAGED, reasonOf, sqliteCodeOf } from '../disk-errors.ts';
import { checkOwner, checkWhole, migrate } from './database-file.ts';

/** Integers are bigint: a number cannot hold every int64. */
export type Row = Readonly<Record<string, SQLOutputValue>>;

/** A prepared statement. Parameters are positional. */
export interface Statement {
  get(...parameters: SQLInputValue[]): Row | undefined;
  all(...parameters: SQLInputValue[]): readonly Row[];
  /** Returns the number of rows that changed. */
  run(...parameters: SQLInputValue[]): number;
}

/** A write that waits for the end of the turn of the event loop. Each function but `run` settles it. */
interface QueuedWrite {
  readonly run: () => unknown;
  /** Called after the transaction of `run` was committed. */
  readonly done: () => void;
  /** Runs the write in a transaction of its own. */
  readonly alone: () => void;
  readonly fail: (error: unknown) => void;
}

export interface DatabaseOptions {
  /** Path of the database file. It is created if it does not exist. */
  readonly path: string;
  /** Whether the open reads a file of up to 256 MiB to find damage: about 0.3 s for a million charges. */
  readonly isVerified?: boolean | undefined;
  /** Writes the WAL to the disk. Tests replace it. */
  readonly sync?: (wal: FileHandle) => Promise<void>;
  /** How long a call is retried while another process has the lock. 3,000 ms unless set. */
  readonly retriesMs?: number;
  /**
   * Called when a write fails on a full disk. Returns true if it has freed space: the write is then tried once more.
   */
  readonly onFull?: () => boolean;
  /** Calls back when queued writes run. Default: at the end of the turn of the event loop. */
  readonly soon?: ((run: () => void) => unknown) | undefined;
  /** From 0 up to 1. Spreads the retries of several processes. */
  readonly random?: () => number;
}

/** SQLite's primary result codes. https://sqlite.org/rescode.html */
const BUSY = 5;
const LOCKED = 6;
const READONLY = 8;
const CORRUPT = 11;
const CONSTRAINT = 19;
const FULL = 13;
const NOT_A_DATABASE = 26;

const CLOSED = 'the database is closed';

/** SQLite waits in the event loop, so it waits briefly. The retries after that do not block. */
const BUSY_TIMEOUT_MS = 20;
const RETRIES_MS_DEFAULT = 3_000;
const RETRY_DELAY_MS = 30;
/** Pages of 4 KiB in the WAL before a commit writes them back. */
const CHECKPOINT_PAGES = 4_000;
/** A start must not take longer as the history grows. */
const VERIFIED_BYTES_MAX = 256 * 1024 * 1024;

/**
 * One SQLite database in WAL mode. Several processes may open it.
 *
 * A commit does not wait for the disk. `writeDurably` and `read` resolve after one shared sync has covered everything
 * that they wrote or saw, so that nothing that leaves the process can be lost in a power cut. All methods throw
 * StoreError: `conflict` if nothing was written, `unavailable` if the outcome is unknown. Once SQLite has found damage,
 * every query and write throws, because further use could do more harm.
 */
export class Database {
  readonly #db: DatabaseSync;
  readonly #options: DatabaseOptions;
  readonly #statements = new Map<string, Statement>();
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #rollback: StatementSync;
  readonly #dataVersion: StatementSync;
  #wal: FileHandle | undefined;
  /** Commits of this process, plus one for each time that it saw commits of another process. */
  #commits = 0;
  #syncedCommits = 0;
  #seenDataVersion: bigint | undefined;
  #foreignCommits = 0;
  #syncing: Promise<void> | undefined;
  #queued: QueuedWrite[] = [];
  /** A sync failed, so the WAL on the disk is unknown. A checkpoint writes its pages into the database instead. */
  #needsCheckpoint = false;
  #isDamaged = false;

  private constructor(db: DatabaseSync, options: DatabaseOptions) {
    this.#db = db;
    this.#options = options;
    this.#begin = db.prepare('BEGIN IMMEDIATE');
    this.#commit = db.prepare('COMMIT');
    this.#rollback = db.prepare('ROLLBACK');
    this.#dataVersion = db.prepare('PRAGMA data_version');
    this.#dataVersion.setReadBigInts(true);
  }

  /** Throws an Error in one sentence if the file cannot be opened or written, is damaged, or has a newer schema. */
  static async open(options: DatabaseOptions): Promise<Database> {
    const db = await openWithRetries(options);
    const database = new Database(db, options);
    try {
      database.#wal = await open(`${options.path}-wal`, 'r+');
      chmodSync(`${options.path}-wal`, 0o600);
      await database.#wal.datasync();
      syncFolder(dirname(options.path));
      return database;
    } catch (error) {
      await database.close();
      throw error;
    }
  }

  /** The statement for this SQL, prepared once. */
  sql(text: string): Statement {
    const known = this.#statements.get(text);
    if (known) return known;
    const prepared = this.#db.prepare(text);
    prepared.setReadBigInts(true);
    const statement: Statement = {
      get: (...parameters) => prepared.get(...parameters),
      all: (...parameters) => prepared.all(...parameters),
      run: (...parameters) => Number(prepared.run(...parameters).changes),
    };
    this.#statements.set(text, statement);
    return statement;
  }

  /**
   * Runs `work` in a transaction, which it can share with other writes of the same turn of the event loop. `work` is
   * synchronous and may run more than once. Not durable when it resolves.
   */
  write<T>(work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      let result: T;
      this.#queued.push({
        run: () => (result = work()),
        done: () => resolve(result),
        alone: () => void this.#retry(() => this.#transact(work)).then(resolve, reject),
        fail: reject,
      });
      if (this.#queued.length === 1) (this.#options.soon ?? setImmediate)(() => this.#writeQueued());
    });
  }

  /** Like `write`. Resolves when the disk has what was written, and everything that was written before it. */
  async writeDurably<T>(work: () => T): Promise<T> {
    const result = await this.write(work);
    await this.durable();
    return result;
  }

  /** Runs one query. Resolves when the disk has everything that the query saw. */
  async read<T>(query: () => T): Promise<T> {
    const result = await this.#retry(query);
    await this.durable();
    return result;
  }

  /** Runs one query. A power cut may undo what it read. */
  async peek<T>(query: () => T): Promise<T> {
    return this.#retry(query);
  }

  /** Resolves when the disk has every commit that this process has made or seen so far. */
  async durable(): Promise<void> {
    this.#noteForeignCommits();
    const target = this.#commits;
    while (this.#syncedCommits < target) {
      this.#syncing ??= this.#syncOnce().finally(() => {
        this.#syncing = undefined;
      });
      await this.#syncing;
    }
  }

  /** Throws StoreError (`conflict`) while the disk does not confirm writes. Costs nothing while it does. */
  async checkDisk(): Promise<void> {
    if (!this.#needsCheckpoint) return;
    try {
      await this.durable();
    } catch (error) {
      throw new StoreError('conflict', `${this.#options.path}: the disk does not confirm writes`, error);
    }
  }

  /** Rises when another process has committed. One cheap query. */
  foreignCommits(): number {
    this.#noteForeignCommits();
    return this.#foreignCommits;
  }

  /** The connection, for SQLite's backup. */
  get connection(): DatabaseSync {
    return this.#db;
  }

  async close(): Promise<void> {
    await this.#wal?.close();
    this.#wal = undefined;
    if (this.#db.isOpen) this.#db.close();
  }

  /**
   * Runs the writes of one turn of the event loop in one transaction, because beginning and committing cost more than a
   * write. If one of them throws, nothing is written, and each runs in a transaction of its own.
   */
  #writeQueued(): void {
    const writes = this.#queued;
    this.#queued = [];
    if (writes.length === 1) {
      writes[0]?.alone();
      return;
    }
    try {
      this.#unlessDamaged(() => this.#transact(() => writes.map(({ run }) => run())));
      for (const { done } of writes) done();
    } catch (error) {
      const code = sqliteCodeOf(error);
      // After any other error of SQLite the outcome is unknown, so nothing is repeated.
      const isUndone = code === undefined || code === CONSTRAINT || code === FULL || isLocked(code);
      for (const { alone, fail } of writes) {
        if (isUndone) alone();
        else fail(toStoreError(error, code));
      }
    }
  }

  #transact<T>(work: () => T): T {
    this.#begin.run();
    try {
      const result = work();
      this.#commit.run();
      this.#commits += 1;
      return result;
    } catch (error) {
      if (this.#db.isTransaction) this.#rollback.run();
      throw error;
    }
  }

  async #retry<T>(work: () => T): Promise<T> {
    const endsAtMs = performance.now() + (this.#options.retriesMs ?? RETRIES_MS_DEFAULT);
    let mayFreeSpace = true;
    for (;;) {
      try {
        return this.#unlessDamaged(work);
      } catch (error) {
        const code = sqliteCodeOf(error);
        if (code === FULL && mayFreeSpace && this.#options.onFull?.()) {
          mayFreeSpace = false;
          continue;
        }
        if (!isLocked(code) || performance.now() >= endsAtMs) throw toStoreError(error, code);
      }
      await sleep(RETRY_DELAY_MS * (0.5 + (this.#options.random ?? Math.random)()));
    }
  }

  #unlessDamaged<T>(work: () => T): T {
    if (!this.#db.isOpen) throw new StoreError('conflict', CLOSED);
    if (this.#isDamaged) throw new StoreError('conflict', `${this.#options.path}: ${DAMAGED}`);
    try {
      return work();
    } catch (error) {
      const code = sqliteCodeOf(error);
      this.#isDamaged = code === CORRUPT || code === NOT_A_DATABASE;
      throw error;
    }
  }

  #noteForeignCommits(): void {
    const version = this.#readDataVersion();
    if (typeof version !== 'bigint' || version === this.#seenDataVersion) return;
    this.#seenDataVersion = version;
    this.#foreignCommits += 1;
    this.#commits += 1;
  }

  #readDataVersion(): SQLOutputValue | undefined {
    if (!this.#db.isOpen) throw new StoreError('unavailable', CLOSED);
    try {
      return this.#dataVersion.get()?.data_version;
    } catch (error) {
      throw toStoreError(error, sqliteCodeOf(error));
    }
  }

  async #syncOnce(): Promise<void> {
    const covered = this.#commits;
    try {
      if (this.#needsCheckpoint) this.#checkpoint();
      else await this.#syncWal();
      this.#syncedCommits = covered;
    } catch (error) {
      this.#needsCheckpoint = true;
      throw new StoreError('unavailable', 'the disk did not confirm a write', error);
    }
  }

  async #syncWal(): Promise<void> {
    if (!this.#wal) throw new Error(CLOSED);
    await (this.#options.sync ?? syncData)(this.#wal);
  }

  /** SQLite syncs the database file after it has copied every page of the WAL into it. */
  #checkpoint(): void {
    const result = this.sql('PRAGMA wal_checkpoint(TRUNCATE)').get();
    if (result?.busy !== 0n) throw new Error('the checkpoint did not complete');
    this.#needsCheckpoint = false;
  }
}

const syncData = (wal: FileHandle): Promise<void> => wal.datasync();

/** SQLite fails without waiting while another process creates the same file. */
const openWithRetries = async (options: DatabaseOptions): Promise<DatabaseSync> => {
  const { path, retriesMs = RETRIES_MS_DEFAULT } = options;
  const endsAtMs = performance.now() + retriesMs;
  for (;;) {
    try {
      return openFile(options);
    } catch (error) {
      if (!isLocked(sqliteCodeOf(error)) || performance.now() >= endsAtMs)
        throw new Error(`${path} cannot be opened: ${reasonOf(error)}`, { cause: error });
    }
    await sleep(RETRY_DELAY_MS);
  }
};

const openFile = ({ path, isVerified }: DatabaseOptions): DatabaseSync => {
  let db: DatabaseSync | undefined;
  try {
    // SQLite opens a read-only file too, and fails at the first write.
    if (existsSync(path)) accessSync(path, constants.W_OK);
    // Created with its mode, so that it is never readable by others.
    else closeSync(openSync(path, 'a', 0o600));
    db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
    checkOwner(db);
    db.exec('PRAGMA journal_mode = WAL');
    db.exec('PRAGMA synchronous = NORMAL');
    db.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    if (process.platform === 'darwin') db.exec('PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON');
    migrate(db);
    if (isVerified && statSync(path).size <= VERIFIED_BYTES_MAX) checkWhole(db);
    return db;
  } catch (error) {
    db?.close();
    throw error;
  }
};

const isLocked = (code: number | undefined): boolean => code === BUSY || code === LOCKED;

/** Converts an error of SQLite to a StoreError. Any other error is a bug and is returned unchanged. */
const toStoreError = (error: unknown, code: number | undefined): unknown => {
  if (code === undefined) return error;
  const isCertain = isLocked(code) || code === FULL || code === READONLY;
  return new StoreError(isCertain ? 'conflict' : 'unavailable', `SQLite: ${reasonOf(error)}`, error);
};

/** Column readers. They throw an Error that names the column. */
export const textOf = (row: Row, column: string): string => {
  const value = row[column];
  if (typeof value === 'string') return value;
  throw new Error(`a stored row has no text "${column}"`);
};

export const optionalTextOf = (row: Row, column: string): string | undefined =>
  row[column] === null ? undefined : textOf(row, column);

export const bigintOf = (row: Row, column: string): bigint => {
  const value = row[column];
  if (typeof value === 'bigint') return value;
  throw new Error(`a stored row has no integer "${column}"`);
};

/** Throws an Error if the integer is not safe: above 2^53 - 1, or below its negative. */
export const numberOf = (row: Row, column: string): number => {
  const value = Number(bigintOf(row, column));
  if (Number.isSafeInteger(value)) return value;
  throw new Error(`the stored "${column}" is too large for a number`);
};

export const optionalNumberOf = (row: Row, column: string): number | undefined =>
  row[column] === null ? undefined : numberOf(row, column);

/** Booleans are 0 and 1. */
export const booleanOf = (row: Row, column: string): boolean => bigintOf(row, column) === 1n;
