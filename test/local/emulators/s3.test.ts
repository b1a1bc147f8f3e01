import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DeleteObjectCommand, GetObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createS3Client } from '../../../lambdas/functions/wiring/clients.ts';
import { openDataFolder } from '../../../local/data-folder.ts';
import { createMediaBucket, localMediaBucket, startS3 } from '../../../local/emulators/s3.ts';

let path = '';
const cleanups: (() => unknown)[] = [];
const object = (key: string) => ({ Bucket: localMediaBucket, Key: key });

beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'gateway-bucket-'));
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start() {
  const folder = openDataFolder(path);
  const emulator = await startS3(folder);
  const client = await createS3Client({ endpoint: emulator.endpoint, region: 'us-east-1' });
  const stop = async () => {
    await emulator.stop();
    client.destroy();
    folder.close();
  };
  cleanups.push(stop);
  return { endpoint: emulator.endpoint, client, stop };
}

test('the emulator starts with the bucket and keeps its objects over a restart', async () => {
  const first = await start();
  expect((await first.client.send(new ListObjectsV2Command({ Bucket: localMediaBucket }))).KeyCount).toBe(0);
  await first.client.send(
    new PutObjectCommand({ ...object('outbox/kept.0'), Body: 'here', ContentType: 'text/plain' }),
  );
  await first.client.send(new PutObjectCommand({ ...object('outbox/gone.0'), Body: 'here' }));
  await first.client.send(new DeleteObjectCommand(object('outbox/gone.0')));
  // A connection of this client is still open.
  await first.stop();
  await first.stop();
  await expect(fetch(first.endpoint)).rejects.toThrow();

  const second = await start();
  const read = await second.client.send(new GetObjectCommand(object('outbox/kept.0')));
  expect([read.ContentType, await read.Body?.transformToString()]).toEqual(['text/plain', 'here']);
  const listed = await second.client.send(new ListObjectsV2Command({ Bucket: localMediaBucket, Prefix: 'outbox/' }));
  expect(listed.Contents?.map(({ Key }) => Key)).toEqual(['outbox/kept.0']);
});

test('an S3 that already exists gets the bucket once', async () => {
  const { endpoint, client } = await start();
  await client.send(new PutObjectCommand({ ...object('a'), Body: 'b' }));
  await createMediaBucket(endpoint);
  await createMediaBucket(endpoint);
  expect((await client.send(new ListObjectsV2Command({ Bucket: localMediaBucket }))).KeyCount).toBe(1);
});
