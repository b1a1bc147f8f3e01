import type { VideoJobStore, VideoParamsRecord } from '../../lambdas/core/videos/video-job.ts';
import { createDynamoDB } from '../../lambdas/stores/dynamodb/dynamodb.ts';
import type { Item, Value } from '../../lambdas/stores/dynamodb/item.ts';
import { videoKey } from '../../lambdas/stores/dynamodb/video-item.ts';
import { createVideoJobStore } from '../../lambdas/stores/dynamodb/video-job-store.ts';
import { createVideoJobStore as createSqliteStore } from '../../local/stores/sqlite/video-job-store.ts';
import { onDatabase, openTestTables, type TestTables } from '../support/dynamodb.ts';
import { MemoryVideoJobs } from '../support/memory/memory-video-jobs.ts';
import { openTestDatabase } from '../support/sqlite.ts';

/** Implementation of the video store. */
export interface JobSubject {
  readonly store: VideoJobStore;
  /** All values stored under an id except flags, as text; undefined if the engine has no items. */
  valuesOf(id: string): Promise<readonly string[] | undefined>;
}

const memory = async (): Promise<JobSubject> => ({
  store: new MemoryVideoJobs(),
  valuesOf: async () => undefined,
});

const sqlite = async (): Promise<JobSubject> => {
  const db = await openTestDatabase();
  return {
    store: createSqliteStore(db),
    valuesOf: (id) =>
      db.peek(() => {
        const { listed: _, ...row } = db.sql('SELECT * FROM videos WHERE id = ?').get(id) ?? {};
        return Object.values(row).flatMap((value) => (value === null ? [] : [String(value)]));
      }),
  };
};

export interface JobTable extends JobSubject {
  readonly tables: TestTables;
  itemOf(id: string): Promise<Item | undefined>;
  put(item: Item): Promise<void>;
}

const toText = (value: Value): string =>
  typeof value === 'object'
    ? JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? inner.toString() : inner))
    : value.toString();

export const openJobTable = async (): Promise<JobTable> => {
  const tables = await openTestTables();
  const { clients, names } = tables;
  const table = names.videos;
  const db = createDynamoDB(clients.once, Date.now);
  const itemOf = (id: string) => db.get(table, videoKey(id));
  return {
    tables,
    store: createVideoJobStore(createDynamoDB(clients.repeating, Date.now), table),
    itemOf,
    valuesOf: async (id) => {
      const { pk: _pk, gone: _gone, ...item } = (await itemOf(id)) ?? {};
      return [id, ...Object.values(item).map(toText)];
    },
    put: async (item) => {
      await db.put({ table, item });
    },
  };
};

export const jobSubjects = [
  { name: 'in memory', open: memory },
  { name: 'in SQLite', open: sqlite },
  ...onDatabase({ name: 'on the database', open: openJobTable }),
];

export const CREATED_AT = Date.UTC(2026, 10, 1);
export const DUE_AT = CREATED_AT + 120_000;

let orders = 0;

/** Creates an order with every field, under a new id. */
export const orderOf = (changes: Partial<Required<VideoParamsRecord>> = {}): Required<VideoParamsRecord> => {
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
    keyId: '0123456789abcdef',
    endpoint: '/v1/videos',
    cap: { keyId: '0123456789abcdef', period: '7:2026-11' },
    ...changes,
  };
};
