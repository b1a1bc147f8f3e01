import type { WebhookDelivery } from './wire.ts';

export const verdicts = [
  'valid',
  'wrong secret',
  'timestamp too old',
  'timestamp in the future',
  'malformed',
  'missing',
  'not checked',
] as const;
export type Verdict = (typeof verdicts)[number];

/** Largest difference between the timestamp and the arrival, in seconds. The libraries of Standard Webhooks use it. */
const TOLERANCE_SECONDS = 300;

type Received = Pick<WebhookDelivery, 'at' | 'headers' | 'body'>;

const encoder = new TextEncoder();

const hmac = async (key: Uint8Array<ArrayBuffer>, content: string): Promise<Uint8Array> => {
  const imported = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, encoder.encode(content)));
};

const toBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));

const toHex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** Returns the key of a signing secret. Undefined unless the text is `whsec_` and at least one byte in base64. */
export const keyOfSecret = (secret: string): Uint8Array<ArrayBuffer> | undefined => {
  const [, encoded] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  if (encoded === undefined || encoded.length % 4 !== 0) return undefined;
  return Uint8Array.from(atob(encoded), (letter) => letter.charCodeAt(0));
};

/** An old timestamp is reported only for a genuine signature. */
const verdictOfTime = (timestamp: string, at: number): Verdict => {
  const ageSeconds = Math.floor(at / 1_000) - Number(timestamp);
  if (ageSeconds > TOLERANCE_SECONDS) return 'timestamp too old';
  return ageSeconds < -TOLERANCE_SECONDS ? 'timestamp in the future' : 'valid';
};

/**
 * Checks `webhook-signature` with the account's secret, as of the arrival (HOOK-1). One matching signature is enough,
 * because two secrets sign after a rotation.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export const checkSignature = async ({ at, headers, body }: Received, secret: string): Promise<Verdict> => {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = headers;
  if (id === undefined || timestamp === undefined || signature === undefined) return 'missing';
  const sent = signature.split(' ').filter((one) => one.startsWith('v1,'));
  if (sent.length === 0 || !/^\d{1,12}$/.test(timestamp)) return 'malformed';
  const key = keyOfSecret(secret);
  if (key === undefined) return 'not checked';
  const expected = `v1,${toBase64(await hmac(key, `${id}.${timestamp}.${body}`))}`;
  return sent.some((one) => one === expected) ? verdictOfTime(timestamp, at) : 'wrong secret';
};

/** Checks `X-Service-Signature` with the API key that requested the event (VID-7). */
export const checkServiceSignature = async ({ at, headers, body }: Received, apiKey: string): Promise<Verdict> => {
  const { 'x-service-signature': signature } = headers;
  if (signature === undefined) return 'missing';
  const [, timestamp, sent] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(signature) ?? [];
  if (timestamp === undefined) return 'malformed';
  if (apiKey === '') return 'not checked';
  const secret = toHex(await hmac(encoder.encode(apiKey), 'webhook'));
  const expected = toHex(await hmac(encoder.encode(secret), `${timestamp}.${body}`));
  return sent === expected ? verdictOfTime(timestamp, at) : 'wrong secret';
};
