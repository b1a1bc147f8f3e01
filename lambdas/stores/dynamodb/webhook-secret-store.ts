import type { WebhookSecret, WebhookSecretStore } from '../../core/accounts/webhook-secret.ts';
import type { DynamoDB } from './dynamodb.ts';
import { type Item, readMap, readNumber, readText } from './item.ts';

const keyOf = (accountId: string): Item => ({ pk: `account#${accountId}`, sk: 'WEBHOOK' });

/** Stores one item per account in the accounts table. The database can repeat a call. */
export const createWebhookSecretStore = (db: DynamoDB, table: string): WebhookSecretStore => ({
  read: async (accountId) => {
    const item = await db.get(table, keyOf(accountId));
    return item && toSecret(item);
  },
  put: async (accountId, { version, secret, createdAtMs, previous }) => {
    const before = version - 1;
    const reply = await db.update({
      table,
      key: keyOf(accountId),
      update: `SET version = :version, #secret = :secret, createdAt = :createdAt${previous ? ', #previous = :previous' : ''}`,
      condition: before === 0 ? 'attribute_not_exists(version)' : 'version = :before',
      names: { '#secret': 'secret', ...(previous && { '#previous': 'previous' }) },
      values: {
        ':version': version,
        ':secret': secret,
        ':createdAt': createdAtMs,
        ...(before === 0 ? {} : { ':before': before }),
        ...(previous && { ':previous': { secret: previous.secret, until: previous.untilMs } }),
      },
    });
    return 'written' in reply;
  },
});

const toSecret = (item: Item): WebhookSecret => ({
  version: readNumber(item, 'version'),
  secret: readText(item, 'secret'),
  createdAtMs: readNumber(item, 'createdAt'),
  ...(item.previous === undefined ? {} : { previous: toPrevious(readMap(item, 'previous')) }),
});

const toPrevious = (item: Item): NonNullable<WebhookSecret['previous']> => ({
  secret: readText(item, 'secret'),
  untilMs: readNumber(item, 'until'),
});
