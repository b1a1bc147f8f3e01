import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { type Simulator, startSimulator } from '../../../../../lib/local/upstreams/server.ts';
import { videoBytesOf } from '../../../../../lib/local/upstreams/video-file.ts';
import { readBoxes } from '../mp4-boxes.ts';

let simulator: Simulator;
let openai: OpenAI;

beforeAll(async () => {
  simulator = await startSimulator();
  openai = new OpenAI({ baseURL: `${simulator.url}/v1`, apiKey: 'sk-test', maxRetries: 0 });
});
afterEach(() => {
  simulator.reset();
  vi.useRealTimers();
});
afterAll(() => simulator.stop());

/** All thirteen, and nothing else: `Video` of the vendor's SDK. */
const videoSchema = z.strictObject({
  id: z.string().startsWith('video_'),
  object: z.literal('video'),
  created_at: z.int().min(1_700_000_000).max(9_999_999_999),
  status: z.enum(['queued', 'in_progress', 'completed', 'failed']),
  completed_at: z.int().nullable(),
  error: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
  expires_at: z.int().nullable(),
  model: z.string(),
  progress: z.int().min(0).max(100),
  prompt: z.string().nullable(),
  remixed_from_video_id: z.null(),
  seconds: z.enum(['4', '8', '12']),
  size: z.string().regex(/^\d+x\d+$/),
});

const begin = async (prompt: string): Promise<string> => (await openai.videos.create({ model: 'sora-2', prompt })).id;
const read = async (id: string) => videoSchema.parse(await openai.videos.retrieve(id));

test('a job is queued, makes progress and is completed', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const startedAtMs = Date.now();
  const prompt = 'a quiet sea [[takes 8000]]';
  const created = await openai.videos.create({ model: 'sora-2', prompt, seconds: '8', size: '1280x720' });
  const { id } = videoSchema.parse(created);
  expect(created).toMatchObject({ status: 'queued', progress: 0, prompt, seconds: '8', size: '1280x720' });
  const seen: (string | number)[][] = [];
  for (const second of [1, 2, 5, 7.9, 8]) {
    vi.setSystemTime(startedAtMs + second * 1_000);
    const { status, progress } = await read(id);
    seen.push([status, progress]);
  }
  expect(seen).toEqual([
    ['queued', 0],
    ['in_progress', 0],
    ['in_progress', 50],
    ['in_progress', 98],
    ['completed', 100],
  ]);
  const { completed_at: completedAt, created_at: createdAt, expires_at: expiresAt } = await read(id);
  expect([completedAt! - createdAt, expiresAt! - completedAt!]).toEqual([8, 86_400]);
});

test('the content is the MP4, with the credential alone', async () => {
  const id = await begin('[[takes 0]]');
  const response = await openai.videos.downloadContent(id);
  expect([response.headers.get('content-type'), response.headers.get('content-length')]).toEqual([
    'video/mp4',
    '200000',
  ]);
  const bytes = Buffer.from(await response.arrayBuffer());
  expect(bytes.equals(videoBytesOf(id))).toBe(true);
  expect(readBoxes(bytes).map(({ type }) => type)).toEqual(['ftyp', 'moov', 'mdat']);
  expect((await fetch(`${simulator.url}/v1/videos/${id}/content`)).status).toBe(401);
});

test('there is no content before the end', async () => {
  const id = await begin('[[takes 60000]]');
  await expect(openai.videos.downloadContent(id)).rejects.toMatchObject({ status: 404 });
});

test.each([
  ['[[video-fails]]', 'server_error'],
  ['[[video-blocked]]', 'moderation_blocked'],
])('%s ends with %s', async (marker, code) => {
  const { status, error, progress, completed_at: completedAt } = await read(await begin(`${marker} [[takes 0]]`));
  expect([status, error?.code, progress, completedAt]).toEqual(['failed', code, 0, null]);
});

test('jobs stall, vanish, have states nobody knows, and polls fail', async () => {
  const ids = {
    stalled: await begin('[[takes 10]] [[video-stalls]]'),
    vanished: await begin('[[takes 0]] [[video-vanishes]]'),
    unknown: await begin('[[takes 0]] [[video-unknown]]'),
    ailing: await begin('[[takes 0]] [[video-poll-error 60000]]'),
  };
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(await read(ids.stalled)).toMatchObject({ status: 'in_progress', progress: 99 });
  await expect(openai.videos.retrieve(ids.vanished)).rejects.toMatchObject({ status: 404 });
  expect(await openai.videos.retrieve(ids.unknown)).toMatchObject({ status: 'reviewing' });
  await expect(openai.videos.retrieve(ids.ailing)).rejects.toMatchObject({ status: 500 });
});

test('the file breaks off, is a page, or is missing', async () => {
  const content = async (marker: string) => openai.videos.downloadContent(await begin(`[[takes 0]] ${marker}`));
  await expect((await content('[[video-broken]]')).arrayBuffer()).rejects.toThrow();
  expect((await content('[[video-no-mp4]]')).headers.get('content-type')).toBe('text/html');
  await expect(content('[[video-missing]]')).rejects.toMatchObject({ status: 404 });
});

test('another simulator knows the job, but not its longest prompts', async () => {
  const ids = [await begin('[[takes 0]] short'), await begin(`[[takes 0]] ${'long '.repeat(100)}`)];
  const other = await startSimulator();
  const client = new OpenAI({ baseURL: `${other.url}/v1`, apiKey: 'sk-test', maxRetries: 0 });
  const videos = await Promise.all(ids.map((id) => client.videos.retrieve(id)));
  await other.stop();
  expect(videos.map(({ status, prompt }) => [status, prompt])).toEqual([
    ['completed', '[[takes 0]] short'],
    ['completed', null],
  ]);
});
