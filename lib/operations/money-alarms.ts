import type { AlarmRow } from './alarm-row.ts';
import { type OwnMetric, sumOf } from './own-metric.ts';

const USD = 1_000_000;
const HOUR = 60;
const DAY = 24 * HOUR;

/** What `money-is-wrong` is made of. */
export const moneyIsWrong = ['audit-difference', 'settle-failures', 'uncollected', 'orphaned-holds'] as const;

export const moneyAlarms = (own: OwnMetric): readonly AlarmRow[] => [
  ...auditAlarms(own),
  ...chargeAlarms(own),
  ...upkeepAlarms(own),
];

const auditAlarms = (own: OwnMetric): readonly AlarmRow[] => [
  {
    id: 'audit-difference',
    metric: own('audit_differences', { minutes: HOUR }),
    threshold: { least: 1 },
    reason: 'The ledger adds up to the last pico-USD, so that one difference is too many.',
  },
  {
    id: 'audit-not-run',
    metric: own('audit_accounts', { minutes: HOUR, statistic: 'SampleCount' }),
    threshold: { below: 1 },
    periods: 3,
    silence: 'wrong',
    reason: 'It runs every hour, and one run may be lost.',
  },
  {
    id: 'audit-not-complete',
    metric: own('audit_passes', { minutes: DAY }),
    threshold: { below: 1 },
    silence: 'wrong',
    reason: 'What is wrong with an account should not stay unseen for more than a day.',
  },
  {
    id: 'audit-too-long',
    metric: own('audit_too_long', { minutes: HOUR }),
    threshold: { least: 1 },
    reason: 'An account that the audit passes over is compared by nobody.',
  },
];

const chargeAlarms = (own: OwnMetric): readonly AlarmRow[] => [
  {
    id: 'settle-failures',
    metric: sumOf(
      [
        own('late_settlement', { minutes: 15 }),
        own('commit_failed', { minutes: 15 }),
        own('video_late_settlement', { minutes: 15 }),
        own('notes_late', { minutes: 15 }),
      ],
      'charges that failed',
      15,
    ),
    threshold: { least: 3 },
    reason: 'One alone is a process that was frozen; three within 15 minutes have a cause in common.',
  },
  {
    id: 'uncollected',
    metric: own('uncollected_micro_usd', { minutes: HOUR }),
    threshold: { least: 1 * USD },
    reason: '1 USD within an hour is more than single requests that went wrong come to.',
  },
  {
    id: 'overage-high',
    metric: own('overage_micro_usd', { minutes: HOUR }),
    threshold: { least: 5 * USD },
    reason: '5 USD within an hour are no estimates that were a little low: accounts are below zero by it.',
  },
  {
    id: 'usage-untrue',
    metric: sumOf(
      [
        own('usage_missing', { minutes: HOUR }),
        own('usage_implausible', { minutes: HOUR }),
        own('video_usage_missing', { minutes: HOUR }),
        own('video_usage_implausible', { minutes: HOUR }),
      ],
      'answers with no usage or an impossible one',
      HOUR,
    ),
    threshold: { least: 20 },
    reason: 'Vendors slip now and then; 20 within an hour are sold for nothing or at a bound.',
  },
];

/** What ends what a request could not end itself. */
const upkeepAlarms = (own: OwnMetric): readonly AlarmRow[] => [
  {
    id: 'ledger-unsure',
    metric: sumOf([own('settled_by_note'), own('apply_failed')], 'writes without a definite answer'),
    threshold: { least: 5 },
    reason: 'Each of them had four attempts, so that five within 5 minutes are no accident.',
  },
  {
    id: 'outbox-old',
    metric: own('note_age_s', { statistic: 'Maximum' }),
    threshold: { least: 600 },
    reason: 'A note is tried again every minute, and the hold that it charges lives 300 s and more.',
  },
  {
    id: 'outbox-not-run',
    metric: own('notes_failed', { statistic: 'SampleCount' }),
    threshold: { below: 1 },
    periods: 2,
    silence: 'wrong',
    reason: 'It runs every minute, so that ten minutes without a run are an outage.',
  },
  {
    id: 'orphaned-holds',
    metric: own('orphaned_holds', { minutes: HOUR, statistic: 'Maximum' }),
    threshold: { least: 1 },
    reason: 'A hold is ended within a minute of its expiry; one that is ten minutes late is not looked after.',
  },
  {
    id: 'sweep-failing',
    metric: own('sweep_failed'),
    threshold: { least: 1 },
    periods: 3,
    reason: 'What fails once is done by the next run; 15 minutes of it withhold money.',
  },
  {
    id: 'sweep-not-run',
    metric: own('swept_released', { statistic: 'SampleCount' }),
    threshold: { below: 1 },
    periods: 2,
    silence: 'wrong',
    reason: 'It ends a run every minute, so that ten minutes without one are an outage.',
  },
];
