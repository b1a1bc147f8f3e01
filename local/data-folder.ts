import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, linkSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { stopOrphan } from './child-process.ts';
import { lockFolder } from './folder-lock.ts';

/** All that the program ever makes in its folder, each a folder of its own, so that a reset knows what is ours. */
const roomNames = ['dynamodb', 'media', 'secrets'] as const;
export type RoomName = (typeof roomNames)[number];

const markerName = '.model-gateway';

/** A data folder that this process holds the lock of. */
export type DataFolder = {
  /** Absolute. */
  readonly path: string;
  /** The folder of one stand-in, created on demand. */
  room(name: RoomName): string;
  /** Gives the lock back. */
  close(): void;
};

/** Opens the folder for this process alone; a second living process gets an error that names the first. */
export function openDataFolder(folder: string): DataFolder {
  const path = resolve(folder);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  claim(path);
  const close = lockFolder(path);
  return {
    path,
    room(name) {
      const room = join(path, name);
      mkdirSync(room, { recursive: true, mode: 0o700 });
      return room;
    },
    close,
  };
}

/** Removes what the program made in its folder and nothing else; whatever it left running there is stopped first. */
export async function resetDataFolder(folder: string): Promise<void> {
  if (!existsSync(folder)) return;
  const data = openDataFolder(folder);
  try {
    for (const name of roomNames) await stopOrphan(join(data.path, name));
    for (const name of roomNames) rmSync(join(data.path, name), { recursive: true, force: true });
  } finally {
    data.close();
  }
}

/**
 * The secret kept under this name, made at the first call and never replaced. The file appears whole or not at all, and
 * of two makers the first one's secret is what both get.
 */
export function readOrCreateSecret(folder: DataFolder, name: string, make: () => string): string {
  const path = join(folder.room('secrets'), name);
  if (!existsSync(path)) {
    const draft = `${path}.${randomUUID()}`;
    writeFileSync(draft, make(), { mode: 0o600, flush: true });
    try {
      linkSync(draft, path);
    } catch (error) {
      if (!existsSync(path)) throw error;
    } finally {
      rmSync(draft, { force: true });
    }
  }
  const secret = readFileSync(path, 'utf8').trim();
  if (secret === '') throw new Error(`${path} is empty; delete it and start again, and a new one is made.`);
  return secret;
}

/** A folder with somebody else's files in it is refused: a reset there, or a changed mode, could do harm. */
function claim(path: string): void {
  const entries = readdirSync(path);
  if (!entries.includes(markerName)) {
    if (entries.length > 0) {
      throw new Error(`${path} is not empty and was not made by this program; name another folder or empty it.`);
    }
    writeFileSync(join(path, markerName), 'Data of a local model gateway. `npm start -- --reset` clears it.\n', {
      mode: 0o600,
    });
  }
  chmodSync(path, 0o700);
}
