import { createHmac, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { signBody, webhookSecretOf } from '../../../../lambdas/core/signature.ts';
import { checkServiceSignature, checkSignature, keyOfSecret } from '../../../../local/page/ui/webhook-signature.ts';

const AT = Date.UTC(2026, 10, 27, 8, 0, 0, 900);
const SECONDS = Math.floor(AT / 1_000);
const KEY = randomBytes(32);
const SECRET = `whsec_${KEY.toString('base64')}`;
const OTHER = `whsec_${randomBytes(32).toString('base64')}`;
const API_KEY = 'sk-service-test';
const body = JSON.stringify({ type: 'webhook.test', text: 'é 🚢' });

const digestOf = (content: string, key: Buffer = KEY): string =>
  createHmac('sha256', key).update(content).digest('base64');

const signed = (seconds: number | string = SECONDS, signature = `v1,${digestOf(`evt_1.${seconds}.${body}`)}`) => ({
  at: AT,
  headers: { 'webhook-id': 'evt_1', 'webhook-timestamp': String(seconds), 'webhook-signature': signature },
  body,
});
const genuine = signed();
const [, good = ''] = genuine.headers['webhook-signature'].split(',');

test('HOOK-4 the signature of the account is valid', async () => {
  expect(await checkSignature(genuine, SECRET)).toBe('valid');
});

test('HOOK-4 one of several signatures is enough, as after a rotation', async () => {
  const both = signed(SECONDS, `v1,${digestOf('another')} v2,unknown v1,${good}`);
  expect(await checkSignature(both, SECRET)).toBe('valid');
  expect(await checkSignature(both, OTHER)).toBe('wrong secret');
});

const flip = (text: string, index: number): string => {
  const letter = text[index] === 'A' ? 'B' : 'A';
  return `${text.slice(0, index)}${letter}${text.slice(index + 1)}`;
};

test('HOOK-4 a signature that differs in one character is of a wrong secret', async () => {
  for (let index = 0; index < good.length; index += 1) {
    expect(await checkSignature(signed(SECONDS, `v1,${flip(good, index)}`), SECRET)).toBe('wrong secret');
  }
  for (const length of [0, 1, 20, good.length - 1]) {
    expect(await checkSignature(signed(SECONDS, `v1,${good.slice(0, length)}`), SECRET)).toBe('wrong secret');
  }
  expect(await checkSignature(signed(SECONDS, `v1,${good}A`), SECRET)).toBe('wrong secret');
});

test('HOOK-4 another secret, id, time or body makes the signature wrong', async () => {
  const { headers } = genuine;
  expect(await checkSignature(genuine, OTHER)).toBe('wrong secret');
  expect(await checkSignature({ ...genuine, body: `${body} ` }, SECRET)).toBe('wrong secret');
  expect(await checkSignature({ ...genuine, headers: { ...headers, 'webhook-id': 'evt_2' } }, SECRET)).toBe(
    'wrong secret',
  );
  expect(
    await checkSignature({ ...genuine, headers: { ...headers, 'webhook-timestamp': String(SECONDS + 1) } }, SECRET),
  ).toBe('wrong secret');
});

test.each([
  [SECONDS - 301, 'timestamp too old'],
  [SECONDS - 300, 'valid'],
  [SECONDS + 300, 'valid'],
  [SECONDS + 301, 'timestamp in the future'],
])('HOOK-4 a genuine delivery of the time %i is %s', async (seconds, verdict) => {
  expect(await checkSignature(signed(seconds), SECRET)).toBe(verdict);
});

test.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])(
  'HOOK-4 a delivery without %s has no signature',
  async (name) => {
    const headers = Object.fromEntries(Object.entries(genuine.headers).filter(([other]) => other !== name));
    expect(await checkSignature({ ...genuine, headers }, SECRET)).toBe('missing');
  },
);

test.each([
  [signed(SECONDS, good)],
  [signed(SECONDS, `v2,${good}`)],
  [signed(SECONDS, '')],
  [signed('soon')],
  [signed(`${SECONDS}.5`)],
])('HOOK-4 a header of another form is malformed', async (delivery) => {
  expect(await checkSignature(delivery, SECRET)).toBe('malformed');
});

test.each(['', 'whsec_', 'whsec_!!!!', 'whsec_abc', SECRET.slice('whsec_'.length), `${SECRET} `])(
  'HOOK-4 the secret %j checks nothing',
  async (secret) => {
    expect(keyOfSecret(secret)).toBeUndefined();
    expect(await checkSignature(genuine, secret)).toBe('not checked');
  },
);

const service = (seconds = SECONDS, header = signBody(webhookSecretOf(API_KEY), body, seconds)) => ({
  at: AT,
  headers: { 'x-service-signature': header },
  body,
});

test('HOOK-4 X-Service-Signature is checked with the API key', async () => {
  expect(await checkServiceSignature(service(), API_KEY)).toBe('valid');
  expect(await checkServiceSignature(service(), `${API_KEY}x`)).toBe('wrong secret');
  expect(await checkServiceSignature({ ...service(), body: '{}' }, API_KEY)).toBe('wrong secret');
  expect(await checkServiceSignature(service(SECONDS - 301), API_KEY)).toBe('timestamp too old');
  expect(await checkServiceSignature(service(SECONDS, 'v1=00'), API_KEY)).toBe('malformed');
  expect(await checkServiceSignature(genuine, API_KEY)).toBe('missing');
  expect(await checkServiceSignature(service(), '')).toBe('not checked');
});

test('HOOK-4 X-Service-Signature that differs in one digit is of a wrong key', async () => {
  const [start = '', digits = ''] = service().headers['x-service-signature'].split('v1=');
  for (let index = 0; index < digits.length; index += 1) {
    const digit = digits[index] === '0' ? '1' : '0';
    const header = `${start}v1=${digits.slice(0, index)}${digit}${digits.slice(index + 1)}`;
    expect(await checkServiceSignature(service(SECONDS, header), API_KEY)).toBe('wrong secret');
  }
});
