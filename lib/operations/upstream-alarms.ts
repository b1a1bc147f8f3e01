import type { AlarmRow } from './alarm-row.ts';
import { type OwnMetric, sumOf } from './own-metric.ts';

const HOUR = 60;

export const upstreamAlarms = (own: OwnMetric): readonly AlarmRow[] => [
  {
    id: 'vendor-refused-us',
    metric: own('vendor_refused_us'),
    threshold: { least: 1 },
    reason: 'It does not pass by itself, and all of that vendor is down meanwhile (ERR-3).',
  },
  {
    id: 'vendor-model-missing',
    metric: own('vendor_model_missing'),
    threshold: { least: 1 },
    reason: 'A model that is gone does not come back by itself (ERR-9).',
  },
  {
    id: 'circuits-open',
    metric: own('circuit_opened', { minutes: 15 }),
    threshold: { least: 3 },
    reason: 'One may open and close by itself; three within 15 minutes are one that stays open, or several models.',
  },
  {
    id: 'model-quarantined',
    metric: own('model_quarantined'),
    threshold: { least: 1 },
    reason: 'Twenty answers were sold for nothing before it came to this (BILL-10).',
  },
  {
    id: 'upstream-errors',
    metric: sumOf(
      [own('requests', { of: { code: 'upstream_error' } }), own('requests', { of: { code: 'upstream_timeout' } })],
      'requests that a vendor failed',
    ),
    threshold: { least: 50 },
    periods: 3,
    reason: 'Ten a minute for a quarter of an hour is more than the noise of any vendor.',
  },
  {
    id: 'secrets-unreadable',
    metric: sumOf([own('provider_keys_unreadable'), own('origin_secret_unreadable')], 'secrets that were not read'),
    threshold: { least: 3 },
    reason: 'Processes go on with what they know; three attempts that failed are not a moment of the network.',
  },
  {
    id: 'videos-failing',
    metric: own('video_failed', { minutes: HOUR }),
    threshold: { least: 10 },
    reason: 'Some fail by their prompts; ten within an hour are worth a look at their codes.',
  },
  {
    id: 'videos-late',
    metric: sumOf(
      [own('video_timed_out', { minutes: HOUR }), own('video_resumed', { minutes: HOUR })],
      'videos that nobody ended in time',
      HOUR,
    ),
    threshold: { least: 3 },
    reason: 'The machine ends a video; what ends it instead is there for accidents.',
  },
  {
    id: 'video-sweep-failing',
    metric: own('video_sweep_failed'),
    threshold: { least: 1 },
    periods: 3,
    reason: 'What fails once is done by the next run; 15 minutes of it leave videos and their money waiting.',
  },
  {
    id: 'video-sweep-not-run',
    metric: own('video_sweep_failed', { statistic: 'SampleCount' }),
    threshold: { below: 1 },
    periods: 2,
    silence: 'wrong',
    reason: 'It ends a run every minute, so that ten minutes without one are an outage.',
  },
  {
    id: 'webhooks-failing',
    metric: own('video_webhook_failed', { minutes: HOUR }),
    threshold: { least: 50 },
    reason: 'A client that is away fails five times for each video; fifty within an hour are not one client.',
  },
];
