import { constants, existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, open, readdir, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { type DataFolder, hasRoom, joinDataFolder } from './data-folder.ts';
import { DATABASE_FILE } from './embedded-stores.ts';
import { reasonOf } from './stores/disk-errors.ts';
import { checkOwner, checkWhole } from './stores/sqlite/database-file.ts';
import { syncFolder } from './sync-folder.ts';

/** Copies all pages in one step, because SQLite restarts a stepwise copy whenever another process writes. */
const ALL_PAGES = 2 ** 31 - 1;
const MARKER = '.model-gateway';

/**
 * Copies a data folder that may be in use into a new folder, with its secrets. The copy contains the charge of every
 * request that was answered before the call. On failure it removes the partial copy and throws an Error whose message
 * is one sentence.
 */
export const backUp = async (dataFolder: string, target: string): Promise<void> => {
  if (!hasRoom(dataFolder, 'database')) {
    throw new Error(`${dataFolder} holds no database of a local gateway. Set DATA_DIR to its data folder.`);
  }
  const to = resolve(target);
  await mkdir(to, { mode: 0o700 }).catch((error: unknown) => {
    throw new Error(`${to} cannot be created: ${whyNot(error)}. Name a new folder in a folder that exists.`);
  });
  let folder: DataFolder | undefined;
  try {
    folder = joinDataFolder(dataFolder);
    if (!existsSync(join(folder.path, 'secrets', 'pepper'))) {
      throw new Error(`${folder.path} has lost secrets/pepper, and no API key works without it. Restore it first.`);
    }
    await copyAll(folder, to);
    await syncAll(to);
    syncFolder(dirname(to));
  } catch (error) {
    await rm(to, { recursive: true, force: true });
    throw error;
  } finally {
    folder?.close();
  }
};

/**
 * Copies the outbox before the database, because an outbox entry is removed only after the database has its charge:
 * each entry that exists at the start is in the first copy, or its charge is in the copied database. Copies the outbox
 * again for the entries that were written later.
 */
const copyAll = async (folder: DataFolder, to: string): Promise<void> => {
  const files = folder.room('files');
  const copy = (name: string) => copyFolder(join(files, name), join(to, 'files', name));
  await copy('outbox');
  await copyDatabase(join(folder.room('database'), DATABASE_FILE), join(to, 'database'));
  for (const name of ['outbox', 'answers', 'media', 'videos']) await copy(name);
  await copyFolder(folder.room('secrets'), join(to, 'secrets'));
  await copyOne(join(folder.path, MARKER), join(to, MARKER));
};

const copyDatabase = async (from: string, to: string): Promise<void> => {
  await mkdir(to, { recursive: true, mode: 0o700 });
  const path = join(to, DATABASE_FILE);
  try {
    await withDatabase(from, async (db) => {
      checkOwner(db);
      await backup(db, path, { rate: ALL_PAGES });
    });
    // SQLite copies damaged pages too.
    await withDatabase(path, async (db) => checkWhole(db));
  } catch (error) {
    throw new Error(`${from} cannot be copied: ${reasonOf(error)}`, { cause: error });
  }
  await chmod(path, 0o600);
};

const withDatabase = async (path: string, work: (db: DatabaseSync) => Promise<void>): Promise<void> => {
  const db = new DatabaseSync(path);
  try {
    await work(db);
  } finally {
    db.close();
  }
};

const copyFolder = async (from: string, to: string): Promise<void> => {
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const name of await readdir(from).catch(ignoreMissing)) {
    // A dot marks a file that is still being written.
    if (!name.startsWith('.')) await copyOne(join(from, name), join(to, name)).catch(ignoreMissing);
  }
};

/** Makes a folder and its contents durable. */
const syncAll = async (folder: string): Promise<void> => {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await syncAll(path);
    else {
      const file = await open(path, 'r+');
      await file.sync().finally(() => file.close());
    }
  }
  syncFolder(folder);
};

const copyOne = async (from: string, to: string): Promise<void> => {
  await copyFile(from, to, constants.COPYFILE_FICLONE);
  await chmod(to, 0o600);
};

/** The gateway may remove a file at any time. */
const ignoreMissing = (error: unknown): string[] => {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
  throw error;
};

const whyNot = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error && error.code === 'EEXIST' ? 'it exists already' : error.message;
};
