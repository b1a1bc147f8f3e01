/**
 * What money does, for trends and alarms: the ledger alone is exact. Over time, held and overage are as much as charged and released,
 * but for what a lost reply hid. Uncollected is what an answer was worth that was not charged though its vendor was paid.
 */
export const movements = ['held', 'charged', 'released', 'overage', 'uncollected'] as const;

export type Movement = (typeof movements)[number];

/** Must not throw: it is called in the middle of what it counts. */
export type MoneyMeter = (picos: Readonly<Partial<Record<Movement, bigint>>>) => void;

/**
 * Everything the gateway tells its operator of itself: each is a record of the log, a metric of the same name, and a section of
 * docs/runbook.md. Counted and alarmed, never decided on.
 */
const paidNotices = [
  'usage_missing',
  'usage_implausible',
  'overage',
  'late_settlement',
  'settled_by_note',
  'commit_failed',
  'apply_failed',
] as const;

export type PaidNotice = (typeof paidNotices)[number];

const videoNotices = [
  'video_completed',
  'video_failed',
  'video_timed_out',
  'video_usage_missing',
  'video_usage_implausible',
  'video_overage',
  'video_late_settlement',
  'video_resumed',
  'video_webhook_failed',
] as const;

export type VideoNotice = (typeof videoNotices)[number];

const circuitNotices = ['circuit_opened', 'circuit_closed', 'model_quarantined'] as const;

export type CircuitNotice = (typeof circuitNotices)[number];

const vendorNotices = ['vendor_refused_us', 'vendor_model_missing'] as const;

export type VendorNotice = (typeof vendorNotices)[number];

const secretNotices = ['provider_keys_unreadable', 'origin_secret_unreadable'] as const;

const tendingNotices = ['holds_swept', 'notes_settled', 'videos_swept', 'audit_difference', 'audit_too_long'] as const;

const messengerNotices = [
  'notice_failed',
  'notice_refused',
  'account_change_unreadable',
  'bot_message_failed',
  'bot_message_refused',
] as const;

export const noticeNames = [
  ...paidNotices,
  ...videoNotices,
  ...circuitNotices,
  ...vendorNotices,
  ...secretNotices,
  ...tendingNotices,
  ...messengerNotices,
] as const;

export type NoticeName = (typeof noticeNames)[number];

/** What is measured of the work that nobody waits for: like a notice, with a number and without a record in the log. */
const videoMeasures = ['videos_begun', 'video_s', 'video_stored_bytes'] as const;

export type VideoMeasure = (typeof videoMeasures)[number];

export const measures = [
  ...videoMeasures,
  'swept_released',
  'swept_finished',
  'sweep_failed',
  'notes_late',
  'notes_failed',
  'note_age_s',
  'video_sweep_failed',
  'audit_accounts',
  'audit_differences',
  'audit_unstable',
  'audit_passes',
  'orphaned_holds',
] as const;

export type Measure = (typeof measures)[number];

/** Every metric is in this namespace and has the dimension `service`: the environment's prefix, which tells those of one account apart. */
export const METRIC_NAMESPACE = 'ModelGateway';

/**
 * Of few values only, since each is paid for: an error's code, or `ok`; the function that a route belongs to, or `none`; the name of a
 * limit. Never an account, a model or an id.
 */
export type MetricDimension = 'code' | 'kind' | 'limit';

export interface MetricRow {
  /** As CloudWatch calls it. Money is a count of millionths of a USD. */
  readonly unit: 'Count' | 'Milliseconds' | 'Seconds' | 'Bytes';
  /** Beside `service`. */
  readonly dimensions: readonly MetricDimension[];
}

const counted: MetricRow = { unit: 'Count', dimensions: [] };

const seconds: MetricRow = { unit: 'Seconds', dimensions: [] };

/** Of every request, once it has ended. */
const requestRows = [
  ['requests', { unit: 'Count', dimensions: ['code'] }],
  // 1 or 0, so that its average is the part that failed.
  ['failed_by_us', counted],
  ['total_ms', { unit: 'Milliseconds', dimensions: ['kind'] }],
  ['first_byte_ms', { unit: 'Milliseconds', dimensions: ['kind'] }],
  ['input_tokens', { unit: 'Count', dimensions: ['kind'] }],
  ['output_tokens', { unit: 'Count', dimensions: ['kind'] }],
  ['limited', { unit: 'Count', dimensions: ['limit'] }],
] as const satisfies readonly (readonly [string, MetricRow])[];

/** All others are counts. */
const measureRows: Readonly<Partial<Record<Measure, MetricRow>>> = {
  video_s: seconds,
  video_stored_bytes: { unit: 'Bytes', dimensions: [] },
  note_age_s: seconds,
};

export type MoneyMetric = `${Movement}_micro_usd`;

export const moneyMetric = (movement: Movement): MoneyMetric => `${movement}_micro_usd`;

export type RequestMetric = (typeof requestRows)[number][0];

export type MetricName = RequestMetric | NoticeName | Measure | MoneyMetric;

/** All that the code emits: no other name can be given to the reporting, nor to a dashboard or an alarm. */
export const metrics: ReadonlyMap<MetricName, MetricRow> = new Map<MetricName, MetricRow>([
  ...requestRows,
  ...movements.map((movement) => [moneyMetric(movement), counted] as const),
  ...measures.map((measure) => [measure, measureRows[measure] ?? counted] as const),
  ...noticeNames.map((name) => [name, counted] as const),
]);

export const rowOf = (name: MetricName): MetricRow => {
  const row = metrics.get(name);
  if (!row) throw new Error(`${name} is no metric`);
  return row;
};
