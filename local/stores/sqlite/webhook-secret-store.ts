import type { WebhookSecret, WebhookSecretStore } from '../../../lambdas/core/accounts/webhook-secret.ts';
import { type Database, numberOf, optionalTextOf, type Row, textOf } from './database.ts';

/** Signing secrets of webhooks in SQLite. Everything is durable when it resolves. */
export const createWebhookSecretStore = (db: Database): WebhookSecretStore => ({
  read: (accountId) =>
    db.read(() => {
      const row = db.sql('SELECT * FROM webhook_secrets WHERE account_id = ?').get(accountId);
      return row && toSecret(row);
    }),
  put: (accountId, secret) => db.writeDurably(() => put(db, accountId, secret)),
});

const put = (db: Database, accountId: string, { version, secret, createdAtMs, previous }: WebhookSecret): boolean => {
  const values = [version, secret, createdAtMs, previous?.secret ?? null, previous?.untilMs ?? null] as const;
  return version === 1
    ? db
        .sql(
          `INSERT INTO webhook_secrets (version, secret, created_at, previous, previous_until, account_id)
           VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
        )
        .run(...values, accountId) === 1
    : db
        .sql(
          `UPDATE webhook_secrets SET version = ?, secret = ?, created_at = ?, previous = ?, previous_until = ?
           WHERE account_id = ? AND version = ?`,
        )
        .run(...values, accountId, version - 1) === 1;
};

const toSecret = (row: Row): WebhookSecret => {
  const previous = optionalTextOf(row, 'previous');
  return {
    version: numberOf(row, 'version'),
    secret: textOf(row, 'secret'),
    createdAtMs: numberOf(row, 'created_at'),
    ...(previous === undefined ? {} : { previous: { secret: previous, untilMs: numberOf(row, 'previous_until') } }),
  };
};
