import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import type { AnswerStore } from '../../lambdas/core/idempotency/claim-store.ts';
import type { MediaStore } from '../../lambdas/core/images/media-store.ts';
import type { Outbox } from '../../lambdas/core/ledger/outbox.ts';
import type { VideoFiles } from '../../lambdas/core/videos/video-files.ts';
import { createS3Access, patient } from '../../lambdas/functions/wiring/s3-clients.ts';
import { createAnswerStore } from '../../lambdas/stores/s3/answer-store.ts';
import { createMediaStore } from '../../lambdas/stores/s3/media-store.ts';
import { createOutbox } from '../../lambdas/stores/s3/outbox.ts';
import { createVideoFiles } from '../../lambdas/stores/s3/video-files.ts';
import { openDataFolder } from '../../lib/local/data-folder.ts';
import { localMediaBucket, startS3 } from '../../lib/local/s3-stand-in.ts';
import { MemoryAnswerStore } from '../support/memory/memory-answer-store.ts';
import { MemoryMediaStore } from '../support/memory/memory-media-store.ts';
import { MemoryOutbox } from '../support/memory/memory-outbox.ts';
import { MemoryVideoFiles } from '../support/memory/memory-video-files.ts';

/** One implementation of what is kept as objects. */
export interface MediaSubject {
  readonly outbox: Outbox;
  readonly answers: AnswerStore;
  readonly videos: VideoFiles;
  readonly media: MediaStore;
  /** Puts an object past them; undefined where there are no objects. */
  readonly putObject: ((key: string, body: string) => Promise<void>) | undefined;
  stop(): Promise<void>;
}

const memory = async (): Promise<MediaSubject> => ({
  outbox: new MemoryOutbox(),
  answers: new MemoryAnswerStore(),
  videos: new MemoryVideoFiles(),
  media: new MemoryMediaStore(),
  putObject: undefined,
  stop: async () => undefined,
});

export const openS3 = async (): Promise<MediaSubject> => {
  const path = mkdtempSync(join(tmpdir(), 'gateway-media-'));
  const folder = openDataFolder(path);
  const standIn = await startS3(folder);
  const options = { endpoint: standIn.endpoint, region: 'us-east-1' };
  const access = createS3Access(options);
  const patientAccess = createS3Access(options, patient);
  return {
    outbox: createOutbox(access, localMediaBucket),
    answers: createAnswerStore(access, localMediaBucket),
    videos: createVideoFiles(patientAccess, localMediaBucket),
    media: createMediaStore(patientAccess, localMediaBucket),
    putObject: async (key, body) => {
      await (await access()).send(new PutObjectCommand({ Bucket: localMediaBucket, Key: key, Body: body }));
    },
    stop: async () => {
      for (const client of [access, patientAccess]) (await client()).destroy();
      await standIn.stop();
      folder.close();
      rmSync(path, { recursive: true, force: true });
    },
  };
};

export const mediaSubjects = [
  { name: 'in memory', open: memory },
  { name: 'in a bucket', open: openS3 },
] as const;
