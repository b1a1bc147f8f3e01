import { expect, test } from 'vitest';
import {
  toCreationAnswer,
  toShownVideo,
  toVideoObject,
  toWebhookBody,
} from '../../../../lambdas/protocols/videos/video-object.ts';
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
  const delivery = { attempts: 1, lastAtMs: NOW, status: 500, problem: 'No.' };
  expect(toWebhookBody({ ...job, delivery })).toBe(body);
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

const ended = jobOf({ state: 'completed', completedAtMs: NOW + 1_000, webhook });
const none = { last_attempt_at: null, last_status: null, last_error: null, next_attempt_at: null };
const second = NOW / 1_000;

test.each([
  ['before the first attempt', undefined, { status: 'pending', attempts: 0, ...none }],
  [
    'after a failed attempt',
    { attempts: 2, lastAtMs: NOW, status: 503, problem: 'Busy.', nextAtMs: NOW + 30_999 },
    {
      ...{ status: 'pending', attempts: 2, last_attempt_at: second, last_status: 503, last_error: 'Busy.' },
      next_attempt_at: second + 30,
    },
  ],
  [
    'after the last attempt',
    { attempts: 5, lastAtMs: NOW, problem: 'Gone.' },
    { ...none, status: 'failed', attempts: 5, last_attempt_at: second, last_error: 'Gone.' },
  ],
  [
    'after an accepted attempt',
    { attempts: 1, lastAtMs: NOW, status: 204 },
    { ...none, status: 'delivered', attempts: 1, last_attempt_at: second, last_status: 204 },
  ],
])('VID-7 a video shows its deliveries %s, and never the secret', (_when, delivery, shown) => {
  const video = toShownVideo({ ...ended, delivery });
  expect(video).toEqual({ ...toVideoObject(ended), webhook: { id: `evt_${VIDEO}`, ...shown } });
  expect(JSON.stringify(video)).not.toMatch(/canary|a\.example/);
});

test('VID-1, VID-7 a video without a webhook, and each response to a creation, show no deliveries', () => {
  const { webhook: _, ...plain } = ended;
  expect(toShownVideo(plain)).toEqual(toVideoObject(plain));
  expect(String(toCreationAnswer(ended).body)).not.toContain('webhook');
});
