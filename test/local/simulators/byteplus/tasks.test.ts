import { expect, test, vi } from 'vitest';
import * as z from 'zod';
import { startSimulated } from '../simulated.ts';
import { begin, errorOf, poll, read, tasksPath } from './ask.ts';

const { simulator } = await startSimulated();

/**
 * Written by hand from the provider's page about task queries and the types of `@tanstack/ai-byteplus`
 * (`src/video/wire-types.ts`).
 */
const failure = z.strictObject({ code: z.string().min(1), message: z.string().regex(/Request id: 02\w+$/) });
const taskSchema = z.strictObject({
  id: z.string().startsWith('cgt-'),
  model: z.string(),
  status: z.enum(['queued', 'running', 'succeeded', 'failed']),
  error: failure.nullable(),
  content: z.strictObject({ video_url: z.url() }).optional(),
  usage: z.strictObject({ completion_tokens: z.int(), total_tokens: z.int() }).optional(),
  created_at: z.int().min(1_700_000_000).max(9_999_999_999),
  updated_at: z.int().min(1_700_000_000).max(9_999_999_999),
  seed: z.int().optional(),
  resolution: z.enum(['480p', '720p', '1080p']).optional(),
  ratio: z
    .string()
    .regex(/^\d+:\d+$/)
    .optional(),
  duration: z.int().optional(),
  framespersecond: z.literal(24).optional(),
  service_tier: z.literal('default'),
  execution_expires_after: z.literal(172_800),
  generate_audio: z.boolean(),
  draft: z.literal(false),
});

/** Fakes only `Date`, so that requests still run. */
const holdClock = () => vi.useFakeTimers({ toFake: ['Date'] });
const pass = (ms: number) => vi.setSystemTime(Date.now() + ms);

test('a job waits for a quarter of its time, runs, and succeeds', async () => {
  holdClock();
  const id = await begin(simulator, '[[takes 8000]]', { seed: 11, generate_audio: false });
  const seen: string[] = [];
  for (let second = 0; second <= 9; second += 1) {
    seen.push(taskSchema.parse(await read(simulator, id)).status);
    pass(1_000);
  }
  expect(seen).toEqual(['queued', 'queued', ...Array(6).fill('running'), 'succeeded', 'succeeded']);
  expect(taskSchema.parse(await read(simulator, id))).toMatchObject({
    id,
    model: 'dreamina-seedance-2-0-260128',
    error: null,
    usage: { completion_tokens: 87_300, total_tokens: 87_300 },
    seed: 11,
    resolution: '720p',
    ratio: '16:9',
    duration: 4,
    generate_audio: false,
  });
});

test.each([
  ['480p', '16:9', 4, 40_594],
  ['720p', '9:16', 5, 108_900],
  ['1080p', '16:9', 12, 585_225],
])('a video of %s, %s and %i s counts %i tokens', async (resolution, ratio, duration, tokens) => {
  const id = await begin(simulator, '[[takes 0]]', { resolution, ratio, duration });
  expect(await read(simulator, id)).toMatchObject({
    resolution,
    ratio,
    duration,
    usage: { completion_tokens: tokens, total_tokens: tokens },
  });
});

test('[[video-stalls]] never ends, and [[video-vanishes]] is forgotten after it has started', async () => {
  holdClock();
  const stalled = await begin(simulator, '[[video-stalls]]');
  const vanished = await begin(simulator, '[[video-vanishes]]');
  pass(1_500);
  expect(await read(simulator, vanished)).toMatchObject({ status: 'running' });
  pass(500);
  const response = await poll(simulator, vanished);
  expect([response.status, (await errorOf(response)).type]).toEqual([404, 'NotFound']);
  pass(86_400_000);
  expect(await read(simulator, stalled)).toMatchObject({ status: 'running' });
});

test('[[video-unknown]] reports an undocumented status, for a while or forever', async () => {
  holdClock();
  const ids = [await begin(simulator, '[[video-unknown]]'), await begin(simulator, '[[video-unknown 9000]]')];
  const statuses = () => Promise.all(ids.map(async (id) => (await read(simulator, id)).status));
  pass(8_999);
  expect(await statuses()).toEqual(['reviewing', 'reviewing']);
  pass(1);
  expect(await statuses()).toEqual(['reviewing', 'succeeded']);
});

test('[[video-poll-error n]] fails the polls, not the job', async () => {
  holdClock();
  const id = await begin(simulator, '[[video-poll-error 5000]]');
  pass(4_999);
  const response = await poll(simulator, id);
  expect([response.status, (await errorOf(response)).code]).toEqual([500, 'InternalServiceError']);
  pass(1);
  expect(await read(simulator, id)).toMatchObject({ status: 'succeeded' });
});

test('the scenario of a test takes precedence over the markers and is stored in the id', async () => {
  simulator.next({ video: { takesMs: 0, ending: 'blocked' } });
  const id = await begin(simulator, '[[takes 60000]]');
  expect(await read(simulator, id)).toMatchObject({ status: 'failed' });
  simulator.setScenario(({ method }) => (method === 'GET' ? { refusal: { kind: 'status', status: 503 } } : undefined));
  expect((await poll(simulator, id)).status).toBe(503);
  const statuses = simulator.requests.map(({ method, path, outcome }) => [method, path.startsWith(tasksPath), outcome]);
  expect(statuses).toEqual([
    ['POST', true, 'answered'],
    ['GET', true, 'answered'],
    ['GET', true, 'refused'],
  ]);
});
