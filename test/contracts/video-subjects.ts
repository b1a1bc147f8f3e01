import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { VideoJobStore } from '../../lambdas/core/videos/job-store.ts';
import type { VideoOrderRecord } from '../../lambdas/core/videos/video-job.ts';
import type { Item } from '../../lambdas/stores/dynamodb/attributes.ts';
import { videoKey } from '../../lambdas/stores/dynamodb/video-item.ts';
import { createVideoJobStore } from '../../lambdas/stores/dynamodb/video-job-store.ts';
import { onDatabase, openTestTables, type TestTables } from '../support/dynamodb.ts';
import { MemoryVideoJobs } from '../support/memory/memory-video-jobs.ts';

/** One implementation of the job store. */
export interface JobSubject {
  readonly store: VideoJobStore;
  /** What lies under an id; undefined where there are no items. */
  itemOf(id: string): Promise<Item | undefined>;
}

const memory = async (): Promise<JobSubject> => ({
  store: new MemoryVideoJobs(),
  itemOf: async () => undefined,
});

export interface JobTable extends JobSubject {
  readonly tables: TestTables;
  put(item: Item): Promise<void>;
}

export const openJobTable = async (): Promise<JobTable> => {
  const tables = await openTestTables();
  const { clients, names } = tables;
  const table = names.videos;
  return {
    tables,
    store: createVideoJobStore(clients.repeating, table),
    itemOf: async (id) =>
      (await clients.once.send(new GetItemCommand({ TableName: table, Key: videoKey(id), ConsistentRead: true }))).Item,
    put: async (item) => {
      await clients.once.send(new PutItemCommand({ TableName: table, Item: item }));
    },
  };
};

export const jobSubjects = [
  { name: 'in memory', open: memory },
  ...onDatabase({ name: 'on the database', open: openJobTable }),
];

export const CREATED_AT = Date.UTC(2026, 10, 1);
export const DUE_AT = CREATED_AT + 120_000;

let orders = 0;

/** Every field an order can have, under an id that no other has. */
export const orderOf = (changes: Partial<VideoOrderRecord> = {}): Required<VideoOrderRecord> => {
  orders += 1;
  const requestId = `0${String(orders).padStart(25, '0')}`;
  return {
    id: `video_${requestId}`,
    accountId: 'account-1',
    requestId,
    holdId: `${requestId}.0`,
    holdAmountPicos: 12_345_678_901_234_567_890n,
    modelId: 'alpha-video',
    providerId: 'alpha',
    wire: 'openai_videos',
    upstreamModel: 'alpha-video-2',
    prompt: 'a prompt',
    seconds: 8,
    width: 1_280,
    height: 720,
    createdAtMs: CREATED_AT,
    terms: { unit: 'token', ratePicos: 12_345_678_901_234_567n, unitsMax: 200_000 },
    webhook: { url: 'https://example.com/done', secret: 'whsec_secret' },
    ...changes,
  };
};
