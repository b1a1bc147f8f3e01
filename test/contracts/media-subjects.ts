import { mkdtempSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import type { ResponseStore } from '../../lambdas/core/idempotency/claim-store.ts';
import type { MediaStore, PageFiles } from '../../lambdas/core/images/media.ts';
import type { Outbox } from '../../lambdas/core/ledger/ledger.ts';
import type { VideoFiles } from '../../lambdas/core/videos/dependencies.ts';
import { createBundledPages } from '../../lambdas/functions/wiring/bundled-pages.ts';
import { createS3Access, patient } from '../../lambdas/functions/wiring/clients.ts';
import { createAnswerStore, createMediaStore } from '../../lambdas/stores/s3/files.ts';
import { createOutbox } from '../../lambdas/stores/s3/outbox.ts';
import { createVideoFiles } from '../../lambdas/stores/s3/video-files.ts';
import { localMediaBucket } from '../../local/emulators/s3.ts';
import { openFileStores } from '../../local/stores/files/file-stores.ts';
import { startTestBucket } from '../support/fault-proxy-bucket.ts';
import { MemoryAnswerStore } from '../support/memory/memory-answer-store.ts';
import { MemoryMediaStore } from '../support/memory/memory-media-store.ts';
import { MemoryOutbox } from '../support/memory/memory-outbox.ts';
import { MemoryPageFiles } from '../support/memory/memory-page-files.ts';
import { MemoryVideoFiles } from '../support/memory/memory-video-files.ts';

/** Implementation of the stores of whole files. */
export interface MediaSubject {
  readonly outbox: Outbox;
  readonly answers: ResponseStore;
  readonly videos: VideoFiles;
  readonly media: MediaStore;
  stop(): Promise<void>;
}

/** Implementation of the page files. */
export interface PageSubject {
  readonly pages: PageFiles;
  putPage(page: string, file: string, text: string, mediaType: string): Promise<void>;
  stop(): Promise<void>;
}

interface BucketSubject extends MediaSubject {
  /** Puts an object without using the stores. */
  putObject(key: string, body: string): Promise<void>;
}

const memory = async (): Promise<MediaSubject> => ({
  outbox: new MemoryOutbox(),
  answers: new MemoryAnswerStore(),
  videos: new MemoryVideoFiles(),
  media: new MemoryMediaStore(),
  stop: async () => undefined,
});

const inFiles = async (): Promise<MediaSubject> => ({
  ...(await openFileStores({ folder: mkdtempSync(join(tmpdir(), 'files-')), holdsDurable: async () => undefined })),
  stop: async () => undefined,
});

const memoryPages = async (): Promise<PageSubject> => {
  const pages = new MemoryPageFiles();
  return { pages, putPage: async (...file) => pages.put(...file), stop: async () => undefined };
};

const bundledPages = async (): Promise<PageSubject> => {
  const folder = mkdtempSync(join(tmpdir(), 'pages-'));
  return {
    pages: createBundledPages(folder),
    // The media type depends on the name of the file.
    putPage: async (page, file, text) => {
      await mkdir(join(folder, page), { recursive: true });
      await writeFile(join(folder, page, file), text);
    },
    stop: async () => undefined,
  };
};

export const openS3 = async (): Promise<BucketSubject> => {
  const bucket = await startTestBucket();
  const options = { endpoint: bucket.endpoint, region: 'us-east-1' };
  const access = createS3Access(options);
  const patientAccess = createS3Access(options, patient);
  const put = async (Key: string, Body: string, ContentType?: string): Promise<void> => {
    await (await access()).send(new PutObjectCommand({ Bucket: localMediaBucket, Key, Body, ContentType }));
  };
  return {
    outbox: createOutbox(access, localMediaBucket),
    answers: createAnswerStore(access, localMediaBucket),
    videos: createVideoFiles(patientAccess, localMediaBucket),
    media: createMediaStore(patientAccess, localMediaBucket),
    putObject: put,
    stop: async () => {
      for (const client of [access, patientAccess]) (await client()).destroy();
      await bucket.stop();
    },
  };
};

export const mediaSubjects = [
  { name: 'in memory', open: memory },
  { name: 'in files', open: inFiles },
  { name: 'in a bucket', open: openS3 },
] as const;

export const pageSubjects = [
  { name: 'in memory', open: memoryPages },
  { name: 'beside the code', open: bundledPages },
] as const;
