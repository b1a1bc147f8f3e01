import { expect, test } from 'vitest';
import * as z from 'zod';
import { StoreError } from '../../../../lambdas/core/errors/store-error.ts';
import { parseUsd } from '../../../../lambdas/core/money/usd.ts';
import { webhookSecretOf } from '../../../../lambdas/core/signature.ts';
import { dependenciesFromEnvironment } from '../../../../lambdas/functions/wiring/from-environment.ts';
import { videoDependenciesFromEnvironment } from '../../../../lambdas/functions/wiring/video-dependencies.ts';
import { createVideoStepsHandler, PAUSED_ERROR } from '../../../../lambdas/functions/wiring/video-steps-handler.ts';
import { created, failedWith, queued, running, succeeded } from '../../../fixtures/byteplus/video-tasks.ts';
import { noTables } from '../../../support/memory/memory-stores.ts';
import { mp4Of } from '../../../support/memory/scripted-video-wire.ts';
import { ACCOUNT, createVideoService } from './video-service.ts';

const file = mp4Of(1_000);
/** Tokens of four seconds of 1280x720 by the provider's formula. */
const TOKENS = 87_300;
const finished = { ...succeeded, usage: { completion_tokens: TOKENS } };

/** Provider with these responses to polls, in order, and the file at every other address. */
const vendorWith = (...looks: readonly object[]) => {
  const left = [...looks];
  return ({ url, method }: { readonly url: string; readonly method?: string | undefined }) => {
    if (method !== 'GET') return created;
    return url.includes('/tasks/') ? (left.shift() ?? queued) : file;
  };
};

const webhook_url = 'https://client.example/videos';

test('VID-5, VID-6, VID-7 the steps of a video return its state, charge once and notify', async () => {
  const service = await createVideoService(vendorWith(queued, running, finished, finished));
  const step = createVideoStepsHandler(service.deps);
  const videoId = await service.create({ webhook_url });
  const run = (name: string) => step({ step: name, videoId });
  expect(service.stores.videoMachine.starts).toEqual([videoId]);

  expect(await run('poll')).toEqual({ outcome: 'running', waitSeconds: 10, elapsedSeconds: 0 });
  await service.clock.advance(90_000);
  expect(await run('poll')).toEqual({ outcome: 'running', waitSeconds: 45, elapsedSeconds: 90 });
  expect(await run('poll')).toMatchObject({ outcome: 'succeeded' });
  expect(await run('store')).toEqual({});
  expect([await service.spent(), await service.holds()]).toEqual([0n, 1]);
  expect((await service.get(`/v1/videos/${videoId}/content`)).status).toBe(409);
  expect(await run('charge')).toEqual({});
  expect(await run('charge')).toEqual({});
  expect(await run('finish')).toEqual({ webhook: true });
  expect(await run('notify')).toEqual({});
  expect(await run('poll')).toMatchObject({ outcome: 'ended' });

  expect([await service.spent(), await service.holds()]).toEqual([BigInt(TOKENS) * parseUsd('0.0000056'), 0]);
  const shown = JSON.parse((await service.get(`/v1/videos/${videoId}`)).text);
  expect(shown).toMatchObject({ id: videoId, status: 'completed', progress: 100 });
  const content = await service.get(`/v1/videos/${videoId}/content`);
  expect([content.status, content.text]).toEqual([200, Buffer.from(file).toString()]);
  const [delivery, ...others] = service.deliveries;
  expect(others).toEqual([]);
  const secret = await service.stores.webhookSecrets.read(ACCOUNT);
  expect(delivery).toMatchObject({
    url: webhook_url,
    id: `evt_${videoId}`,
    secrets: [secret?.secret],
    keySecret: webhookSecretOf(service.apiKey),
  });
  const { webhook, ...data } = shown;
  expect(webhook).toMatchObject({ id: `evt_${videoId}`, status: 'delivered', attempts: 1, last_status: 204 });
  expect(JSON.parse(delivery?.body ?? '')).toMatchObject({ type: 'video.completed', data });
  expect(service.notices).toEqual([['video_completed', { videoId }]]);
});

test('VID-6 the hold of a video that fails at its provider is released, and nothing is charged', async () => {
  const service = await createVideoService(vendorWith(failedWith('InternalServiceError', 'It broke.')));
  const step = createVideoStepsHandler(service.deps);
  const videoId = await service.create();
  expect(await step({ step: 'poll', videoId })).toMatchObject({ outcome: 'failed' });
  expect(await step({ step: 'release', videoId })).toEqual({ webhook: false });
  expect(await step({ step: 'notify', videoId })).toEqual({});
  expect([await service.spent(), await service.holds(), service.deliveries]).toEqual([0n, 0, []]);
  expect(JSON.parse((await service.get(`/v1/videos/${videoId}`)).text)).toMatchObject({ status: 'failed' });
});

