import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { stopOrphan } from './child-process.ts';
import { lockFolder, lockHolder } from './folder-lock.ts';
import { isRunning, processIdentity } from './process-identity.ts';
import { reasonOf } from './stores/disk-errors.ts';
import { syncFolder } from './sync-folder.ts';

/** Folders that the program makes in its data folder. A reset removes these and nothing else. */
const roomNames = ['database', 'files', 'dynamodb', 'media', 'secrets'] as const;
export type RoomName = (typeof roomNames)[number];

const markerName = '.model-gateway';
const MARKER_TEXT = 'Data of a local model gateway. `npm start -- --reset` clears it.\n';
const processesName = 'processes';

/** A data folder that this process uses. */
export type DataFolder = {
  /** Absolute. */
  readonly path: string;
  /** Returns the path of a folder inside the data folder. Creates the folder if it does not exist. */
  room(name: RoomName): string;
  close(): void;
};

/** Opens the folder for this process alone. Throws an Error that names the process that uses it. */
export function openDataFolder(folder: string): DataFolder {
  const path = prepare(folder);
  const close = usable(path, () => lockFolder(path));
  const [pid] = livingProcesses(path);
  if (pid === undefined) return toDataFolder(path, close);
  close();
  throw inUse(path, pid);
}

/** Opens the folder for shared use. Throws an Error if a process has opened it exclusively. */
export function joinDataFolder(folder: string): DataFolder {
  const path = prepare(folder);
  const processes = join(path, processesName);
  const name = randomUUID();
  const own = join(processes, name);
  const close = (): void => rmSync(own, { force: true });
  try {
    mkdirSync(processes, { recursive: true, mode: 0o700 });
    // Renames the draft, so that no process reads an incomplete entry.
    const draft = join(processes, `.${name}`);
    writeFileSync(draft, processIdentity(process.pid) ?? String(process.pid), { mode: 0o600 });
    renameSync(draft, own);
    // Removes the entries of processes that have ended.
    livingProcesses(path);
  } catch (error) {
    close();
    throw unusable(path, error);
  }
  const holder = lockHolder(path);
  if (holder === undefined) return toDataFolder(path, close);
  close();
  throw inUse(path, holder);
}

/** Whether the folder holds data of this kind. */
export const hasRoom = (folder: string, name: RoomName): boolean => existsSync(join(folder, name));

function prepare(folder: string): string {
  const path = resolve(folder);
  usable(path, () => mkdirSync(path, { recursive: true, mode: 0o700 }));
  claim(path);
  return path;
}

function usable<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw unusable(path, error);
  }
}

/** Converts a system error to an Error that names the folder and the fix. Returns any other error unchanged. */
const unusable = (path: string, error: unknown): unknown =>
  error instanceof Error && 'code' in error
    ? new Error(`${path} cannot be used: ${reasonOf(error)}`, { cause: error })
    : error;

const inUse = (path: string, pid: number): Error => new Error(`${path} is in use by process ${pid}. Stop it first.`);

const toDataFolder = (path: string, close: () => void): DataFolder => ({
  path,
  room(name) {
    const room = join(path, name);
    usable(path, () => mkdirSync(room, { recursive: true, mode: 0o700 }));
    return room;
  },
  close,
});

/** Pids of the processes that have joined the folder. Removes the entries of those that have ended. */
function livingProcesses(path: string): readonly number[] {
  const folder = join(path, processesName);
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => !name.startsWith('.'));
  return names.flatMap((name) => {
    const file = join(folder, name);
    const identity = readOrEmpty(file);
    if (isRunning(identity)) return [Number.parseInt(identity, 10)];
    rmSync(file, { force: true });
    return [];
  });
}

/** Another process may remove the file first. */
function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** Removes what the program made in the folder and nothing else. Stops a database that it left running there. */
export async function resetDataFolder(folder: string): Promise<void> {
  if (!existsSync(folder)) return;
  const data = openDataFolder(folder);
  try {
    for (const name of roomNames) await stopOrphan(join(data.path, name));
    for (const name of roomNames) rmSync(join(data.path, name), { recursive: true, force: true });
    rmSync(join(data.path, processesName), { recursive: true, force: true });
  } finally {
    data.close();
  }
}

/**
 * Returns the secret with this name. The first call creates it, and it is never replaced. Concurrent first calls of two
 * processes return the same secret.
 */
export function readOrCreateSecret(folder: DataFolder, name: string, make: () => string): string {
  const path = join(folder.room('secrets'), name);
  if (!existsSync(path)) {
    const draft = `${path}.${randomUUID()}`;
    try {
      writeFileSync(draft, make(), { mode: 0o600, flush: true });
      linkSync(draft, path);
      // Syncs the folders, because a power cut must not lose the name of the file: without the pepper no API key works.
      for (const name of [dirname(path), folder.path, dirname(folder.path)]) syncFolder(name);
    } catch (error) {
      if (!existsSync(path)) throw new Error(`${path} cannot be written: ${reasonOf(error)}`, { cause: error });
    } finally {
      rmSync(draft, { force: true });
    }
  }
  const secret = readFileSync(path, 'utf8').trim();
  if (secret === '') throw new Error(`${path} is empty. Delete it and start again: the program makes a new one.`);
  return secret;
}

/**
 * Marks an empty folder as a folder of this program. Refuses a folder with foreign files, because a reset or a change
 * of the file mode could harm them.
 */
function claim(path: string): void {
  const entries = usable(path, () => readdirSync(path));
  if (!entries.includes(markerName)) {
    if (entries.length > 0) {
      throw new Error(`${path} is not empty and was not made by this program. Name another folder, or empty it.`);
    }
    usable(path, () => writeFileSync(join(path, markerName), MARKER_TEXT, { mode: 0o600 }));
  }
  usable(path, () => chmodSync(path, 0o700));
}
