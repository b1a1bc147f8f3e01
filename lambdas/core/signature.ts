import { createHmac, timingSafeEqual } from 'node:crypto';

/** Returns the value of `X-Service-Signature`: `t=<unix seconds>,v1=<hex HMAC-SHA256 of "t.rawBody">` (KEY-6). */
export const signBody = (secret: string, body: string | Uint8Array, unixSeconds: number): string =>
  `t=${unixSeconds},v1=${createHmac('sha256', secret).update(`${unixSeconds}.`).update(body).digest('hex')}`;

/** Maximum age of a signature, and maximum time that a clock may be ahead. */
export const SIGNATURE_AGE_MS = 5 * 60_000;

const form = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/;

/** Whether a signature has the required form and age. This is checked before the body is read. */
export const isTimely = (signature: string, nowMs: number): boolean => {
  const [, t = ''] = form.exec(signature) ?? [];
  return t !== '' && Math.abs(nowMs - Number(t) * 1_000) <= SIGNATURE_AGE_MS;
};

export const isSigned = (secret: string, signature: string, body: Uint8Array): boolean => {
  const [, t = ''] = form.exec(signature) ?? [];
  return isEqual(signature, signBody(secret, body, Number(t)));
};

/** Compares in constant time, so that the duration does not reveal a part of the secret. */
export const isEqual = (one: string, other: string): boolean => {
  const [given, expected] = [Buffer.from(one), Buffer.from(other)];
  return given.length === expected.length && timingSafeEqual(given, expected);
};

/** One event to sign, as in Standard Webhooks. */
export interface SignedEvent {
  readonly id: string;
  readonly unixSeconds: number;
  readonly body: string;
}

/**
 * Returns the value of `webhook-signature`: `v1,<base64 HMAC-SHA256 of "id.t.rawBody">` for each secret, separated by
 * spaces. A secret is `whsec_` and its key in base64.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export const signEvent = (secrets: readonly string[], { id, unixSeconds, body }: SignedEvent): string =>
  secrets
    .map((secret) => {
      const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
      return `v1,${createHmac('sha256', key).update(`${id}.${unixSeconds}.${body}`).digest('base64')}`;
    })
    .join(' ');

/**
 * Returns the key that signs `X-Service-Signature` of webhooks. The owner of the API key can derive it; it reveals nothing about the
 * API key.
 */
export const webhookSecretOf = (apiKey: string): string => createHmac('sha256', apiKey).update('webhook').digest('hex');

/** Returns the secret token that the messenger sends with every update. It is derived from the bot token. */
export const updateSecretOf = (botToken: string): string =>
  createHmac('sha256', botToken).update('updates').digest('hex');
