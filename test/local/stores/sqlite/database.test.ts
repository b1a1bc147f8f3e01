import { closeSync, openSync, statSync, writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, expect, test } from 'vitest';
import { type Database, type DatabaseOptions, textOf } from '../../../../local/stores/sqlite/database.ts';
import { newDatabasePath, openTestDatabase } from '../../../support/sqlite.ts';

const opened: Database[] = [];
const others: DatabaseSync[] = [];
afterEach(async () => {
  for (const db of opened.splice(0)) await db.close();
  for (const other of others.splice(0)) other.close();
});

/** Opens a database that counts its syncs. Each sync runs `sync`. */
const openOne = async (sync = async (): Promise<void> => undefined, options: Partial<DatabaseOptions> = {}) => {
  const path = options.path ?? newDatabasePath();
  const counted = { syncs: 0 };
  const db = await openTestDatabase({
    random: () => 0,
    sync: async () => {
      counted.syncs += 1;
      await sync();
    },
    ...options,
    path,
  });
  opened.push(db);
  return { db, path, counted };
};
const openOther = (path: string): DatabaseSync => {
  const other = new DatabaseSync(path);
  others.push(other);
  return other;
};
const put = (db: Database, name: string) => () =>
  db.sql('INSERT INTO facts (name, value) VALUES (?, ?)').run(name, 'value');
const namesIn = (db: Database) => () =>
  db
    .sql('SELECT name FROM facts ORDER BY name')
    .all()
    .map((row) => textOf(row, 'name'));

test('BILL-14 OPS-7 a write under the lock of another process is a conflict and writes nothing', async () => {
  const { db, path } = await openOne(undefined, { retriesMs: 0 });
  const other = openOther(path);
  other.exec('BEGIN IMMEDIATE');
  await expect(db.writeDurably(put(db, 'one'))).rejects.toMatchObject({ name: 'StoreError', kind: 'conflict' });
  expect(await db.read(namesIn(db))).toEqual([]);
  other.exec('COMMIT');
  await db.writeDurably(put(db, 'two'));
  expect(await db.read(namesIn(db))).toEqual(['two']);
});

test('OPS-7 a write waits for the lock of another process without blocking the event loop', async () => {
  const { db, path } = await openOne();
  const other = openOther(path);
  other.exec('BEGIN IMMEDIATE');
  const written = db.write(put(db, 'one'));
  setImmediate(() => other.exec('COMMIT'));
  await written;
  expect(await db.peek(namesIn(db))).toEqual(['one']);
});

test('OPS-8 the writes of one turn share a transaction, and each gets its own result', async () => {
  const { db, path } = await openOne();
  const { db: other } = await openOne(undefined, { path });
  const before = other.foreignCommits();
  const changes = await Promise.all(['one', 'two', 'three'].map((name) => db.write(put(db, name))));
  const names = await Promise.all([db.write(namesIn(db)), db.write(() => 'result')]);
  expect([changes, names]).toEqual([
    [1, 1, 1],
    [['one', 'three', 'two'], 'result'],
  ]);
  expect(other.foreignCommits()).toBe(before + 1);
});

test('BILL-14 a write that throws neither loses nor doubles the other writes of its turn', async () => {
  const { db } = await openOne();
  const error = new Error('a mistake');
  const fail = (): void => {
    put(db, 'lost')();
    throw error;
  };
  const ended = await Promise.allSettled([
    db.write(put(db, 'one')),
    db.write(fail),
    db.write(put(db, 'one')),
    db.writeDurably(put(db, 'two')),
  ]);
  expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
  expect(ended[1]).toMatchObject({ reason: error });
  expect(await db.peek(namesIn(db))).toEqual(['one', 'two']);
});

test('a transaction that throws writes nothing and keeps its error', async () => {
  const { db } = await openOne();
  const error = new Error('a mistake');
  const work = () => {
    put(db, 'one')();
    throw error;
  };
  await expect(db.write(work)).rejects.toBe(error);
  await db.write(put(db, 'two'));
  expect(await db.peek(namesIn(db))).toEqual(['two']);
});

test('OPS-8 concurrent durable writes share a sync, and a write during a sync waits for the next', async () => {
  const gates: (() => void)[] = [];
  const { db, counted } = await openOne(() => new Promise((resolve) => gates.push(resolve)));
  const ended: string[] = [];
  const write = (name: string) => db.writeDurably(put(db, name)).then(() => ended.push(name));
  const early = Array.from({ length: 50 }, (_, index) => write(`early-${index}`));
  expect(gates).toHaveLength(0);
  await expect.poll(() => counted.syncs).toBe(1);
  const late = write('late');
  await expect.poll(() => db.peek(namesIn(db))).toContain('late');
  gates[0]?.();
  await Promise.all(early);
  expect(ended).toHaveLength(50);
  await expect.poll(() => counted.syncs).toBe(2);
  gates[1]?.();
  await late;
  expect(counted.syncs).toBe(2);
});

