import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ulid } from 'ulid';
import type { VideoParamsRecord } from '../lambdas/core/videos/video-job.ts';
import { createClients } from '../lambdas/functions/wiring/clients.ts';
import { createDynamoDB } from '../lambdas/stores/dynamodb/dynamodb.ts';
import { createVideoJobStore } from '../lambdas/stores/dynamodb/video-job-store.ts';
import { createTables, localTableNames } from '../local/create-tables.ts';
import { openDataFolder } from '../local/data-folder.ts';
import { startDynamodb } from '../local/emulators/dynamodb.ts';
import { localMediaBucket, startS3 } from '../local/emulators/s3.ts';
import { startSimulator } from '../local/simulators/server.ts';

/**
 * Measures the memory that the function for video steps needs to store a video. It runs in its own process, with
 * emulators of provider, bucket and database in this one. `VIDEO_MB=200 npx node bench/video-store.ts`
 */
const megabytes = Number(process.env.VIDEO_MB ?? 200);

const order = (upstream: Partial<VideoParamsRecord> = {}): VideoParamsRecord => {
  const requestId = ulid();
  return {
    id: `video_${requestId}`,
    accountId: 'account',
    requestId,
    holdId: `${requestId}.0`,
    holdAmountPicos: 1n,
    modelId: 'seedance-2-0',
    providerId: 'byteplus',
    wire: 'ark_video_tasks',
    upstreamModel: 'dreamina-seedance-2-0-260128',
    prompt: 'A lighthouse',
    seconds: 4,
    width: 1280,
    height: 720,
    createdAtMs: Date.now(),
    terms: { unit: 'token', ratePicos: 1n, unitsMax: 1_000_000 },
    ...upstream,
  };
};

const askVendor = async (url: string, bytes: number): Promise<string> => {
  const response = await fetch(`${url}/api/v3/contents/generations/tasks`, {
    method: 'POST',
    headers: { authorization: 'Bearer key', 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'dreamina-seedance-2-0-260128',
      content: [{ type: 'text', text: `[[takes 1]] [[video-bytes ${bytes}]]` }],
      ratio: '16:9',
      resolution: '720p',
      duration: 4,
    }),
  });
  const text = await response.text();
  const [, id] = /"id":"([^"]+)"/.exec(text) ?? [];
  if (!id) throw new Error(`The provider did not accept the job: ${text}`);
  return id;
};

const path = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
const folder = openDataFolder(path);
const [vendor, database, bucket] = [
  await startSimulator({ recordedMax: 0 }),
  await startDynamodb({ folder, onExit: console.error }),
  await startS3(folder),
];
try {
  await createTables(database.endpoint);
  const jobs = createVideoJobStore(
    createDynamoDB(createClients({ endpoint: database.endpoint, region: 'us-east-1' }).repeating, Date.now),
    localTableNames.videos,
  );
  const prepare = async (bytes: number): Promise<string> => {
    const job = order();
    await jobs.create(job, Date.now());
    await jobs.setUpstream(job.id, await askVendor(vendor.url, bytes));
    return job.id;
  };
  const ids = [await prepare(100_000), await prepare(megabytes * 1_024 * 1_024)];
  const child = fork(join(import.meta.dirname, 'video-store-process.ts'), ids, {
    env: {
      ...process.env,
      AWS_REGION: 'us-east-1',
      DYNAMODB_ENDPOINT: database.endpoint,
      ACCOUNTS_TABLE: localTableNames.accounts,
      KEYS_TABLE: localTableNames.keys,
      COUNTERS_TABLE: localTableNames.counters,
      IDEMPOTENCY_TABLE: localTableNames.idempotency,
      VIDEOS_TABLE: localTableNames.videos,
      S3_ENDPOINT: bucket.endpoint,
      MEDIA_BUCKET: localMediaBucket,
      ARK_API_KEY: 'key',
      ARK_BASE_URL: `${vendor.url}/api/v3`,
      LOG_FORMAT: 'line',
    },
  });
  process.exitCode = await new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
  const stored = (await jobs.read(ids[1] ?? ''))?.file;
  console.log(`stored: ${stored?.bytes} bytes, SHA-256 ${stored?.sha256}`);
} finally {
  await bucket.stop();
  await database.stop();
  await vendor.stop();
  folder.close();
  rmSync(path, { recursive: true, force: true });
}
