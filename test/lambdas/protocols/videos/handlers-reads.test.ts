import { expect, test } from 'vitest';
import type { VideoJob } from '../../../../lambdas/core/videos/video-job.ts';
import { fails } from '../../../support/memory/faults.ts';
import { jobOf, NOW } from '../../core/videos/video-samples.ts';
import { errorOf, requestIdOf, type VideosService, videosService } from './videos-service.ts';

const idOf = (turn: number): string => `video_${requestIdOf(turn)}`;

const put = async ({ memory }: VideosService, turn: number, changes: Partial<VideoJob> = {}): Promise<string> => {
  const id = idOf(turn);
  const {
    state: _state,
    progress: _progress,
    refused: _refused,
    ...record
  } = jobOf({ id, createdAtMs: NOW + turn, ...changes });
  await memory.jobs.create(record, NOW);
  return id;
};

const listed = async ({ get }: VideosService, query: Readonly<Record<string, string>> = {}) => {
  const answer = await get('/v1/videos', {}, query);
  expect(answer.status).toBe(200);
  const page = JSON.parse(answer.text);
  return { ...page, data: page.data.map(({ id }: { id: string }) => id) };
};

test('VID-3 a video can be read in every state', async () => {
  const service = await videosService();
  const id = await put(service, 1, { createdAtMs: NOW + 999 });
  const { jobs } = service.memory;
  const read = async () => JSON.parse((await service.get(`/v1/videos/${id}`)).text);
  const common = {
    id,
    object: 'video',
    model: 'film-1',
    created_at: NOW / 1_000,
    size: '1280x720',
    seconds: '4',
    prompt: 'a cat',
    error: null,
    remixed_from_video_id: null,
  };
  const running = { completed_at: null, expires_at: null };
  expect(await read()).toEqual({ ...common, ...running, status: 'queued', progress: 0 });
  await jobs.advance(id, 37);
  await jobs.noteFailure(id, { code: 'upstream_error', message: 'about to fail' });
  expect(await read()).toEqual({ ...common, ...running, status: 'in_progress', progress: 37 });
  await jobs.end(id, { state: 'completed', completedAtMs: NOW + 5_999 });
  expect(await read()).toEqual({
    ...common,
    status: 'completed',
    progress: 100,
    completed_at: NOW / 1_000 + 5,
    expires_at: NOW / 1_000 + 5 + 86_400,
  });
});

test('VID-3 a failed video shows its reason and no content', async () => {
  const service = await videosService();
  const id = await put(service, 1, { webhook: { url: 'https://a.example', secret: 'canary' } });
  await service.memory.jobs.end(id, { state: 'failed', failure: { code: 'content_filter', message: 'No.' } });
  const { text } = await service.get(`/v1/videos/${id}`);
  expect(JSON.parse(text)).toMatchObject({
    status: 'failed',
    progress: 0,
    completed_at: null,
    expires_at: null,
    error: { code: 'content_filter', message: 'No.' },
  });
  expect(text).not.toMatch(/canary|example|upstream|hold|vendor/);
});

test('AUTH-7 another account’s video is not found on any route', async () => {
  const service = await videosService();
  const id = await put(service, 1, { accountId: 'account-2' });
  const answers = [
    await service.get(`/v1/videos/${id}`),
    await service.get(`/v1/videos/${id}/content`),
    await service.send({ method: 'DELETE', path: `/v1/videos/${id}` }),
    await service.get('/v1/videos/nothing'),
    await service.get(`/v1/videos/${idOf(2)}`),
  ];
  for (const answer of answers) expect(errorOf(answer)).toMatchObject({ status: 404, code: 'not_found', param: null });
  expect(await listed(service)).toMatchObject({ data: [] });
  expect(errorOf(await service.get('/v1/videos', {}, { after: id }))).toMatchObject({ status: 400, param: 'after' });
  expect(service.job(id)).toBeDefined();
});