test('OPS-8 a read syncs the writes of another process that it saw, once', async () => {
  const { db: writer, path } = await openOne();
  const { db, counted } = await openOne(undefined, { path });
  await db.durable();
  counted.syncs = 0;
  const before = db.foreignCommits();
  await writer.write(put(writer, 'one'));
  expect(await db.read(namesIn(db))).toEqual(['one']);
  expect([counted.syncs, db.foreignCommits()]).toEqual([1, before + 1]);
  await db.read(namesIn(db));
  expect(counted.syncs).toBe(1);
});

test('BILL-14 OPS-8 a failed sync leaves the outcome unknown; the next call runs a checkpoint', async () => {
  let isBroken = true;
  const { db, path, counted } = await openOne(async () => {
    if (isBroken) throw new Error('EIO');
  });
  const unknown = { name: 'StoreError', kind: 'unavailable' };
  const calls = [db.writeDurably(put(db, 'one')), db.writeDurably(put(db, 'two'))];
  for (const settled of await Promise.allSettled(calls))
    expect(settled).toMatchObject({ status: 'rejected', reason: unknown });
  isBroken = false;
  counted.syncs = 0;

  // A reader holds pages of the WAL, so the checkpoint cannot complete.
  const reader = openOther(path);
  reader.exec('BEGIN; SELECT * FROM facts');
  await expect(db.read(namesIn(db))).rejects.toMatchObject(unknown);
  reader.exec('COMMIT');

  expect(await db.read(namesIn(db))).toEqual(['one', 'two']);
  // After the error the disk's state of the WAL is unknown, so a sync of it would prove nothing.
  expect([counted.syncs, statSync(`${path}-wal`).size]).toEqual([0, 0]);
  await db.writeDurably(put(db, 'three'));
  expect(counted.syncs).toBe(1);
});

test('BILL-14 OPS-9 a full disk is a conflict, after one retry if space was freed', async () => {
  const freed = [true, false];
  const { db } = await openOne(undefined, { onFull: () => freed.shift() ?? false });
  const { page_count: pages } = db.sql('PRAGMA page_count').get() ?? {};
  db.connection.exec(`PRAGMA max_page_count = ${pages}`);
  const large = () => db.sql('INSERT INTO facts (name, value) VALUES (?, ?)').run('large', 'x'.repeat(100_000));
  await expect(db.write(large)).rejects.toMatchObject({ name: 'StoreError', kind: 'conflict' });
  expect(freed).toEqual([false]);
  db.connection.exec('PRAGMA max_page_count = 10000');
  expect(await db.write(large)).toBe(1);
});

test('BILL-14 after SQLite has found damage, every call fails and writes nothing', async () => {
  const { db, path } = await openOne();
  const store = (name: string) => () =>
    db.sql('INSERT INTO facts (name, value) VALUES (?, ?)').run(name, 'x'.repeat(100_000));
  await db.writeDurably(put(db, 'one'));
  await db.writeDurably(store('large'));
  db.sql('PRAGMA wal_checkpoint(TRUNCATE)').get();
  // A commit of another connection makes this one read its pages again.
  openOther(path).exec("INSERT INTO facts (name, value) VALUES ('other', '')");
  // The end of the file has only pages of the large text.
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(40_960, 0xa5), 0, 40_960, statSync(path).size - 40_960);
  closeSync(file);
  const readLarge = () => db.sql("SELECT value FROM facts WHERE name = 'large'").get();
  await expect(db.read(readLarge)).rejects.toMatchObject({ name: 'StoreError', kind: 'unavailable' });
  const refusal = { name: 'StoreError', kind: 'conflict', message: `${path}: it is damaged. Restore a backup.` };
  await expect(db.writeDurably(put(db, 'two'))).rejects.toMatchObject(refusal);
  await expect(db.peek(() => db.sql('SELECT 1 AS one').get())).rejects.toMatchObject(refusal);
});

test.skipIf(process.platform === 'win32')('OPS-7 no other user can read the files of a database', async () => {
  const { db, path } = await openOne();
  await db.writeDurably(put(db, 'one'));
  for (const file of [path, `${path}-wal`, `${path}-shm`]) expect(statSync(file).mode & 0o777).toBe(0o600);
});
