import OpenAI from 'openai';
import { expect, test, vi } from 'vitest';
import * as z from 'zod';
import { startSimulator } from '../../../../local/simulators/server.ts';
import { startSimulated } from '../simulated.ts';

const { openai } = await startSimulated();

/** All thirteen members of `Video` in the provider's SDK, and no others. */
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

test('another simulator knows the job, but not its long prompt', async () => {
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
