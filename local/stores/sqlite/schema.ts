/** Amounts are pico-USD, times are Unix milliseconds unless named otherwise, booleans are 0 and 1. */
export const SCHEMA = `
CREATE TABLE accounts (
  id TEXT PRIMARY KEY,
  status TEXT NOT NULL CHECK (status IN ('active', 'blocked')),
  available INTEGER NOT NULL,
  credited INTEGER NOT NULL,
  spent INTEGER NOT NULL,
  version INTEGER NOT NULL,
  -- Order of the last write among all accounts, for followers of changes.
  change INTEGER NOT NULL,
  sweep_at INTEGER,
  chat_id TEXT,
  threshold INTEGER,
  -- Refunds, chargebacks and debits, less reversals. Text, because the sum can exceed an int64. Null counts as 0.
  returned TEXT,
  -- Calendar month of the sums, such as 2026-11. Null until the first write of this release.
  month TEXT,
  -- UTC day and sum of the uncollected amounts that use the allowance. Null until the first one.
  uncollected_day TEXT,
  uncollected INTEGER,
  -- Groups of deadlines without content of that day, up to the first that uses the allowance. Null counts as 0.
  uncollected_silent INTEGER,
  -- Unix ms at which the first of the last ones together ended. Null until the first one.
  uncollected_silent_at INTEGER,
  -- Sum of these deadlines that did not use the allowance. Null counts as 0.
  uncollected_free INTEGER,
  -- UTC day and sum that were counted before that day. Null until the second day.
  uncollected_other_day TEXT,
  uncollected_other INTEGER,
  -- The account is on probation until its charges reach this amount. Text, because it can exceed an int64.
  probation_until TEXT,
  -- Caps of API keys by the id of the key, as JSON. Null without caps.
  caps TEXT,
  -- Id below which usage sums can be stored. Null before the first sums.
  counted_to_id TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX accounts_by_sweep ON accounts (sweep_at) WHERE sweep_at IS NOT NULL;
CREATE INDEX accounts_by_change ON accounts (change);

CREATE TABLE holds (
  account_id TEXT NOT NULL,
  hold_id TEXT NOT NULL,
  amount INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  -- API key and period of the cap in which the hold counts. Null without a cap.
  cap_key TEXT,
  cap_period TEXT,
  -- Expiry of a hold with a cap. Its other expiry is never, so that no release without caps closes it.
  cap_expires_at INTEGER,
  PRIMARY KEY (account_id, hold_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE charges (
  account_id TEXT NOT NULL,
  hold_id TEXT NOT NULL,
  request_id TEXT NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome IN ('settled', 'released')),
  amount INTEGER NOT NULL,
  at INTEGER NOT NULL,
  -- The other fields of the charge record, as JSON.
  details TEXT NOT NULL,
  PRIMARY KEY (account_id, hold_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE credits (
  account_id TEXT NOT NULL,
  ref TEXT NOT NULL,
  -- Change of the account's credit: below 0 for a refund, a chargeback and a debit.
  amount INTEGER NOT NULL,
  reason TEXT NOT NULL,
  at INTEGER NOT NULL,
  -- Null for a payment.
  type TEXT,
  of_ref TEXT,
  -- Amount of a payment that is with the payer again.
  returned INTEGER,
  -- Reference of the reversal of a chargeback.
  reversed_by TEXT,
  -- Month of the statement that lists the change.
  month TEXT,
  PRIMARY KEY (account_id, ref)
) STRICT, WITHOUT ROWID;

CREATE TABLE operations (
  account_id TEXT NOT NULL,
  id TEXT NOT NULL,
  command TEXT NOT NULL,
  reason TEXT NOT NULL,
  ref TEXT,
  at INTEGER NOT NULL,
  PRIMARY KEY (account_id, id)
) STRICT, WITHOUT ROWID;

-- Falls of a balance to its threshold whose notification is not sent yet.
CREATE TABLE low_balances (
  id INTEGER PRIMARY KEY,
  account_id TEXT NOT NULL,
  chat_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  before INTEGER NOT NULL,
  after INTEGER NOT NULL,
  threshold INTEGER NOT NULL,
  -- A process is sending it, or waits to send it again, until then.
  leased_until INTEGER NOT NULL DEFAULT 0,
  attempts INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE keys (
  hash TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('active', 'revoked')),
  blocked INTEGER NOT NULL DEFAULT 0,
  prefix TEXT NOT NULL,
  last_four TEXT NOT NULL,
  pepper_id TEXT NOT NULL,
  -- Theoretical arrival time of the rate limit, in microseconds.
  tat INTEGER NOT NULL DEFAULT 0,
  -- Factor on estimates after an overage, in tenths, and the time of the overage. Null before the first one.
  estimate_factor INTEGER,
  estimate_factor_at INTEGER,
  -- Allowance by the charges of the account, and the time of these charges. Null until it is computed.
  allowance INTEGER,
  allowance_at INTEGER,
  -- Restrictions, as JSON. Null without any, and for a revoked key. A restricted key has the status revoked.
  limits TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE current_keys (
  account_id TEXT PRIMARY KEY,
  hash TEXT NOT NULL,
  prefix TEXT NOT NULL,
  last_four TEXT NOT NULL,
  issued_at INTEGER NOT NULL,
  shown INTEGER NOT NULL,
  revoked INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE chats (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  language TEXT,
  closed INTEGER NOT NULL DEFAULT 0,
  noticed INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE address_buckets (
  address TEXT PRIMARY KEY,
  tat INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX address_buckets_by_expiry ON address_buckets (expires_at);

CREATE TABLE bot_updates (
  key TEXT PRIMARY KEY,
  lease_until INTEGER,
  done INTEGER NOT NULL DEFAULT 0,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX bot_updates_by_expiry ON bot_updates (expires_at);

CREATE TABLE circuits (
  provider_id TEXT NOT NULL,
  model_id TEXT NOT NULL,
  open_until INTEGER NOT NULL,
  openings INTEGER NOT NULL,
  good_probes INTEGER NOT NULL,
  probe_owner TEXT,
  probe_lease_until INTEGER,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (provider_id, model_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE circuit_counts (
  provider_id TEXT NOT NULL,
  model_id TEXT NOT NULL,
  start INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  successes INTEGER NOT NULL,
  -- JSON array of account hashes.
  accounts TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (provider_id, model_id, start)
) STRICT, WITHOUT ROWID;
CREATE INDEX circuit_counts_by_expiry ON circuit_counts (expires_at);

CREATE TABLE quarantines (
  model_id TEXT PRIMARY KEY,
  shut_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE missing_usage_counts (
  model_id TEXT NOT NULL,
  start INTEGER NOT NULL,
  count INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  -- JSON array of account hashes. Null in a row of a release without them.
  accounts TEXT,
  PRIMARY KEY (model_id, start)
) STRICT, WITHOUT ROWID;
CREATE INDEX missing_usage_counts_by_expiry ON missing_usage_counts (expires_at);

CREATE TABLE claims (
  account_id TEXT NOT NULL,
  key_hash TEXT NOT NULL,
  owner TEXT NOT NULL,
  lease_until INTEGER NOT NULL,
  fingerprint TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('open', 'prepared', 'done', 'free')),
  dispatches INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  -- The prepared response, as JSON.
  prepared TEXT,
  PRIMARY KEY (account_id, key_hash)
) STRICT;
CREATE INDEX claims_by_expiry ON claims (expires_at);

CREATE TABLE videos (
  id TEXT PRIMARY KEY,
  -- Both are null if the creation was abandoned. They stay when the video is removed.
  account_id TEXT,
  created_at INTEGER,
  -- Whether lists show it.
  listed INTEGER NOT NULL,
  -- Null once the video has ended.
  due_at INTEGER,
  -- The process that runs its state machine, and until when no other process may.
  runner TEXT,
  leased_until INTEGER,
  -- The job, as JSON. Null if the creation was abandoned or the video is removed.
  job TEXT,
  CHECK (job IS NOT NULL OR (listed = 0 AND due_at IS NULL))
) STRICT;
CREATE INDEX videos_by_account ON videos (account_id, created_at, id) WHERE listed = 1;
CREATE INDEX videos_by_due ON videos (due_at) WHERE due_at IS NOT NULL;

-- Single values by name, such as the place of the audit.
CREATE TABLE facts (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`;