test('VID-7 the time between polls and the maximum age of a video are settings', async () => {
  const times = { VIDEO_POLL_SECONDS: '3', VIDEO_POLL_SECONDS_MAX: '7', VIDEO_LIMIT_SECONDS: '100' };
  const service = await createVideoService(vendorWith(), times);
  const step = createVideoStepsHandler(service.deps);
  const videoId = await service.create();
  expect(await step({ step: 'poll', videoId })).toMatchObject({ waitSeconds: 3 });
  await service.clock.advance(100_000);
  expect(await step({ step: 'poll', videoId })).toMatchObject({ waitSeconds: 7, elapsedSeconds: 100 });
  await step({ step: 'release', videoId });
  expect(service.notices[0]).toEqual(['video_timed_out', { videoId }]);
  const { error } = JSON.parse((await service.get(`/v1/videos/${videoId}`)).text);
  expect(error.code).toBe('upstream_timeout');
});

test('BILL-10 the twentieth video without usage, over all processes, quarantines its model', async () => {
  const { usage: _, ...silent } = succeeded;
  const service = await createVideoService(vendorWith(silent, silent));
  const step = createVideoStepsHandler(service.deps);
  const videoId = await service.create();
  const minute = service.clock.now() - (service.clock.now() % 60_000);
  for (let reported = 0; reported < 19; reported += 1)
    await service.stores.circuitStore.countMissing('seedance-2-0-fast', 'other', minute);
  for (const name of ['poll', 'store', 'charge']) await step({ step: name, videoId });
  expect(service.notices).toEqual([
    ['video_usage_missing', { videoId }],
    ['model_quarantined', { circuit: 'seedance-2-0-fast' }],
  ]);
  expect(await service.spent()).toBe(0n);
});

test('VID-5 a store failure is thrown, so that the state machine retries', async () => {
  const service = await createVideoService(vendorWith());
  const { videoJobs } = service.deps;
  const videoId = await service.create();
  const unread = () => Promise.reject(new StoreError('unavailable', 'down'));
  const step = createVideoStepsHandler({ ...service.deps, videoJobs: { ...videoJobs, read: unread } });
  await expect(service.clock.until(step({ step: 'poll', videoId }))).rejects.toThrow(StoreError);
});

test.each([
  ['no task', undefined],
  ['no step', { videoId: 'video_01K00000000000000000000001' }],
  ['a step that every object has', { step: 'constructor', videoId: 'video_01K00000000000000000000001' }],
  ['no video', { step: 'poll' }],
  ['an invalid id', { step: 'release', videoId: 'outbox/1' }],
])('VID-5 %s is rejected', async (_what, task) => {
  const service = await createVideoService(vendorWith());
  await expect(createVideoStepsHandler(service.deps)(task)).rejects.toThrow(z.ZodError);
});

test('AUTH-5 functions without an HTTP route need no pepper, and the others require it', async () => {
  const environment = { ...noTables, AWS_REGION: 'us-east-1' };
  const deps = await videoDependenciesFromEnvironment(environment);
  expect(deps).not.toHaveProperty('pepper');
  await expect(dependenciesFromEnvironment(environment)).rejects.toThrow(/^KEY_PEPPER: /);
  await expect(deps.videoMachine.start('video_1')).rejects.toThrow(/^VIDEO_MACHINE_ARN: /);
});

test('OPS-15 a paused step does no work, and throws the error that the state machine repeats', async () => {
  const service = await createVideoService(vendorWith(finished));
  const step = createVideoStepsHandler(service.deps);
  const videoId = await service.create();
  await service.deps.maintenance.write('paused');
  for (const name of ['poll', 'store', 'charge', 'finish', 'release', 'notify'])
    await expect(step({ step: name, videoId }), name).rejects.toMatchObject({ name: PAUSED_ERROR });
  expect(new Set(service.notices.map((notice) => JSON.stringify(notice)))).toEqual(
    new Set(['["worker_paused",{"worker":"videoSteps"}]']),
  );
  expect([await service.spent(), await service.holds()]).toEqual([0n, 1]);
  await service.deps.maintenance.write('off');
  expect(await step({ step: 'poll', videoId })).toMatchObject({ outcome: 'succeeded' });
});
