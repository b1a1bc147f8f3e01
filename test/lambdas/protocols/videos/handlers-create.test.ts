import { expect, test } from 'vitest';
import { webhookSecretOf } from '../../../../lambdas/core/signature.ts';
import { isVideoId } from '../../../../lambdas/core/videos/video-job.ts';
import { fails } from '../../../support/memory/faults.ts';
import { ACCOUNT, NOW } from '../../core/videos/video-samples.ts';
import { formOf } from '../../http/forms.ts';
import { fileOf, png } from './images.ts';
import { errorOf, requestIdOf, type VideosService, videosService } from './videos-service.ts';

const basic = { model: 'film-1', prompt: 'a cat' };
const ID = `video_${requestIdOf(1)}`;

const queued = {
  id: ID,
  object: 'video',
  model: 'film-1',
  status: 'queued',
  progress: 0,
  created_at: NOW / 1_000,
  completed_at: null,
  expires_at: null,
  size: '1280x720',
  seconds: '4',
  prompt: 'a cat',
  error: null,
  remixed_from_video_id: null,
};

const held = async (service: VideosService) => (await service.world.account()).holds.size;

test('VID-1 a JSON creation returns a queued video, places its hold and starts it', async () => {
  const service = await videosService();
  const answer = await service.post(basic);
  expect([answer.status, JSON.parse(answer.text)]).toEqual([200, queued]);
  expect(answer.headers['content-type']).toMatch(/^application\/json/);
  expect(isVideoId(ID)).toBe(true);
  expect(service.job(ID)).toMatchObject({ accountId: ACCOUNT, state: 'queued', upstreamId: 'upstream-0' });
  expect([service.memory.machine.begun(), await held(service)]).toEqual([[ID], 1]);
  expect(service.finished).toMatchObject([{ summary: { status: 200, model: 'film-1', accountId: ACCOUNT } }]);
  expect(JSON.stringify(service.finished.map(({ summary }) => ({ ...summary })))).not.toContain('a cat');
});

test('VID-2 a form with a file sends it to the provider as the first frame', async () => {
  const service = await videosService();
  const bytes = png(1920, 1080);
  const form = await formOf(
    ['model', 'film-1'],
    ['prompt', 'a cat'],
    ['size', '1920x1080'],
    ['input_reference', fileOf(bytes)],
  );
  expect((await service.postForm(form)).status).toBe(200);
  const [sent] = service.wire.creations;
  expect(sent).toMatchObject({ width: 1920, height: 1080, seconds: 4, reference: { mediaType: 'image/png' } });
  expect([...(sent?.reference?.bytes ?? [])]).toEqual([...bytes]);
});

test('VID-7 a webhook is stored with its secret, which is never shown', async () => {
  const service = await videosService();
  const answer = await service.post({ ...basic, webhook_url: 'https://a.example/hook' });
  const secret = webhookSecretOf(service.apiKey);
  expect(service.job(ID)?.webhook).toEqual({ url: 'https://a.example/hook', secret });
  expect(answer.text).not.toContain(secret);
  expect(JSON.parse(answer.text)).toEqual(queued);
});

test('BILL-16 a dry run returns the hold of a video and starts none', async () => {
  const service = await videosService();
  const dry = { 'x-service-dry-run': 'true', 'idempotency-key': 'key-1' };
  expect(JSON.parse((await service.post(basic, dry)).text)).toEqual({
    object: 'dry_run',
    model: 'film-1',
    hold_usd: '0.62468',
    max_tokens: null,
    prices_usd: { output: '0.000007' },
    prices: { output: '0.000007' },
  });
  const second = JSON.parse((await service.post({ ...basic, model: 'film-2' }, dry)).text);
  expect(second).toMatchObject({ model: 'film-2', hold_usd: '0.4', prices_usd: { second: '0.1' } });
  const form = await formOf(['model', 'film-2'], ['prompt', 'a cat'], ['seconds', '8']);
  expect(JSON.parse((await service.postForm(form, dry)).text)).toMatchObject({ hold_usd: '0.8' });
  expect([service.wire.creations, service.memory.jobs.jobs(), await held(service)]).toEqual([[], [], 0]);
  expect(service.finished.map(({ summary }) => summary.dryRun)).toEqual([true, true, true]);
});

const key = { 'idempotency-key': 'key-1' };

test('IDEM-2 a replay has the same bytes, whatever the state of the video, and starts no other', async () => {
  const service = await videosService();
  const first = await service.post(basic, key);
  expect(first.headers['idempotent-replayed']).toBeUndefined();
  await service.memory.jobs.advance(ID, 60);
  await service.memory.jobs.end(ID, { state: 'completed', completedAtMs: NOW + 1 });
  const second = await service.post({ prompt: 'a cat', model: 'film-1' }, key);
  expect([second.status, second.text]).toEqual([200, first.text]);
  expect(second.headers['idempotent-replayed']).toBe('true');
  expect(second.headers['content-type']).toBe(first.headers['content-type']);
  expect([service.wire.creations.length, service.memory.jobs.jobs().length]).toEqual([1, 1]);
});

test('IDEM-8 a retry after a lost response returns the created video, byte for byte', async () => {
  const prompt = 'ein Käse 🧀 "und" \n\u2028';
  const plain = await videosService();
  const expected = await plain.post({ ...basic, prompt }, key);
  // The response is lost on its way into the store; the job record exists.
  const service = await videosService({ faults: { claims: { stageResponse: fails } } });
  await service.clock.until(service.post({ ...basic, prompt }, key));
  await service.memory.jobs.setUpstream(ID, 'upstream-0');
  await service.memory.jobs.advance(ID, 50);
  await service.clock.advance(200_000);
  const second = await service.clock.until(service.post({ ...basic, prompt }, key));
  const { created_at: _at, ...members } = JSON.parse(expected.text);
  expect(JSON.parse(second.text)).toMatchObject(members);
  expect(second.text).toBe(expected.text);
  expect(service.wire.creations).toHaveLength(1);
});

test('IDEM-5 an idempotency key with a form is 400 that names the supported routes', async () => {
  const service = await videosService();
  const refused = errorOf(await service.postForm(await formOf(['model', 'film-1'], ['prompt', 'a cat']), key));
  expect(refused).toMatchObject({ status: 400, code: 'idempotency_not_supported', param: 'idempotency-key' });
  expect(refused.message).toContain('/v1/images/edits and /v1/videos');
  expect(service.memory.jobs.jobs()).toEqual([]);
});

test('FALL-4 a fallback model is 400 on a creation', async () => {
  const service = await videosService();
  const refused = errorOf(await service.post(basic, { 'x-service-fallback-model': 'film-2' }));
  expect(refused).toMatchObject({ status: 400, code: 'invalid_fallback_model', param: 'x-service-fallback-model' });
});
