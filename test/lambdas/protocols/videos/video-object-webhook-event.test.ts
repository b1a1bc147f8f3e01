import { expect, test } from 'vitest';
import { toVideoObject, toWebhookBody } from '../../../../lambdas/protocols/videos/video-object.ts';
import { jobOf, NOW, VIDEO } from '../../core/videos/video-samples.ts';

const webhook = { url: 'https://a.example/hook', secret: 'canary' };

test('VID-7 a completed video is reported with its object, identical in every attempt', () => {
  const job = jobOf({ state: 'completed', completedAtMs: NOW + 61_500, webhook });
  const body = toWebhookBody(job);
  expect(JSON.parse(body)).toEqual({
    id: `evt_${VIDEO}`,
    object: 'event',
    type: 'video.completed',
    created_at: NOW / 1_000 + 61,
    data: toVideoObject(job),
  });
  expect(toWebhookBody({ ...job })).toBe(body);
});

test('VID-7 a failed video is reported with its reason, and never with the secret', () => {
  const job = jobOf({ state: 'failed', failure: { code: 'content_filter', message: 'No.' }, webhook });
  const body = toWebhookBody(job);
  expect(JSON.parse(body)).toMatchObject({
    type: 'video.failed',
    created_at: NOW / 1_000,
    data: { id: VIDEO, status: 'failed', error: { code: 'content_filter', message: 'No.' } },
  });
  expect(body).not.toMatch(/canary|a\.example/);
});
