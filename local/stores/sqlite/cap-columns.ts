import { isJsonObject, type JsonValue, parseJson } from '../../../lambdas/core/json.ts';
import { type Cap, type Caps, isPeriodName, parsePeriod, toCap } from '../../../lambdas/core/ledger/caps.ts';
import type { Hold } from '../../../lambdas/core/ledger/ledger.ts';
import { bigintOf, type Database, numberOf, optionalTextOf, type Row, textOf } from './database.ts';

/** Returns the JSON column of the caps of an account. Null without caps. */
export const toCapsColumn = (caps: Caps): string | null => {
  if (caps.size === 0) return null;
  const rows = [...caps].map(([keyId, { limitPicos, leftPicos, period, kept = new Map<string, bigint>() }]) => {
    const others = Object.fromEntries([...kept].map(([name, picos]) => [name, picos.toString()]));
    const cap = { limit: limitPicos.toString(), left: leftPicos.toString(), period, ...others };
    return [keyId, cap] as const;
  });
  return JSON.stringify(Object.fromEntries(rows));
};

/** Reads the column. Throws an Error if it is not a JSON object. A cap of a newer release counts no hold. */
export const readCaps = (row: Row): Caps => {
  const json = optionalTextOf(row, 'caps');
  if (json === undefined) return new Map();
  const value = parseJson(json);
  if (!isJsonObject(value)) throw new Error('the caps of an account are not a JSON object');
  return new Map(Object.entries(value).map(([keyId, cap]) => [keyId, capOf(cap)]));
};

const AMOUNT_FORM = /^-?\d+$/;

const isAmount = (value: JsonValue | undefined): boolean => typeof value === 'string' && AMOUNT_FORM.test(value);

const capOf = (value: JsonValue | undefined): Cap => {
  const { limit, left, period, ...others } = isJsonObject(value) ? value : {};
  const kept = Object.entries(others).filter(([name]) => isPeriodName(name));
  if (![limit, left, ...kept.map(([, picos]) => picos)].every(isAmount)) return toCap(0n, 0n, '');
  const keptPicos = new Map(kept.map(([name, picos]) => [name, BigInt(String(picos))]));
  return toCap(BigInt(String(limit)), BigInt(String(left)), String(period), keptPicos);
};

/** Part of the id of a row with a cap, which no hold id has. */
const CAPPED = '#cap';
/** Expiry of a row with a cap for a release without caps: the latest date. */
const NEVER_MS = 8_640_000_000_000_000;

const rowIdOf = (holdId: string, { cap }: Hold): string => (cap ? holdId + CAPPED : holdId);

/**
 * Stores an open hold. A release without caps would not restore the cap, so it must not close a hold with one: it finds
 * the row under another id, which never expires.
 */
export const insertHold = (db: Database, accountId: string, holdId: string, hold: Hold): void => {
  const { amountPicos, expiresAtMs, cap } = hold;
  db.sql(
    `INSERT INTO holds (account_id, hold_id, amount, expires_at, cap_key, cap_period, cap_expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  ).run(
    accountId,
    rowIdOf(holdId, hold),
    amountPicos,
    cap ? NEVER_MS : expiresAtMs,
    cap?.keyId ?? null,
    cap?.period ?? null,
    cap ? expiresAtMs : null,
  );
};

export const deleteHold = (db: Database, accountId: string, holdId: string, hold: Hold): void => {
  db.sql('DELETE FROM holds WHERE account_id = ? AND hold_id = ?').run(accountId, rowIdOf(holdId, hold));
};

/** Reads a row of the holds. Undefined if the row is of an account without holds. */
export const readHold = (row: Row): readonly [holdId: string, hold: Hold] | undefined => {
  const holdId = optionalTextOf(row, 'hold_id');
  if (holdId === undefined) return undefined;
  const amountPicos = bigintOf(row, 'amount');
  const keyId = optionalTextOf(row, 'cap_key');
  if (keyId === undefined) return [holdId, { amountPicos, expiresAtMs: numberOf(row, 'expires_at') }];
  const period = textOf(row, 'cap_period');
  if (!parsePeriod(period)) return [holdId, { amountPicos, expiresAtMs: NEVER_MS, isNewer: true }];
  const expiresAtMs = numberOf(row, 'cap_expires_at');
  return [holdId.slice(0, -CAPPED.length), { amountPicos, expiresAtMs, cap: { keyId, period } }];
};
