import { beforeEach, expect, test } from 'vitest';
import { StoreError } from '../../../../lambdas/core/errors/store-error.ts';
import type { MediaStore } from '../../../../lambdas/core/images/media.ts';
import { linkImage } from '../../../../lambdas/core/images/media.ts';
import { createGetMedia } from '../../../../lambdas/protocols/media/handler.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { MemoryMediaStore } from '../../../support/memory/memory-media-store.ts';
import { createChain } from '../../http/chain.ts';
import { functionUrlEvent, invoke } from '../../http/function-url.ts';

const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 10, 20);
const token = '00112233445566778899aabbccddeeff';
const png = Buffer.from('\x89PNG and so on', 'latin1');

let clock: ManualClock;
let store: MemoryMediaStore;
let lines: object[];

beforeEach(() => {
  clock = new ManualClock(START);
  store = new MemoryMediaStore();
  lines = [];
});

const get = async (path: string, media: MediaStore = store) => {
  const deps = { media, now: () => clock.now(), finished: (_id: string, summary: object) => void lines.push(summary) };
  const chain = await createChain({ clock, handle: createGetMedia(deps) });
  return invoke(chain.handler, functionUrlEvent({ path }));
};

const link = async (): Promise<string> => {
  const deps = { media: store, newMediaToken: () => token, mediaUrl: 'https://media.example' };
  const url = await linkImage(deps, clock.now(), png, 'image/png');
  expect(url).toBe(`https://media.example/media/${START / 1_000 + 86_400}-${token}`);
  return new URL(url).pathname;
};

test('IMG-6 a link returns the image, without an API key, in a form that browsers show', async () => {
  const answer = await get(await link());
  expect(answer.status).toBe(200);
  expect(answer.bytes.equals(png)).toBe(true);
  expect(answer.headers).toMatchObject({
    'content-type': 'image/png',
    'content-length': String(png.length),
    'content-disposition': 'inline',
    'cache-control': 'private, max-age=86400, immutable',
    'x-content-type-options': 'nosniff',
  });
  expect(lines).toHaveLength(1);
});

test('IMG-6 the image is available until a second before 24 hours, and not a second after', async () => {
  const path = await link();
  await clock.advance(DAY_MS - 1_000);
  expect((await get(path)).status).toBe(200);
  await clock.advance(2_000);
  const answer = await get(path);
  expect([answer.status, JSON.parse(answer.text).error.code]).toEqual([404, 'expired']);
});

test('IMG-6 a link whose time the client has changed is 404', async () => {
  await link();
  const later = START / 1_000 + 10 * 86_400;
  expect((await get(`/media/${later}-${token}`)).status).toBe(404);
});

test.each([
  '',
  '..',
  `1795000000-${token}x`,
  token,
  `9-${token}`,
  '1795000000-',
  `1795000000-${token.toUpperCase()}`,
  '%2e%2e%2foutbox',
])('IMG-6 "%s" is not an image name, and the bucket is not read', async (name) => {
  const asked: string[] = [];
  const open = async (wanted: string): Promise<undefined> => void asked.push(wanted);
  const answer = await get(`/media/${name}`, { put: async () => undefined, open });
  expect([answer.status, JSON.parse(answer.text).error.code]).toEqual([404, 'not_found']);
  expect(asked).toEqual([]);
});

test('IMG-6 a bucket without a response is 503 with a retry time', async () => {
  const path = await link();
  const down: MediaStore = {
    put: async () => undefined,
    open: () => Promise.reject(new StoreError('unavailable', 'bucket-canary')),
  };
  const answer = await get(path, down);
  expect([answer.status, answer.headers['retry-after']]).toEqual([503, '30']);
  expect(answer.text).not.toContain('canary');
});
