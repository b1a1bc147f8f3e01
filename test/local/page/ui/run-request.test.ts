import { expect, test } from 'vitest';
import { type Answer, json, receipt, run } from './scripted-gateway.ts';

test('ERR-1 a rejected request shows the status, the code and the message', async () => {
  const refusal = json(402, { error: { code: 'insufficient_balance', message: 'Top up.' } }, { 'retry-after': '7' });
  const { reading } = await run('images', '/v1/x', { '/v1/x': [refusal] });
  const error = { code: 'insufficient_balance', message: 'Top up.' };
  expect(reading).toMatchObject({ state: 'failed', status: 402, error, retryAfter: '7' });
});

test.each([
  [{ url: 'http://10.0.0.1/media/abc' }, '/media/abc'],
  [{ b64_json: 'QUJD' }, 'data:image/png;base64,QUJD'],
])('an image %j is loaded from %s', async (datum, url) => {
  const answer = json(200, { data: [datum] }, { 'x-service-cost-usd': '0.03' });
  const { reading } = await run('images', '/v1/x', { '/v1/x': [answer] });
  expect(reading).toMatchObject({ state: 'done', media: { kind: 'image', url }, costUsd: '0.03' });
});

test('a video is polled until it is complete, and then its file is loaded with the key', async () => {
  const job = { id: 'video_1', progress: 0, size: '1280x720', seconds: '4', error: null };
  const file: Answer = (response) => void response.writeHead(200, { 'content-type': 'video/mp4' }).end('bytes');
  const { reading, asked, states } = await run('video', '/v1/videos', {
    '/v1/videos': [json(200, { ...job, status: 'queued' })],
    '/v1/videos/video_1': [json(200, { ...job, status: 'completed', progress: 100 })],
    '/v1/videos/video_1/content': [file],
    '/api/usage/R1': [receipt],
  });
  expect(reading).toMatchObject({
    state: 'done',
    costUsd: '0.25',
    job: { status: 'completed' },
    media: { kind: 'video' },
  });
  expect(await (await fetch(reading.media!.url)).text()).toBe('bytes');
  expect(states).toContain('streaming');
  const paths = ['/v1/videos/video_1', '/v1/videos/video_1/content', '/api/usage/R1'];
  expect(asked.slice(1)).toEqual(paths.map((path) => `GET ${path} Bearer K`));
});

test('VID-3 a failed video shows the error of its job', async () => {
  const job = { id: 'video_1', status: 'failed', error: { code: 'moderation_blocked', message: 'Blocked.' } };
  const { reading } = await run('video', '/v1/videos', { '/v1/videos': [json(200, job)] });
  expect(reading).toMatchObject({ state: 'failed', error: job.error });
});

test('a canceled request is stopped, also while a video is polled', async () => {
  const job = { id: 'video_1', status: 'queued', progress: 0, size: '', seconds: '', error: null };
  const stopper = new AbortController();
  const created = json(200, job);
  const answer: typeof created = (response) => {
    created(response);
    setTimeout(() => stopper.abort(), 200);
  };
  const { reading, asked } = await run('video', '/v1/videos', { '/v1/videos': [answer] }, stopper.signal);
  expect(reading).toMatchObject({ state: 'stopped' });
  expect(asked).toHaveLength(1);
});

test('a broken connection is shown as one', async () => {
  const { reading } = await run('chat', '/v1/x', { '/v1/x': [(response) => void response.destroy()] });
  expect(reading).toMatchObject({ state: 'failed', error: { code: 'connection broken' } });
});
