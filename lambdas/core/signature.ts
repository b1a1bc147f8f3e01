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

/**
 * Returns the key that signs webhooks of videos. The owner of the API key can derive it; it reveals nothing about the
 * API key.
 */
export const webhookSecretOf = (apiKey: string): string => createHmac('sha256', apiKey).update('webhook').digest('hex');

/** Returns the secret token that the messenger sends with every update. It is derived from the bot token. */
export const updateSecretOf = (botToken: string): string =>
  createHmac('sha256', botToken).update('updates').digest('hex');