test('VID-8 a list has the account’s videos, newest first, twenty by default', async () => {
  const service = await videosService();
  expect(await listed(service)).toEqual({ object: 'list', data: [], first_id: null, last_id: null, has_more: false });
  const ids: string[] = [];
  for (let turn = 1; turn <= 25; turn += 1) ids.unshift(await put(service, turn));
  expect(await listed(service)).toEqual({
    object: 'list',
    data: ids.slice(0, 20),
    first_id: ids[0],
    last_id: ids[19],
    has_more: true,
  });
  expect(await listed(service, { after: ids[19] ?? '' })).toMatchObject({ data: ids.slice(20), has_more: false });
  expect(await listed(service, { limit: '100', order: 'asc' })).toMatchObject({
    data: ids.toReversed(),
    has_more: false,
  });
  expect(await listed(service, { limit: '1', after: ids[1] ?? '', order: 'desc' })).toMatchObject({ data: [ids[2]] });
  expect(await listed(service, { limit: '1', after: ids[1] ?? '', order: 'asc' })).toMatchObject({ data: [ids[0]] });
});

test.for([
  ['limit', '0'],
  ['limit', '101'],
  ['limit', 'x'],
  ['order', 'ASC'],
  ['after', 'nothing'],
  ['after', idOf(9)],
] as const)('VID-8 a list with %s %s is 400 naming it', async ([param, value]) => {
  const service = await videosService();
  const refused = errorOf(await service.get('/v1/videos', {}, { [param]: value }));
  expect(refused).toMatchObject({ status: 400, code: 'invalid_request_error', param });
  expect(refused.message).toMatch(new RegExp(`^${param}: must be`));
});

test('VID-8 an ended video is removed with its file, and is no longer found', async () => {
  const service = await videosService();
  const id = await put(service, 1);
  const drop = () =>
    service.send({ method: 'DELETE', path: `/v1/videos/${id}`, headers: { 'idempotency-key': 'two words' } });
  expect(errorOf(await drop())).toMatchObject({ status: 409, code: 'video_in_progress' });
  async function* bytes() {
    yield Buffer.from('film');
  }
  await service.memory.files.put('film', bytes());
  await service.memory.jobs.noteFile(id, { name: 'film', bytes: 4, sha256: 'abc' }, 1);
  await service.memory.jobs.end(id, { state: 'completed', completedAtMs: NOW });
  const answer = await drop();
  expect([answer.status, JSON.parse(answer.text)]).toEqual([200, { id, object: 'video.deleted', deleted: true }]);
  expect(service.memory.files.names()).toEqual([]);
  expect(errorOf(await drop())).toMatchObject({ status: 404, code: 'not_found' });
  expect(errorOf(await service.get(`/v1/videos/${id}`))).toMatchObject({ status: 404 });
});

test('IDEM-5 an idempotency key is ignored where nothing is created', async () => {
  const service = await videosService();
  const id = await put(service, 1);
  const malformed = { 'idempotency-key': 'two words', 'x-service-fallback-model': 'x' };
  for (const path of ['/v1/videos', `/v1/videos/${id}`]) expect((await service.get(path, malformed)).status).toBe(200);
});

test('BILL-14 a store without a response is 503 on every read', async () => {
  const service = await videosService({ faults: { jobs: { read: fails, list: fails } } });
  const id = await put(service, 1);
  for (const path of ['/v1/videos', `/v1/videos/${id}`, `/v1/videos/${id}/content`]) {
    const answer = await service.get(path);
    expect(errorOf(answer)).toMatchObject({ status: 503, code: 'service_unavailable' });
    expect(answer.headers['retry-after']).toBe('30');
  }
  expect(errorOf(await service.get('/v1/videos', {}, { after: id }))).toMatchObject({ status: 503 });
});

test('VID-8 a page continues after a video that has been deleted', async () => {
  const service = await videosService();
  const [older, newer] = [await put(service, 1), await put(service, 2)];
  await service.memory.jobs.end(newer, { state: 'completed', completedAtMs: NOW });
  expect(await service.memory.jobs.remove(newer)).toBe(true);
  const answer = await service.get('/v1/videos', {}, { after: newer });
  expect(JSON.parse(answer.text)).toMatchObject({ data: [{ id: older }], has_more: false });
});
