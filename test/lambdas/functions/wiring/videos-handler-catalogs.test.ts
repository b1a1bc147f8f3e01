import { expect, test } from 'vitest';
import { catalogData } from '../../../../catalog/index.ts';
import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import { createContentHandler } from '../../../../lambdas/functions/wiring/content-handler.ts';
import { videoDependenciesFromEnvironment } from '../../../../lambdas/functions/wiring/video-dependencies.ts';
import { createVideoStepsHandler } from '../../../../lambdas/functions/wiring/video-steps-handler.ts';
import { createVideosHandler } from '../../../../lambdas/functions/wiring/videos-handler.ts';
import { created, succeeded } from '../../../fixtures/byteplus/video-tasks.ts';
import { noTables } from '../../../support/memory/memory-stores.ts';
import { mp4Of } from '../../../support/memory/scripted-video-wire.ts';
import { functionUrlEvent, invoke } from '../../http/function-url.ts';
import { createVideoService } from './video-service.ts';

const environment = { ...noTables, AWS_REGION: 'us-east-1' };

test('CAT-1 the setting names the companies whose models are served, by default all', async () => {
  const idsOf = async (CATALOGS: string) =>
    (await videoDependenciesFromEnvironment({ ...environment, CATALOGS })).catalog.list(Date.UTC(2026, 10, 20));
  const companiesOf = async (catalogs: string) => new Set((await idsOf(catalogs)).map(({ company }) => company));
  expect([...(await companiesOf('google,openai'))].sort()).toEqual(['google', 'openai']);
  expect((await companiesOf('')).size).toBe(5);
});

test('CAT-5 a function does not start with an unknown company', async () => {
  await expect(videoDependenciesFromEnvironment({ ...environment, CATALOGS: 'openai,nobody' })).rejects.toThrow(
    /"nobody"/,
  );
});

test('VID-5, VID-6 a video completes and is charged even if its company is not served anymore', async () => {
  const file = mp4Of(1_000);
  const service = await createVideoService(({ url, method }) => {
    if (method !== 'GET') return created;
    return url.includes('/tasks/') ? { ...succeeded, usage: { completion_tokens: 1_000 } } : file;
  });
  const videoId = await service.create();
  expect(await service.holds()).toBe(1);

  const deps = { ...service.deps, catalog: loadCatalog(catalogData, { companies: ['openai'] }) };
  const step = createVideoStepsHandler(deps);
  expect(await step({ step: 'poll', videoId })).toMatchObject({ outcome: 'succeeded' });
  for (const name of ['store', 'charge', 'finish']) await step({ step: name, videoId });
  expect([await service.spent(), await service.holds()]).toEqual([1_000n * 5_600_000n, 0]);

  const videos = createVideosHandler(deps);
  const headers = { authorization: `Bearer ${service.apiKey}` };
  const shown = await invoke(videos, functionUrlEvent({ method: 'GET', path: `/v1/videos/${videoId}`, headers }));
  expect(JSON.parse(shown.text)).toMatchObject({ id: videoId, status: 'completed' });
  const contentEvent = functionUrlEvent({ method: 'GET', path: `/v1/videos/${videoId}/content`, headers });
  expect((await invoke(createContentHandler(deps), contentEvent)).status).toBe(200);

  const body = JSON.stringify({ model: 'seedance-2-0-fast', prompt: 'a boat' });
  const event = functionUrlEvent({ method: 'POST', path: '/v1/videos', headers, body, base64: true });
  const refused = await invoke(videos, event);
  expect([refused.status, JSON.parse(refused.text).error.code]).toEqual([404, 'model_not_found']);
});
