import { mkdtempSync, readdirSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { StoreError } from '../../../../lambdas/core/errors/store-error.ts';
import { openFileStores } from '../../../../local/stores/files/file-stores.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;
const NOW = Date.UTC(2026, 10, 10);

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

test('BILL-14 OPS-8 an outbox entry is not written before the holds are durable', async () => {
  const error = new StoreError('unavailable', 'injected');
  const folder = mkdtempSync(join(tmpdir(), 'files-'));
  const { outbox } = await openFileStores({ folder, holdsDurable: () => Promise.reject(error) });
  const record = { accountId: 'a', holdId: 'r.0', requestId: 'r', outcome: 'settled', amountPicos: 1n, at: 0 } as const;
  await expect(outbox.put({ record, holdAmountPicos: 1n })).rejects.toBe(error);
  expect(await outbox.list()).toEqual([]);
});

test('IMG-6 responses, images and videos are removed after two days, outbox entries never', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'files-'));
  const stores = await openFileStores({ folder, holdsDurable: async () => undefined });
  const fill = async (age: string, ageMs: number): Promise<void> => {
    const record = { accountId: 'a', requestId: age, outcome: 'settled', amountPicos: 1n, at: 0 } as const;
    await stores.outbox.put({ record: { ...record, holdId: `${age}.0` }, holdAmountPicos: 1n });
    await stores.answers.put(age, 'text');
    await stores.media.put(age, Buffer.from('image'), 'image/png');
    await stores.videos.put(age, once('video'));
    for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
      if (path.includes(age)) utimesSync(join(folder, path), new Date(), new Date(NOW - ageMs));
  };
  await fill('old', 2 * DAY_MS + 1);
  await fill('young', 2 * DAY_MS);
  await stores.removeExpired(NOW);
  const left = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => /old|young/.test(path));
  expect(left.map((path) => path.replaceAll('\\', '/')).sort()).toEqual([
    'answers/young',
    'media/young.png',
    'outbox/old.0',
    'outbox/young.0',
    'videos/young.mp4',
  ]);
});

test('VID-5 a video write stops when the reserved space is gone, and leaves no file', async () => {
  const error = new StoreError('conflict', 'injected');
  const folder = mkdtempSync(join(tmpdir(), 'files-'));
  let hasReserve = true;
  const checkReserve = (): void => {
    if (!hasReserve) throw error;
  };
  const { videos } = await openFileStores({ folder, checkReserve, holdsDurable: async () => undefined });
  async function* pieces(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('first');
    hasReserve = false;
    yield Buffer.from('second');
  }
  await expect(videos.put('one', pieces())).rejects.toBe(error);
  expect(readdirSync(join(folder, 'videos'))).toEqual([]);
  hasReserve = true;
  await videos.put('one', once('video'));
  expect(readdirSync(join(folder, 'videos'))).toEqual(['one.mp4']);
});