/** Tables that earlier releases did not create. They ignore them, so the version of the schema stays. */
export const ADDED_TABLES = `
-- Sums of accounts at the end of a month.
CREATE TABLE IF NOT EXISTS month_closings (
  account_id TEXT NOT NULL,
  month TEXT NOT NULL,
  credited INTEGER NOT NULL,
  returned TEXT NOT NULL,
  spent INTEGER NOT NULL,
  held INTEGER NOT NULL,
  -- Time from which statements exist, if they start after this closing.
  start INTEGER,
  PRIMARY KEY (account_id, month)
) STRICT, WITHOUT ROWID;

-- Named keys of an account, and the properties of its first key, as JSON.
CREATE TABLE IF NOT EXISTS key_rings (
  account_id TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  first_key TEXT NOT NULL,
  named TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Signing secrets of webhooks.
CREATE TABLE IF NOT EXISTS webhook_secrets (
  account_id TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  secret TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  -- Secret before the last rotation, and until when it also signs. Null before the first rotation.
  previous TEXT,
  previous_until INTEGER
) STRICT, WITHOUT ROWID;

-- Charges of closed months by model, as JSON.
CREATE TABLE IF NOT EXISTS month_charges (
  account_id TEXT NOT NULL,
  month TEXT NOT NULL,
  charges TEXT NOT NULL,
  -- Hold id before which the next read continues. NULL: the charges are complete.
  before_hold_id TEXT,
  PRIMARY KEY (account_id, month)
) STRICT, WITHOUT ROWID;

-- Sums of charged requests by period: a UTC day, or "keys".
CREATE TABLE IF NOT EXISTS usage_sums (
  account_id TEXT NOT NULL,
  period TEXT NOT NULL,
  -- JSON.
  cells TEXT NOT NULL,
  -- Id from which the next read continues. NULL: the whole period was read.
  from_id TEXT,
  -- Number of the write. 0: sums of a release without revisions.
  revision INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, period)
) STRICT, WITHOUT ROWID;

-- Charges that no usage sums include yet, although they may have passed their ids.
CREATE TABLE IF NOT EXISTS late_charges (
  account_id TEXT NOT NULL,
  hold_id TEXT NOT NULL,
  PRIMARY KEY (account_id, hold_id)
) STRICT, WITHOUT ROWID;

`;

