import type { CompositeRow } from './add-alarms.ts';
import type { AlarmRow } from './alarm-row.ts';
import { type OwnMetric, sumOf } from './own-metric.ts';

const USD = 1_000_000;
const HOUR = 60;
const DAY = 24 * HOUR;

/** Alarms that mean wrong money. They also roll back a deployment (OPS-17). CloudFormation accepts five at most. */
export const moneyAlarmIds = ['audit-difference', 'settle-failures', 'orphaned-holds'] as const;

/** Pages once, however many of its alarms start. Their tickets name the cause. */
export const moneyIsWrong: CompositeRow = {
  id: 'money-is-wrong',
  severity: 'page',
  needs: { any: moneyAlarmIds },
  reason: 'Any of these alarms means that an account paid too much or too little, or cannot use its money.',
};

export const moneyAlarms = (own: OwnMetric): readonly AlarmRow[] => [
  ...auditAlarms(own),
  ...chargeAlarms(own),
  ...upkeepAlarms(own),
];

const auditAlarms = (own: OwnMetric): readonly AlarmRow[] => [
  {
    id: 'audit-difference',
    severity: 'ticket',
    metric: own('audit_differences', { minutes: HOUR }),
    threshold: { least: 1 },
    reason: 'The ledger is exact to one pico-USD, so a single difference is an error.',
  },
  {
    id: 'audit-not-run',
    severity: 'ticket',
    metric: own('audit_accounts', { minutes: HOUR, statistic: 'SampleCount' }),
    threshold: { below: 1 },
    periods: 3,
    silence: 'wrong',
    reason: 'The audit runs every hour. A single run may be lost, but three hours without a run mean an outage.',
  },
  {
    id: 'audit-not-complete',
    severity: 'ticket',
    metric: own('audit_passes', { minutes: DAY }),
    threshold: { below: 1 },
    silence: 'wrong',
    reason: 'The audit must compare every account at least once a day.',
  },
  {
    id: 'audit-too-long',
    severity: 'ticket',
    metric: own('audit_too_long', { minutes: HOUR }),
    threshold: { least: 1 },
    reason: 'An account that the audit skips is not compared.',
  },
];

const chargeAlarms = (own: OwnMetric): readonly AlarmRow[] => [
  {
    id: 'settle-failures',
    severity: 'ticket',
    metric: sumOf(
      [
        own('late_settlement', { minutes: 15 }),
        own('commit_failed', { minutes: 15 }),
        own('video_late_settlement', { minutes: 15 }),
        own('notes_late', { minutes: 15 }),
      ],
      'failed charges',
      15,
    ),
    threshold: { least: 3 },
    reason: 'A single failure can be a frozen process; three within 15 minutes have a common cause.',
  },
  {
    id: 'uncollected',
    severity: 'ticket',
    metric: own('uncollected_micro_usd', { minutes: HOUR }),
    threshold: { least: 1 * USD },
    reason:
      'Within an hour, responses worth 1 USD were not charged to any account. Single failed requests rarely add up to that.',
  },
  {
    id: 'on-probation',
    severity: 'ticket',
    metric: own('account_on_probation', { minutes: HOUR }),
    threshold: { least: 1 },
    reason:
      'Requests of one account cost more than its daily allowance and were not charged. Its large requests are admitted one at a time.',
  },
  {
    id: 'overage-high',
    severity: 'ticket',
    metric: own('overage_micro_usd', { minutes: HOUR }),
    threshold: { least: 5 * USD },
    reason:
      'Within an hour, charges exceeded their holds by 5 USD, which makes account balances negative. Slightly low estimates do not add up to that.',
  },
  {
    id: 'usage-untrue',
    severity: 'ticket',
    metric: sumOf(
      [
        own('usage_missing', { minutes: HOUR }),
        own('usage_implausible', { minutes: HOUR }),
        own('video_usage_missing', { minutes: HOUR }),
        own('video_usage_implausible', { minutes: HOUR }),
      ],
      'results with missing or implausible usage',
      HOUR,
    ),
    threshold: { least: 20 },
    reason: 'Providers make single mistakes; 20 within an hour mean requests that are charged nothing or a maximum.',
  },
];

/** Alarms on the functions that complete interrupted requests. */
const upkeepAlarms = (own: OwnMetric): readonly AlarmRow[] => [
  {
    id: 'ledger-unsure',
    severity: 'ticket',
    metric: sumOf([own('settled_by_note'), own('apply_failed')], 'writes without a definite result'),
    threshold: { least: 5 },
    reason:
      'Writes without a definite result were each tried four times, so five within 5 minutes are not a coincidence.',
  },
  {
    id: 'outbox-old',
    severity: 'ticket',
    metric: own('note_age_s', { statistic: 'Maximum' }),
    threshold: { least: 600 },
    reason:
      'A charge has been in the outbox for ten minutes, although it is retried every minute. Its hold lives at least 300 s.',
  },
  {
    id: 'outbox-not-run',
    severity: 'ticket',
    metric: own('notes_failed', { statistic: 'SampleCount' }),
    threshold: { below: 1 },
    periods: 2,
    silence: 'wrong',
    reason: 'The outbox function runs every minute, so ten minutes without a run mean an outage.',
  },
  {
    id: 'orphaned-holds',
    severity: 'ticket',
    metric: own('orphaned_holds', { minutes: HOUR, statistic: 'Maximum' }),
    threshold: { least: 1 },
    reason: 'The sweep ends a hold within a minute of its expiry; one that is ten minutes late is not processed.',
  },
  {
    id: 'sweep-failing',
    severity: 'ticket',
    metric: own('sweep_failed'),
    threshold: { least: 1 },
    periods: 3,
    reason: 'The next run repeats a failed step; failures for 15 minutes keep money on hold.',
  },
  {
    id: 'sweep-not-run',
    severity: 'ticket',
    metric: own('swept_released', { statistic: 'SampleCount' }),
    threshold: { below: 1 },
    periods: 2,
    silence: 'wrong',
    reason: 'The sweep completes a run every minute, so ten minutes without one mean an outage.',
  },
  {
    id: 'clock-skewed',
    severity: 'ticket',
    metric: own('clock_skewed'),
    threshold: { least: 1 },
    periods: 3,
    reason:
      'A process whose clock is a minute off is replaced sooner; 15 minutes of reports mean that machines keep a wrong time.',
  },
];
