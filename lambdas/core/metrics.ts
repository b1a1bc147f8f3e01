/** Namespace of every metric. Each metric also has the dimension `service`, the prefix of the environment. */
export const METRIC_NAMESPACE = 'ModelGateway';

/**
 * Dimensions with few values, because CloudWatch bills each combination: an error code or `ok`; the function of a route
 * or `none`; a limit name; a model of the catalog, for margins only. Never an account or an id.
 */
export type MetricDimension = 'code' | 'kind' | 'limit' | 'model';

const eventKinds = ['paid', 'video', 'circuit', 'provider', 'secret', 'maintenance', 'messenger'] as const;

/** An event is also a log record and a section of docs/runbook.md. Alarms use events; no decision depends on one. */
type EventKind = (typeof eventKinds)[number];

const measureKinds = ['video-measure', 'maintenance-measure'] as const;

/** A measure comes from background work and has no log record. */
type MeasureKind = (typeof measureKinds)[number];

type MetricKind = 'request' | 'money' | 'margin' | EventKind | MeasureKind;

export interface MetricRow {
  readonly kind: MetricKind;
  /** Unit of CloudWatch. Money is in millionths of a USD. */
  readonly unit: 'Count' | 'Milliseconds' | 'Seconds' | 'Bytes';
  /** Dimensions in addition to `service`. */
  readonly dimensions: readonly MetricDimension[];
}

const count = <Kind extends MetricKind>(kind: Kind) => ({ kind, unit: 'Count', dimensions: [] }) as const;

const request = count('request');
const money = count('money');
const videoMeasure = count('video-measure');
const measure = count('maintenance-measure');
const paid = count('paid');
const video = count('video');
const circuit = count('circuit');
const provider = count('provider');
const secret = count('secret');
const maintenance = count('maintenance');
const messenger = count('messenger');

/** Added time in ms above which a paid request counts as slow (`added_slow`). */
export const ADDED_MS_MAX = 500;

/** Every metric of the gateway. Reporting, dashboards and alarms accept no other name. */
const rows = {
  requests: { ...request, dimensions: ['code'] },
  // 1 or 0: the average is the share of failed requests.
  failed_by_us: request,
  // 1 or 0 for each paid request that the gateway accepted: the two objectives of lib/operations/objectives.ts.
  paid_failed: request,
  added_slow: request,
  added_ms: { ...request, unit: 'Milliseconds' },
  // Requests without a client IP from the front door.
  client_ip_missing: request,
  total_ms: { ...request, unit: 'Milliseconds', dimensions: ['kind'] },
  first_byte_ms: { ...request, unit: 'Milliseconds', dimensions: ['kind'] },
  input_tokens: { ...request, dimensions: ['kind'] },
  output_tokens: { ...request, dimensions: ['kind'] },
  limited: { ...request, dimensions: ['limit'] },

  // For trends and alarms: only the ledger is exact. Over time, the sum of held and overage equals the sum of charged
  // and released, except for lost replies.
  held_micro_usd: money,
  charged_micro_usd: money,
  released_micro_usd: money,
  overage_micro_usd: money,
  // Value of responses that were not charged although the gateway paid the provider.
  uncollected_micro_usd: money,
  // Charges minus the provider's bill by the catalog. Negative: sold below cost.
  margin_micro_usd: { ...count('margin'), dimensions: ['model'] },

  videos_begun: videoMeasure,
  video_s: { ...videoMeasure, unit: 'Seconds' },
  video_stored_bytes: { ...videoMeasure, unit: 'Bytes' },

  swept_released: measure,
  swept_finished: measure,
  sweep_failed: measure,
  notes_late: measure,
  notes_failed: measure,
  note_age_s: { ...measure, unit: 'Seconds' },
  video_sweep_failed: measure,
  audit_accounts: measure,
  audit_differences: measure,
  audit_unstable: measure,
  audit_passes: measure,
  orphaned_holds: measure,
  // 1 or 0 for each run of the canary: the minimum of a period shows a failure.
  canary_ok: measure,
  canary_ms: { ...measure, unit: 'Milliseconds' },

  usage_missing: paid,
  usage_implausible: paid,
  usage_total_differs: paid,
  overage: paid,
  account_on_probation: paid,
  late_settlement: paid,
  settled_by_note: paid,
  commit_failed: paid,
  apply_failed: paid,

  video_completed: video,
  video_failed: video,
  video_timed_out: video,
  video_usage_missing: video,
  video_usage_implausible: video,
  video_overage: video,
  video_late_settlement: video,
  video_resumed: video,
  video_webhook_failed: video,

  circuit_opened: circuit,
  circuit_closed: circuit,
  model_quarantined: circuit,

  vendor_refused_us: provider,
  vendor_model_missing: provider,
  // One of several credentials of a provider starts a cooldown, or is gone although a job needs it.
  credential_refused: provider,
  credential_limited: provider,
  credential_missing: provider,

  provider_keys_unreadable: secret,
  origin_secret_unreadable: secret,

  holds_swept: maintenance,
  notes_settled: maintenance,
  videos_swept: maintenance,
  audit_difference: maintenance,
  audit_too_long: maintenance,
  canary_failed: maintenance,
  clock_skewed: maintenance,
  worker_paused: maintenance,
  maintenance_unreadable: maintenance,
  usage_event_unreadable: maintenance,
  usage_events_failed: maintenance,
  traces_lost: maintenance,

  notice_failed: messenger,
  notice_refused: messenger,
  account_change_unreadable: messenger,
  bot_message_failed: messenger,
  bot_message_refused: messenger,
} as const satisfies Record<string, MetricRow>;

export type MetricName = keyof typeof rows;

type NameOf<Kind extends MetricKind> = {
  [Name in MetricName]: (typeof rows)[Name]['kind'] extends Kind ? Name : never;
}[MetricName];

export type RequestMetric = NameOf<'request'>;
export type MoneyMetric = NameOf<'money'>;
export type MarginMetric = NameOf<'margin'>;
export type VideoMeasure = NameOf<'video-measure'>;
export type Measure = NameOf<MeasureKind>;
export type PaidEvent = NameOf<'paid'>;
export type VideoEvent = NameOf<'video'>;
export type CircuitEvent = NameOf<'circuit'>;
export type ProviderEvent = NameOf<'provider'>;
export type OperationalEventName = NameOf<EventKind>;

/** Movement of money, the metric name without its unit. */
export type Movement = MoneyMetric extends `${infer Name}_micro_usd` ? Name : never;

/** Counts money. Must not throw, because its callers are in the middle of a ledger operation. */
export type MoneyMeter = (picos: Readonly<Partial<Record<Movement, bigint>>>) => void;

export const moneyMetric = (movement: Movement): MoneyMetric => `${movement}_micro_usd`;

export const metrics: ReadonlyMap<MetricName, MetricRow> = new Map(Object.entries(rows) as [MetricName, MetricRow][]);

export const rowOf = (name: MetricName): MetricRow => rows[name];

const namesOf = <Kind extends MetricKind>(...kinds: readonly Kind[]): readonly NameOf<Kind>[] => {
  const isOfKind = (name: MetricName): name is NameOf<Kind> => kinds.some((kind) => kind === rows[name].kind);
  return [...metrics.keys()].filter(isOfKind);
};

export const measures = namesOf(...measureKinds);
export const operationalEvents = namesOf(...eventKinds);
export const movements = namesOf('money').map((name) => name.replace('_micro_usd', '') as Movement);
