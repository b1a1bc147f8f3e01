import * as z from 'zod';
import {
  FIRST_KEY_PROPERTIES,
  type KeyRing,
  type KeyRingChange,
  type KeyRingReply,
} from '../../../lambdas/core/accounts/key-ring.ts';
import { keyIdOf } from '../../../lambdas/core/accounts/keys.ts';
import { changeCap } from '../../../lambdas/core/ledger/caps.ts';
import { readAccount } from './account-rows.ts';
import { type Database, numberOf } from './database.ts';
import { jsonOf, toJson } from './json-column.ts';
import {
  hasKey,
  insertKey,
  isActive,
  limitsSchema,
  readCurrentKey,
  readKey,
  revoke,
  setFactor,
  setLimits,
} from './key-rows.ts';
import { replaceAccount, replaceCaps } from './replace-account.ts';

const properties = z.object({ name: z.string(), manage: z.boolean(), version: z.number() });

const namedKeys = z.array(
  z.object({
    ...properties.shape,
    hash: z.string(),
    label: z.object({ prefix: z.string(), lastFour: z.string() }),
    createdAtMs: z.number(),
    limits: limitsSchema,
  }),
);

export const readKeyRing = (db: Database, accountId: string): KeyRing => {
  const row = db.sql('SELECT version, first_key, named FROM key_rings WHERE account_id = ?').get(accountId);
  return {
    version: row ? numberOf(row, 'version') : 0,
    first: readCurrentKey(db, accountId),
    firstProperties: row ? jsonOf(row, 'first_key', properties) : FIRST_KEY_PROPERTIES,
    named: row ? jsonOf(row, 'named', namedKeys) : [],
  };
};

/** Checks everything before the first write, because the reply `changed` must not have written anything. */
export const changeKeyRing = (db: Database, change: KeyRingChange): KeyRingReply => {
  const { accountId, before, after, key, account } = change;
  if (key?.kind === 'add' && !isActive(db, accountId)) return 'blocked';
  if (!isUnchanged(db, change)) return 'changed';
  db.sql('INSERT OR REPLACE INTO key_rings (account_id, version, first_key, named) VALUES (?, ?, ?, ?)').run(
    accountId,
    before.version + 1,
    toJson(after.firstProperties),
    toJson(after.named),
  );
  writeKey(db, change);
  if (account) replaceAccount(db, account.before, account.after, account.nowMs);
  return 'written';
};

const isUnchanged = (db: Database, { accountId, before, key, account }: KeyRingChange): boolean => {
  const { version, first } = readKeyRing(db, accountId);
  if (version !== before.version) return false;
  if (first?.hash !== before.first?.hash || first?.isRevoked !== before.first?.isRevoked) return false;
  if (account && readAccount(db, accountId)?.version !== account.before.version) return false;
  if (key?.kind === 'add') return !hasKey(db, key.key.hash);
  return key?.kind !== 'limit' || readKey(db, key.hash)?.status === 'active';
};

const writeKey = (db: Database, { accountId, before: { first }, key }: KeyRingChange): void => {
  if (key?.kind === 'add') {
    insertKey(db, accountId, key.key);
    setLimits(db, key.key.hash, key.limits);
    if (key.factor) setFactor(db, key.key.hash, key.factor);
  }
  if (key?.kind === 'limit') setLimits(db, key.hash, key.limits);
  if (key?.kind !== 'revoke') return;
  revoke(db, key.hash);
  const present = key.hasCap ? readAccount(db, accountId) : undefined;
  if (present) replaceCaps(db, changeCap(present, keyIdOf(key.hash), undefined, 0));
  if (key.hash === first?.hash) db.sql('UPDATE current_keys SET revoked = 1 WHERE account_id = ?').run(accountId);
};
