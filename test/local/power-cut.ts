import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { FileSync } from '../../local/stores/files/atomic-files.ts';

/** The WAL format: https://sqlite.org/fileformat2.html#the_write_ahead_log */
const WAL_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const PAGE_SIZE_AT = 8;
/** Offset of the two salts in the header of the file. `FRAME_SALTS_AT` is their offset in the header of a frame. */
const SALTS_AT = 16;
const FRAME_SALTS_AT = 8;
const SALTS_BYTES = 8;

/** The database between two restarts of its WAL. */
interface Generation {
  readonly header: Buffer;
  /** The database file when the first frame of this WAL was copied. */
  readonly database: Buffer;
  /** Frames of the WAL, in order. */
  readonly frames: Buffer[];
}

/** The first `frames` frames of a generation. */
interface Copy {
  readonly generation: Generation;
  readonly frames: number;
}

interface FolderCopy {
  /** Order in which the syncs of all folders began. */
  readonly order: number;
  /** Id of each file, by its name. Undefined for a folder. */
  readonly names: ReadonlyMap<string, string | undefined>;
}

export interface PowerCutOptions {
  /** The folder that loses its power. */
  readonly folder: string;
  /** File name of the database in it. */
  readonly database: string;
  /** Waits for the simulated duration of a sync. */
  readonly wait: () => Promise<void>;
}

/**
 * A simulated disk that loses power: it keeps copies of what must survive, and does not sync the real disk.
 *
 * Each sync copies its file or folder when it starts, because only data that was written earlier is certain to be on
 * the disk after the sync. The copy counts when the sync has completed. `cut` writes the copies that count. This is the
 * largest loss that is allowed: a real disk may also have kept later writes.
 *
 * - Database: the file and its WAL are copied together, as one pair. SQLite can recover every earlier commit from any
 *   such pair: a checkpoint writes to the file only pages that are also in the WAL, and they stay in the WAL until the
 *   next write restarts it with other salts. Between two restarts the WAL only grows, so the file is copied once per
 *   restart, and each frame once. The syncs that SQLite makes in a checkpoint do not count. No caller waits for them,
 *   except after a failed sync, so tests must not make a sync of this class fail.
 * - Files: the content at the last sync of the file, under the names at the last sync of the folder. A file that was
 *   never synced is empty, and a rename is lost if its folder was not synced after it.
 */
export class PowerCut {
  readonly #options: PowerCutOptions;
  #generation: Generation | undefined;
  #database: Copy | undefined;
  readonly #contents = new Map<string, Buffer>();
  readonly #folders = new Map<string, FolderCopy>();
  #folderSyncs = 0;

  constructor(options: PowerCutOptions) {
    this.#options = options;
  }

  /**
   * Sync for `Database`. Only one connection may exist, because a transaction of another connection could run during
   * the copy.
   */
  readonly syncDatabase = async (): Promise<void> => {
    const copy = this.#copyDatabase();
    await this.#options.wait();
    this.#database = copy;
  };

  /** Syncs for `AtomicFiles`. */
  readonly syncFiles: FileSync = {
    file: async (_handle: FileHandle, path: string) => {
      const [id, content] = [idOf(path), readFileSync(path)];
      await this.#options.wait();
      if (id !== undefined) this.#contents.set(id, content);
    },
    folder: async (path) => {
      this.#folderSyncs += 1;
      const copy = { order: this.#folderSyncs, names: namesIn(path) };
      await this.#options.wait();
      const place = relative(this.#options.folder, path);
      // Two syncs of a folder may end in the reverse order of their start.
      if (copy.order > (this.#folders.get(place)?.order ?? 0)) this.#folders.set(place, copy);
    },
  };

  /** Writes what the disk has after a power cut at this moment. Synchronous, so that nothing can happen meanwhile. */
  cut(target: string): void {
    this.#writeFolder('', target);
    if (!this.#database) return;
    const { generation, frames } = this.#database;
    const path = join(target, this.#options.database);
    writeFileSync(path, generation.database);
    writeFileSync(`${path}-wal`, Buffer.concat([generation.header, ...generation.frames.slice(0, frames)]));
  }

  #writeFolder(place: string, target: string): void {
    mkdirSync(target, { recursive: true });
    for (const [name, id] of this.#folders.get(place)?.names ?? []) {
      if (id === undefined) this.#writeFolder(join(place, name), join(target, name));
      // `cut` writes the database file and its WAL.
      else if (place === '' && name.startsWith(this.#options.database)) continue;
      else writeFileSync(join(target, name), this.#contents.get(id) ?? '');
    }
  }

  #copyDatabase(): Copy {
    const path = join(this.#options.folder, this.#options.database);
    const wal = openSync(`${path}-wal`, 'r');
    try {
      const header = readAt(wal, 0, WAL_HEADER_BYTES);
      if (!this.#generation?.header.equals(header))
        this.#generation = { header, database: readFileSync(path), frames: [] };
      const generation = this.#generation;
      if (header.length === WAL_HEADER_BYTES) copyFrames(wal, generation);
      return { generation, frames: generation.frames.length };
    } finally {
      closeSync(wal);
    }
  }
}

/** Adds the frames after the last known one. Frames with other salts are from before the WAL's restart. */
const copyFrames = (wal: number, { header, frames }: Generation): void => {
  const frameBytes = FRAME_HEADER_BYTES + header.readUInt32BE(PAGE_SIZE_AT);
  const salts = header.subarray(SALTS_AT, SALTS_AT + SALTS_BYTES);
  const { size } = fstatSync(wal);
  for (;;) {
    const at = WAL_HEADER_BYTES + frames.length * frameBytes;
    if (at + frameBytes > size) return;
    const frame = readAt(wal, at, frameBytes);
    if (!frame.subarray(FRAME_SALTS_AT, FRAME_SALTS_AT + SALTS_BYTES).equals(salts)) return;
    frames.push(frame);
  }
};

/** Returns `length` bytes, or fewer at the end of the file. */
const readAt = (file: number, at: number, length: number): Buffer => {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(file, bytes, 0, length, at));
};

const namesIn = (folder: string): ReadonlyMap<string, string | undefined> => {
  const names = new Map<string, string | undefined>();
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) names.set(entry.name, undefined);
    else {
      const id = idOf(join(folder, entry.name));
      if (id !== undefined) names.set(entry.name, id);
    }
  }
  return names;
};

/**
 * Returns an id that a rename does not change, or undefined if the file was renamed before this call. The id includes
 * the time of birth, because the disk reuses inodes.
 */
const idOf = (path: string): string | undefined => {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.ino}.${stats.birthtimeNs}`;
};
