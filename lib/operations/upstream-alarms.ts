import type { AlarmRow } from './alarm-row.ts';
import { type OwnMetric, sumOf } from './own-metric.ts';

const HOUR = 60;

export const upstreamAlarms = (own: OwnMetric): readonly AlarmRow[] => [...providerAlarms(own), ...videoAlarms(own)];

const providerAlarms = (own: OwnMetric): readonly AlarmRow[] => [
  {
    id: 'vendor-refused-us',
    severity: 'page',
    metric: own('vendor_refused_us'),
    threshold: { least: 1 },
    reason: 'The error does not resolve itself, and all models of the provider are down until it is fixed (ERR-3).',
  },
  {
    id: 'credential-refused',
    severity: 'ticket',
    metric: own('credential_refused'),
    threshold: { least: 1 },
    reason: 'The error does not resolve itself, but other credentials of the provider serve the requests (ERR-10).',
  },
  {
    id: 'credentials-limited',
    severity: 'ticket',
    metric: own('credential_limited'),
    threshold: { least: 10 },
    periods: 3,
    reason:
      'Single cooldowns are normal at a limit; two per minute for 15 minutes mean that its weight is too high (ERR-10).',
  },
  {
    id: 'vendor-model-missing',
    severity: 'ticket',
    metric: own('vendor_model_missing'),
    threshold: { least: 1 },
    reason: 'A model that the provider removed does not return by itself (ERR-9).',
  },
  {
    id: 'circuits-open',
    severity: 'ticket',
    metric: own('circuit_opened', { minutes: 15 }),
    threshold: { least: 3 },
    reason:
      'A single circuit may open and close by itself; three openings within 15 minutes mean one that fails again or several models.',
  },
  {
    id: 'model-quarantined',
    severity: 'ticket',
    metric: own('model_quarantined'),
    threshold: { least: 1 },
    reason: 'Twenty results without usage came before the quarantine, and nothing was charged for them (BILL-10).',
  },
  {
    id: 'upstream-errors',
    severity: 'ticket',
    metric: sumOf(
      [own('requests', { of: { code: 'upstream_error' } }), own('requests', { of: { code: 'upstream_timeout' } })],
      'requests failed by providers',
    ),
    threshold: { least: 50 },
    periods: 3,
    reason: 'Ten failures per minute for 15 minutes exceed the usual error rate of a provider.',
  },
  {
    id: 'secrets-unreadable',
    severity: 'ticket',
    metric: sumOf([own('provider_keys_unreadable'), own('origin_secret_unreadable')], 'failed reads of secrets'),
    threshold: { least: 3 },
    reason: 'Processes continue with the secrets they have; three failed reads are more than a brief network error.',
  },
];

const videoAlarms = (own: OwnMetric): readonly AlarmRow[] => [
  {
    id: 'videos-failing',
    severity: 'ticket',
    metric: own('video_failed', { minutes: HOUR }),
    threshold: { least: 10 },
    reason: 'Single videos fail because of their prompts. If ten fail within an hour, check the error codes.',
  },
  {
    id: 'videos-late',
    severity: 'ticket',
    metric: sumOf(
      [own('video_timed_out', { minutes: HOUR }), own('video_resumed', { minutes: HOUR })],
      'videos ended late',
      HOUR,
    ),
    threshold: { least: 3 },
    reason:
      'A single video may exceed its time limit or lose its execution; three within an hour suggest a common cause.',
  },
  {
    id: 'video-sweep-failing',
    severity: 'ticket',
    metric: own('video_sweep_failed'),
    threshold: { least: 1 },
    periods: 3,
    reason: 'The next run repeats a failed step; failures for 15 minutes delay videos and keep their money on hold.',
  },
  {
    id: 'video-sweep-not-run',
    severity: 'ticket',
    metric: own('video_sweep_failed', { statistic: 'SampleCount' }),
    threshold: { below: 1 },
    periods: 2,
    silence: 'wrong',
    reason: 'The video sweep completes a run every minute, so ten minutes without one mean an outage.',
  },
  {
    id: 'webhooks-failing',
    severity: 'ticket',
    metric: own('video_webhook_failed', { minutes: HOUR }),
    threshold: { least: 50 },
    reason: 'An unreachable client causes five failures per video; fifty within an hour are more than one client.',
  },
];
