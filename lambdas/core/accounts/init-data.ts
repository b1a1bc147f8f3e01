import { createHmac } from 'node:crypto';
import { isEqual } from '../signature.ts';

/** User who opened the mini app, as signed by the messenger. */
export interface InitData {
  /** Id of the user, and of the private chat with the bot. */
  readonly chatId: string;
  /** Time since the messenger signed the data, in ms. */
  readonly ageMs: number;
}

/**
 * KEY-5: maximum age of the launch data for reading the account. `INIT_DATA_ROTATION_MS` is the limit for replacing the
 * API key.
 */
export const INIT_DATA_READING_MS = 60 * 60_000;
export const INIT_DATA_ROTATION_MS = 10 * 60_000;

/** Maximum time by which the messenger's clock may be ahead, in ms. */
const AHEAD_MS = 10_000;
const CHARACTERS_MAX = 8_192;

/**
 * Checks the launch data of the mini app: `key=value` pairs with a signature over all pairs except `hash`. The signing
 * key is derived from the bot token. Returns undefined if a field, the signature or the time is invalid.
 * https://core.telegram.org/bots/webapps#validating-data-received-via-the-mini-app
 */
export const readInitData = (botToken: string, text: string, nowMs: number): InitData | undefined => {
  const fields = parseFields(text);
  if (!fields || !isGenuine(botToken, fields)) return undefined;
  const ageMs = nowMs - Number(fields.get('auth_date') ?? Number.NaN) * 1_000;
  const chatId = userIdOf(fields.get('user'));
  if (chatId === undefined || !(ageMs >= -AHEAD_MS && ageMs <= INIT_DATA_READING_MS)) return undefined;
  return { chatId, ageMs };
};

/**
 * Parses the fields. Requires `hash` as the last field, as the messenger sends it. Rejects repeated fields, and names
 * or values that would make the signed text ambiguous.
 */
const parseFields = (text: string): ReadonlyMap<string, string> | undefined => {
  if (text.length > CHARACTERS_MAX) return undefined;
  const pairs = [...new URLSearchParams(text)];
  const fields = new Map(pairs);
  const isPlain = pairs.every(([name, value]) => !/[\n=]/.test(name) && !value.includes('\n'));
  return fields.size === pairs.length && isPlain && pairs.at(-1)?.[0] === 'hash' ? fields : undefined;
};

const isGenuine = (botToken: string, fields: ReadonlyMap<string, string>): boolean => {
  const signed = [...fields]
    .filter(([name]) => name !== 'hash')
    .map(([name, value]) => `${name}=${value}`)
    .sort()
    .join('\n');
  const key = createHmac('sha256', 'WebAppData').update(botToken).digest();
  const expected = createHmac('sha256', key).update(signed).digest('hex');
  const given = fields.get('hash') ?? '';
  return isEqual(given, expected);
};

const userIdOf = (json: string | undefined): string | undefined => {
  try {
    const user: unknown = JSON.parse(json ?? '');
    const id = typeof user === 'object' && user !== null && 'id' in user ? user.id : undefined;
    return typeof id === 'number' && Number.isSafeInteger(id) && id > 0 ? String(id) : undefined;
  } catch {
    return undefined;
  }
};
