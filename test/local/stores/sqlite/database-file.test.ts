import {
  chmodSync,
  closeSync,
  openSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { Database } from '../../../../local/stores/sqlite/database.ts';
import { newDatabasePath, openTestDatabase } from '../../../support/sqlite.ts';

/** Returns the path of a closed database without rows. */
const createFile = async (): Promise<string> => {
  const path = newDatabasePath();
  const db = await openTestDatabase({ path });
  await db.close();
  return path;
};

/** Ways to make a file unusable, each with the expected error. */
const unusable: readonly [string, (path: string) => void, RegExp][] = [
  [
    'a newer schema',
    (path) => void withSql(path, 'PRAGMA user_version = 2'),
    /^its schema is version 2, and this program knows 1\. Use the newer program\.$/,
  ],
  [
    'another application id',
    (path) => void withSql(path, 'PRAGMA application_id = 7'),
    /^it belongs to another program\.$/,
  ],
  ['other text', (path) => writeFileSync(path, 'some notes'), /^it is not a database\. Restore a backup\.$/],
  [
    'other text at its start',
    (path) => overwrite(path, 0, Buffer.from('some notes')),
    /^it is not a database\. Restore a backup\.$/,
  ],
  ['a missing end', (path) => truncateSync(path, 40_000), /^it is damaged\. Restore a backup\.$/],
  [
    'garbage in its last page',
    (path) => overwrite(path, statSync(path).size - 4_096, Buffer.alloc(4_096, 0xa5)),
    /^it is damaged\. Restore a backup\.$/,
  ],
];

const overwrite = (path: string, position: number, bytes: Uint8Array): void => {
  const file = openSync(path, 'r+');
  writeSync(file, bytes, 0, bytes.length, position);
  closeSync(file);
};

const withSql = (path: string, sql: string): void => {
  const db = new DatabaseSync(path);
  db.exec(sql);
  db.close();
};

test.each(unusable)('OPS-7 a file with %s is rejected in one line and stays as it is', async (_name, spoil, reason) => {
  const path = await createFile();
  spoil(path);
  const before = readFileSync(path);
  const failure = await Database.open({ path, isVerified: true }).catch((error: unknown) => error);
  if (!(failure instanceof Error)) throw new Error('the file was opened');
  const [file, text] = failure.message.split(' cannot be opened: ');
  expect(file).toBe(path);
  expect(text).toMatch(reason);
  expect(readFileSync(path).equals(before)).toBe(true);
});

/** Skipped for root, which may write to a read-only file. */
test.skipIf(process.platform === 'win32' || process.getuid?.() === 0)(
  'OPS-7 a read-only file is rejected',
  async () => {
    const path = await createFile();
    chmodSync(path, 0o400);
    await expect(Database.open({ path })).rejects.toThrow(
      `${path} cannot be opened: permission denied. Run the program`,
    );
  },
);

test("OPS-7 another program's database of the same version is rejected and stays as it is", async () => {
  const path = newDatabasePath();
  withSql(path, 'CREATE TABLE notes (id INTEGER); PRAGMA user_version = 1');
  const before = readFileSync(path);
  await expect(Database.open({ path })).rejects.toThrow(`${path} cannot be opened: it belongs to another program.`);
  expect(readFileSync(path).equals(before)).toBe(true);
});

test('OPS-7 a database is opened while another process creates it', async () => {
  const path = newDatabasePath();
  const creator = new DatabaseSync(path);
  creator.exec('BEGIN EXCLUSIVE; CREATE TABLE unfinished (id INTEGER)');
  const opening = openTestDatabase({ path });
  setImmediate(() => creator.exec('ROLLBACK'));
  const db = await opening;
  await db.writeDurably(() => db.sql("INSERT INTO facts (name, value) VALUES ('one', '')").run());
  expect(await db.read(() => db.sql('SELECT name FROM facts').all())).toEqual([{ name: 'one' }]);
  await db.close();
  creator.close();
});
