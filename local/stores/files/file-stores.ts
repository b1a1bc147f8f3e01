import { dirname, join } from 'node:path';
import type { ResponseStore } from '../../../lambdas/core/idempotency/claim-store.ts';
import type { ImageMediaType } from '../../../lambdas/core/image-type.ts';
import type { MediaStore } from '../../../lambdas/core/images/media.ts';
import { OUTBOX_PAGE, type Outbox } from '../../../lambdas/core/ledger/ledger.ts';
import type { VideoFiles } from '../../../lambdas/core/videos/dependencies.ts';
import { parseNote, renderNote } from '../../../lambdas/stores/s3/outbox.ts';
import { AtomicFiles, type AtomicFilesOptions, diskSync } from './atomic-files.ts';

/**
 * Files are kept for two days, as in the bucket: an object is available for 24 hours, and a video is stored some time
 * before those hours start.
 */
const RETENTION_MS = 2 * 24 * 60 * 60 * 1_000;

export interface FileStoresOptions extends AtomicFilesOptions {
  /** Resolves when the disk has every hold that was placed so far. Throws StoreError. */
  readonly holdsDurable: () => Promise<void>;
  /**
   * Throws StoreError once the spare file of the disk is freed. Called before each piece of a video, which could fill
   * the disk.
   */
  readonly checkReserve?: () => void;
}

export interface FileStores {
  readonly outbox: Outbox;
  readonly answers: ResponseStore;
  readonly media: MediaStore;
  readonly videos: VideoFiles;
  /**
   * Removes responses, images and videos that were stored more than two days ago. Outbox entries stay, because they
   * contain money that is not charged yet. Throws StoreError.
   */
  removeExpired(nowMs: number): Promise<void>;
}

/**
 * Creates the stores of whole files, each in its own folder inside `folder`. Throws an Error if a folder cannot be
 * used.
 */
export const openFileStores = async (options: FileStoresOptions): Promise<FileStores> => {
  const open = (name: string) => AtomicFiles.open({ ...options, folder: join(options.folder, name) });
  const [outbox, answers, media, videos] = await Promise.all([
    open('outbox'),
    open('answers'),
    open('media'),
    open('videos'),
  ]);
  await (options.sync ?? diskSync).folder(dirname(options.folder));
  return {
    outbox: toOutbox(outbox, options.holdsDurable),
    answers: toAnswerStore(answers),
    media: toMediaStore(media),
    videos: toVideoFiles(videos, options.checkReserve),
    removeExpired: async (nowMs) => {
      for (const files of [answers, media, videos]) await files.removeOlderThan(nowMs - RETENTION_MS);
    },
  };
};

const toOutbox = (files: AtomicFiles, holdsDurable: () => Promise<void>): Outbox => ({
  put: async (note) => {
    // A hold is not durable when it is placed. If a power cut lost the hold but not the entry, the charge could not be
    // applied.
    await holdsDurable();
    await files.put(note.record.holdId, Buffer.from(renderNote(note)));
  },
  read: async (holdId) => {
    const content = await files.read(holdId);
    return content && parseNote(holdId, content.toString());
  },
  list: async (afterHoldId = '') => {
    const names = await files.names();
    return names.filter((name) => name > afterHoldId).slice(0, OUTBOX_PAGE);
  },
  remove: (holdId) => files.remove(holdId),
});

const toAnswerStore = (files: AtomicFiles): ResponseStore => ({
  put: (objectName, content) => files.put(objectName, Buffer.from(content)),
  get: async (objectName) => (await files.read(objectName))?.toString(),
});

/** The media type is the extension, so that one rename stores both. */
const extensions: Readonly<Record<ImageMediaType, string>> = {
  'image/png': '.png',
  'image/jpeg': '.jpg',
  'image/webp': '.webp',
};

const toMediaStore = (files: AtomicFiles): MediaStore => ({
  put: (name, bytes, mediaType) => files.put(`${name}${extensions[mediaType]}`, bytes),
  open: async (name) => {
    for (const [mediaType, extension] of Object.entries(extensions)) {
      const file = await files.open(`${name}${extension}`);
      if (file) return { mediaType, length: file.length, bytes: file.read() };
    }
    return undefined;
  },
});

const toVideoFiles = (files: AtomicFiles, checkReserve: FileStoresOptions['checkReserve']): VideoFiles => {
  const fileOf = (name: string): string => `${name}.mp4`;
  async function* besideReserve(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) {
      checkReserve?.();
      yield piece;
    }
  }
  return {
    put: (name, bytes) => files.putStream(fileOf(name), besideReserve(bytes)),
    open: async (name, range) => (await files.open(fileOf(name)))?.read(range),
    remove: (name) => files.remove(fileOf(name)),
  };
};
