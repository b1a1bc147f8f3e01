import { randomUUID } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import * as fs from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { StoreError } from '../../../lambdas/core/errors/store-error.ts';
import type { ByteRange } from '../../../lambdas/core/videos/dependencies.ts';
import { isRunning, processIdentity } from '../../process-identity.ts';
import { reasonOf } from '../disk-errors.ts';
import { fromFileName, toFileName } from './file-names.ts';

/** The calls that make a write durable. */
export interface FileSync {
  /** Resolves when the disk has the content of the file. `path` is the path it was opened under. */
  file(handle: FileHandle, path: string): Promise<void>;
  /** Resolves when the disk has the names of the files in the folder. */
  folder(path: string): Promise<void>;
}

export interface AtomicFilesOptions {
  /** Path of the folder. It is created if it does not exist. */
  readonly folder: string;
  /** Tests replace it. */
  readonly sync?: FileSync;
  /** Called when a put fails on a full disk. Returns true if it has freed space: the put is then tried once more. */
  readonly onFull?: () => boolean;
}

export interface OpenedFile {
  readonly length: number;
  /**
   * Opens the file at the first step of the iteration, so a reader that never starts leaves nothing open. Throws
   * StoreError.
   */
  read(range?: ByteRange): AsyncIterable<Uint8Array>;
}

const PIECE_BYTES = 256 * 1024;