/** Follows the added columns, which it needs. */
export const ADDED_INDEX =
  'CREATE INDEX IF NOT EXISTS credits_by_month ON credits (account_id, month) WHERE month IS NOT NULL';

/** Columns that earlier releases did not create. They ignore them, so the version of the schema stays. */
export const ADDED_COLUMNS = [
  ['credits', 'type', 'TEXT'],
  ['credits', 'of_ref', 'TEXT'],
  ['credits', 'returned', 'INTEGER'],
  ['credits', 'reversed_by', 'TEXT'],
  ['credits', 'month', 'TEXT'],
  ['accounts', 'returned', 'TEXT'],
  ['accounts', 'month', 'TEXT'],
  ['keys', 'estimate_factor', 'INTEGER'],
  ['keys', 'estimate_factor_at', 'INTEGER'],
  ['keys', 'limits', 'TEXT'],
  ['keys', 'allowance', 'INTEGER'],
  ['keys', 'allowance_at', 'INTEGER'],
  ['accounts', 'uncollected_day', 'TEXT'],
  ['accounts', 'uncollected', 'INTEGER'],
  ['month_charges', 'before_hold_id', 'TEXT'],
  ['usage_sums', 'from_id', 'TEXT'],
  ['usage_sums', 'revision', 'INTEGER NOT NULL DEFAULT 0'],
  ['accounts', 'counted_to_id', 'TEXT'],
  ['accounts', 'caps', 'TEXT'],
  ['accounts', 'uncollected_silent', 'INTEGER'],
  ['accounts', 'uncollected_silent_at', 'INTEGER'],
  ['accounts', 'uncollected_free', 'INTEGER'],
  ['accounts', 'uncollected_other_day', 'TEXT'],
  ['accounts', 'uncollected_other', 'INTEGER'],
  ['accounts', 'probation_until', 'TEXT'],
  ['holds', 'cap_key', 'TEXT'],
  ['holds', 'cap_period', 'TEXT'],
  ['holds', 'cap_expires_at', 'INTEGER'],
  ['missing_usage_counts', 'accounts', 'TEXT'],
  // A column of an added table, so that a file without this table gets it.
  ['webhook_secrets', 'previous_until', 'INTEGER'],
] as const;
