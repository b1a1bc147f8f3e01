import * as z from 'zod';
import { type CurrentKey, capKinds, isRestricted, type KeyLimits } from '../../../lambdas/core/accounts/key-ring.ts';
import type { KeyRecord } from '../../../lambdas/core/accounts/key-store.ts';
import { keyIdOf, type NewKey } from '../../../lambdas/core/accounts/keys.ts';
import type { StoredAllowance } from '../../../lambdas/core/ledger/allowance.ts';
import type { StoredFactor } from '../../../lambdas/core/pricing/estimate-factor.ts';
import { bigintOf, booleanOf, type Database, numberOf, type Row, textOf } from './database.ts';
import { jsonOf, toJson } from './json-column.ts';

export const readKey = (db: Database, hash: string): KeyRecord | undefined => {
  const row = db
    .sql(
      `SELECT account_id, status, blocked, tat, estimate_factor, estimate_factor_at, allowance, allowance_at, limits
       FROM keys WHERE hash = ?`,
    )
    .get(hash);
  return row && toKey(hash, row);
};

const toKey = (hash: string, row: Row): KeyRecord => ({
  keyId: keyIdOf(hash),
  accountId: textOf(row, 'account_id'),
  status: textOf(row, 'status') === 'active' || row.limits !== null ? 'active' : 'revoked',
  blocked: booleanOf(row, 'blocked'),
  tatMicros: numberOf(row, 'tat'),
  ...(row.estimate_factor === null
    ? {}
    : { factor: { factor: numberOf(row, 'estimate_factor') / 10, atMs: numberOf(row, 'estimate_factor_at') } }),
  ...(row.allowance === null
    ? {}
    : { allowance: { picos: bigintOf(row, 'allowance'), atMs: numberOf(row, 'allowance_at') } }),
  ...(row.limits === null ? {} : jsonOf(row, 'limits', limitsSchema)),
});

export const limitsSchema: z.ZodType<KeyLimits> = z.object({
  expiresAtMs: z.number().optional(),
  models: z.array(z.string()).optional(),
  rate: z.number().optional(),
  // A kind of a newer release is any kind: the cap of the account decides, and it has a period that no hold names.
  cap: z.object({ kind: z.enum(capKinds).catch('total'), epoch: z.number() }).optional(),
});

/**
 * Stores the restrictions of a key. A release without restrictions does not read them and sees a restricted key as
 * revoked. Only `revoke` removes the restrictions of a restricted key without making it active.
 */
export const setLimits = (db: Database, hash: string, limits: KeyLimits): void => {
  const [status, text] = isRestricted(limits) ? ['revoked', toJson(limits)] : ['active', null];
  db.sql('UPDATE keys SET status = ?, limits = ? WHERE hash = ?').run(status, text, hash);
};

export const setFactor = (db: Database, hash: string, { factor, atMs }: StoredFactor): void => {
  db.sql('UPDATE keys SET estimate_factor = ?, estimate_factor_at = ? WHERE hash = ?').run(
    Math.round(factor * 10),
    atMs,
    hash,
  );
};

export const setAllowance = (db: Database, hash: string, { picos, atMs }: StoredAllowance): void => {
  db.sql('UPDATE keys SET allowance = ?, allowance_at = ? WHERE hash = ?').run(picos, atMs, hash);
};

export const hasKey = (db: Database, hash: string): boolean =>
  db.sql('SELECT 1 FROM keys WHERE hash = ?').get(hash) !== undefined;

/** Throws a StoreError if the key exists. */
export const insertKey = (db: Database, accountId: string, { hash, label, pepperId }: NewKey): void => {
  db.sql(
    "INSERT INTO keys (hash, account_id, status, prefix, last_four, pepper_id) VALUES (?, ?, 'active', ?, ?, ?)",
  ).run(hash, accountId, label.prefix, label.lastFour, pepperId);
};

export const readCurrentKey = (db: Database, accountId: string): CurrentKey | undefined => {
  const row = db.sql('SELECT * FROM current_keys WHERE account_id = ?').get(accountId);
  return row && toCurrentKey(row);
};

const toCurrentKey = (row: Row): CurrentKey => ({
  hash: textOf(row, 'hash'),
  label: { prefix: textOf(row, 'prefix'), lastFour: textOf(row, 'last_four') },
  issuedAtMs: numberOf(row, 'issued_at'),
  isShown: booleanOf(row, 'shown'),
  isRevoked: booleanOf(row, 'revoked'),
});

export const isActive = (db: Database, accountId: string): boolean =>
  db.sql("SELECT 1 FROM accounts WHERE id = ? AND status = 'active'").get(accountId) !== undefined;

/** Puts a new key and makes it the account's current one. */
export const putKey = (db: Database, accountId: string, key: NewKey, atMs: number): void => {
  insertKey(db, accountId, key);
  db.sql(
    `INSERT OR REPLACE INTO current_keys (account_id, hash, prefix, last_four, issued_at, shown)
     VALUES (?, ?, ?, ?, ?, ?)`,
  ).run(accountId, key.hash, key.label.prefix, key.label.lastFour, atMs, Number(key.isShown));
};

export const revoke = (db: Database, hash: string): void => {
  db.sql("UPDATE keys SET status = 'revoked', limits = NULL WHERE hash = ?").run(hash);
};
