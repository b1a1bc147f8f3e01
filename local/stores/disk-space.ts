import { randomFillSync } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../lambdas/core/clock.ts';
import { StoreError } from '../../lambdas/core/errors/store-error.ts';
import { AtomicFiles, type FileSync } from './files/atomic-files.ts';

const MIB = 1024 * 1024;
const RESERVE_FILE = 'reserve';
const RESERVE_BYTES = 32 * MIB;
const FREE_BYTES_MIN = 64 * MIB;
const CHECK_MS = 1_000;
/**
 * Number of checks to skip before the next try, after the spare file could not be created because the disk was full.
 * This can happen despite enough reported free space, because a quota can allow less.
 */
const CHECKS_AFTER_FAILURE = 60;

/** The fields of `statfs` that are needed. */
export interface FileSystemStats {
  /** Size of a block, in bytes. */
  readonly bsize: number;
  /** All blocks of the file system. 0 if it does not report its size. */
  readonly blocks: number;
  /** Blocks that this user may still fill. */
  readonly bavail: number;
}

export interface DiskSpaceOptions {
  /** Folder on the disk to guard. It contains the spare file. It is created if it does not exist. */
  readonly folder: string;
  /** Tests replace it. */
  readonly statfs?: (folder: string) => Promise<FileSystemStats>;
  /** Tests replace it. */
  readonly sync?: FileSync;
  /** Its timers must not keep the process alive. */
  readonly clock?: Pick<Clock, 'after'>;
}

const unrefClock: Pick<Clock, 'after'> = {
  after: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs).unref();
    return () => clearTimeout(timer);
  },
};

/**
 * Guards a disk against being full. New work stops while some space is left, and a spare file gives its space to the
 * writes that complete the work in progress. Several processes may share one folder and its spare file.
 */
export class DiskSpace {
  readonly #options: DiskSpaceOptions;
  readonly #files: AtomicFiles;
  readonly #reservePath: string;
  #freeBytes = Number.POSITIVE_INFINITY;
  #hasReserve = false;
  #checksToSkip = 0;
  #checking: Promise<void> = Promise.resolve();
  #cancel: () => void = () => undefined;
  #isClosed = false;

  private constructor(options: DiskSpaceOptions, files: AtomicFiles) {
    this.#options = options;
    this.#files = files;
    this.#reservePath = join(options.folder, RESERVE_FILE);
  }

  /** Creates the spare file if there is space. Throws an Error if the folder cannot be used. */
  static async open(options: DiskSpaceOptions): Promise<DiskSpace> {
    const disk = new DiskSpace(options, await AtomicFiles.open(options));
    await disk.#check();
    disk.#schedule();
    return disk;
  }

  /** Whether `checkRoom` throws. */
  get isLow(): boolean {
    return this.#freeBytes < FREE_BYTES_MIN || !this.#hasReserve;
  }

  /** Throws StoreError (`conflict`) while the disk is almost full. Uses the last check, so it costs nothing. */
  checkRoom(): void {
    if (!this.isLow) return;
    const needed = (FREE_BYTES_MIN + RESERVE_BYTES) / MIB;
    throw new StoreError(
      'conflict',
      `${this.#options.folder}: its disk is almost full. Free ${needed} MB: new requests are accepted again then.`,
    );
  }

  /** Throws StoreError (`conflict`) once the spare file is freed: its space is for charges. */
  checkReserve(): void {
    if (this.#hasReserve) return;
    throw new StoreError('conflict', `${this.#options.folder}: its disk is full. Free space on it.`);
  }

  /** Frees the spare file. Returns true if this process, or another one since the last check, has freed it. */
  onFull(): boolean {
    if (!this.#hasReserve) return false;
    this.#hasReserve = false;
    rmSync(this.#reservePath, { force: true });
    return true;
  }

  /** Stops the checks. The spare file stays on the disk. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel();
    await this.#checking;
  }

  #schedule(): void {
    if (this.#isClosed) return;
    this.#cancel = (this.#options.clock ?? unrefClock).after(CHECK_MS, () => {
      // A failure leaves the last result. The next check may succeed.
      this.#checking = this.#check()
        .catch(() => undefined)
        .finally(() => this.#schedule());
    });
  }

  async #check(): Promise<void> {
    const { bsize, blocks, bavail } = await (this.#options.statfs ?? statfs)(this.#options.folder);
    this.#freeBytes = blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize;
    this.#hasReserve = existsSync(this.#reservePath);
    if (this.#hasReserve || this.#freeBytes < FREE_BYTES_MIN + RESERVE_BYTES) return;
    if (this.#checksToSkip > 0) {
      this.#checksToSkip -= 1;
      return;
    }
    try {
      // The put is atomic, so two processes may create the spare file at the same moment.
      await this.#files.putStream(RESERVE_FILE, reserveBytes());
      this.#hasReserve = true;
    } catch (error) {
      if (!(error instanceof StoreError && error.kind === 'conflict')) throw error;
      this.#checksToSkip = CHECKS_AFTER_FAILURE;
    }
  }
}

/** Yields random bytes: a compressing file system would allocate too little space for compressible content. */
async function* reserveBytes(): AsyncGenerator<Uint8Array> {
  const piece = randomFillSync(Buffer.allocUnsafe(MIB));
  for (let written = 0; written < RESERVE_BYTES; written += piece.length) yield piece;
}
