import { createHmac, randomBytes } from 'node:crypto';
import type { MessengerUser } from './chat-message.ts';

/**
 * What the messenger opens the mini app with. The Ed25519 signature, for those who do not have the bot's token, is no real one.
 * https://core.telegram.org/bots/webapps#validating-data-received-via-the-mini-app
 */
export function signInitData(botToken: string, { id, firstName, language }: MessengerUser, nowMs: number): string {
  const fields = {
    query_id: randomBytes(12).toString('base64url'),
    user: JSON.stringify({ id, first_name: firstName, language_code: language, allows_write_to_pm: true }),
    auth_date: String(Math.floor(nowMs / 1_000)),
    signature: randomBytes(64).toString('base64url'),
  };
  const signed = Object.entries(fields)
    .map(([name, value]) => `${name}=${value}`)
    .sort()
    .join('\n');
  const key = createHmac('sha256', 'WebAppData').update(botToken).digest();
  const hash = createHmac('sha256', key).update(signed).digest('hex');
  return new URLSearchParams({ ...fields, hash }).toString();
}
