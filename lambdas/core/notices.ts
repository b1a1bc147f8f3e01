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