export const diskSync: FileSync = {
  file: (handle) => handle.sync(),
  folder: async (path) => {
    // Windows cannot sync a folder.
    if (process.platform === 'win32') return;
    const handle = await fs.open(path, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  },
};

/**
 * Folder of files, each of which exists completely or not at all. Several processes may open it.
 *
 * A put or remove is durable when it resolves. All methods throw StoreError: `conflict` if the disk is full and nothing
 * was written, `unavailable` if the outcome is unknown. A put under the name of another file replaces it.
 */
export class AtomicFiles {
  readonly #options: AtomicFilesOptions;
  readonly #sync: FileSync;
  readonly #identity = processIdentity(process.pid) ?? String(process.pid);

  private constructor(options: AtomicFilesOptions) {
    this.#options = options;
    this.#sync = options.sync ?? diskSync;
  }

  /** Removes the drafts of processes that have ended. Throws an Error in one sentence if the folder cannot be used. */
  static async open(options: AtomicFilesOptions): Promise<AtomicFiles> {
    const { folder } = options;
    const files = new AtomicFiles(options);
    try {
      await fs.mkdir(folder, { recursive: true, mode: 0o700 });
      await fs.chmod(folder, 0o700);
      await files.#sync.folder(dirname(folder));
      await files.#removeDrafts();
      return files;
    } catch (error) {
      throw new Error(`${folder} cannot be opened: ${reasonOf(error)}`, { cause: error });
    }
  }

  async put(name: string, content: Uint8Array): Promise<void> {
    try {
      await this.#put(name, [content]);
    } catch (error) {
      const isFull = error instanceof StoreError && error.kind === 'conflict';
      if (!isFull || !this.#options.onFull?.()) throw error;
      await this.#put(name, [content]);
    }
  }

  /**
   * Writes the pieces one by one. Throws what `pieces` throws. Never calls `onFull`, because the pieces cannot be read
   * a second time.
   */
  async putStream(name: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
    await this.#put(name, pieces);
  }

  /** Undefined if there is no such file. */
  async read(name: string): Promise<Buffer | undefined> {
    return this.#ifPresent(() => fs.readFile(this.#pathOf(name)));
  }

  /** Undefined if there is no such file. */
  async open(name: string): Promise<OpenedFile | undefined> {
    const path = this.#pathOf(name);
    const stats = await this.#ifPresent(() => fs.stat(path));
    if (!stats) return undefined;
    const { size: length } = stats;
    return {
      length,
      read: ({ first, last } = { first: 0, last: length - 1 }) =>
        this.#readPieces(path, first, Math.min(last + 1, length)),
    };
  }

  /** Does nothing if there is no such file. */
  async remove(name: string): Promise<void> {
    await this.#attempt(() => fs.rm(this.#pathOf(name), { force: true }));
    // Syncs even if the file was missing, because the sync of an earlier remove may have failed.
    await this.#syncFolder();
  }

  /** Names of all files, in order. Skips files that a put does not make. */
  async names(): Promise<readonly string[]> {
    const fileNames = await this.#attempt(() => fs.readdir(this.#options.folder));
    return fileNames
      .map(fromFileName)
      .filter((name) => name !== undefined)
      .sort();
  }

  /** Removes files, and drafts of a put that broke off, whose last write was before `beforeMs`. Not durable. */
  async removeOlderThan(beforeMs: number): Promise<void> {
    const { folder } = this.#options;
    const fileNames = await this.#attempt(() => fs.readdir(folder));
    let failure: unknown;
    // One by one: requests need the threads for their own files.
    for (const fileName of fileNames) {
      try {
        await removeIfOlder(join(folder, fileName), beforeMs);
      } catch (error) {
        failure ??= error;
      }
    }
    if (failure !== undefined) throw this.#toStoreError(failure, 'unavailable');
  }

  async #put(name: string, pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<void> {
    const path = this.#pathOf(name);
    const draft = join(this.#options.folder, `.${this.#identity}.${randomUUID()}`);
    try {
      await this.#writeDraft(draft, pieces);
      await this.#attempt(() => fs.rename(draft, path));
    } catch (error) {
      // A draft that cannot be removed now is removed at the next open.
      await fs.rm(draft, { force: true }).catch(() => undefined);
      throw error;
    }
    await this.#syncFolder();
  }

  async #writeDraft(path: string, pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<void> {
    let handle: FileHandle | undefined;
    // Opens the file inside the iteration, so that a failed open also closes a source that has started.
    const opened = async (): Promise<FileHandle> => {
      handle ??= await this.#attempt(() => fs.open(path, 'wx', 0o600));
      return handle;
    };
    try {
      for await (const piece of pieces) {
        const file = await opened();
        await this.#attempt(() => file.writeFile(piece));
      }
      const file = await opened();
      await this.#attempt(() => this.#sync.file(file, path));
    } catch (error) {
      await handle?.close().catch(() => undefined);
      throw error;
    }
    const file = handle;
    await this.#attempt(async () => file?.close());
  }

  async *#readPieces(path: string, first: number, end: number): AsyncGenerator<Uint8Array> {
    const handle = await this.#attempt(() => fs.open(path, 'r'));
    try {
      for (let at = first; at < end; ) {
        const room = Buffer.allocUnsafe(Math.min(PIECE_BYTES, end - at));
        const { bytesRead } = await this.#attempt(() => handle.read(room, 0, room.length, at));
        if (bytesRead === 0) throw new StoreError('unavailable', `${path} has become shorter during a read`);
        yield room.subarray(0, bytesRead);
        at += bytesRead;
      }
    } finally {
      await handle.close();
    }
  }

  /** A process that still runs may be writing its drafts. */
  async #removeDrafts(): Promise<void> {
    const { folder } = this.#options;
    const drafts = (await fs.readdir(folder)).filter((fileName) => fileName.startsWith('.'));
    const stale = drafts.filter((fileName) => {
      const identity = fileName.slice(1, fileName.lastIndexOf('.'));
      return Number.parseInt(identity, 10) > 0 && !isRunning(identity);
    });
    for (const fileName of stale) await fs.rm(join(folder, fileName), { force: true });
  }

  #pathOf(name: string): string {
    return join(this.#options.folder, toFileName(name));
  }

  /**
   * Throws `unavailable` even if the disk is full, because the file names have already changed and the outcome is
   * unknown.
   */
  async #syncFolder(): Promise<void> {
    try {
      await this.#sync.folder(this.#options.folder);
    } catch (error) {
      throw this.#toStoreError(error, 'unavailable');
    }
  }

  async #attempt<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      const code = codeOf(error);
      throw this.#toStoreError(error, code === 'ENOSPC' || code === 'EDQUOT' ? 'conflict' : 'unavailable');
    }
  }

  async #ifPresent<T>(call: () => Promise<T>): Promise<T | undefined> {
    return this.#attempt(async () => {
      try {
        return await call();
      } catch (error) {
        if (codeOf(error) === 'ENOENT') return undefined;
        throw error;
      }
    });
  }

  /** Converts an error to a StoreError. Returns a TypeError or RangeError unchanged, because it is a bug. */
  #toStoreError(error: unknown, kind: 'conflict' | 'unavailable'): unknown {
    if (error instanceof TypeError || error instanceof RangeError) return error;
    return new StoreError(kind, `${this.#options.folder}: ${reasonOf(error)}`, error);
  }
}

const removeIfOlder = async (path: string, beforeMs: number): Promise<void> => {
  try {
    if ((await fs.stat(path)).mtimeMs < beforeMs) await fs.unlink(path);
  } catch (error) {
    // Another process was faster.
    if (codeOf(error) !== 'ENOENT') throw error;
  }
};

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);
