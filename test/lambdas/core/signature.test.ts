import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  isSigned,
  isTimely,
  SIGNATURE_AGE_MS,
  signBody,
  signEvent,
  updateSecretOf,
  webhookSecretOf,
} from '../../../lambdas/core/signature.ts';
import { randomRuns } from '../../support/random-runs.ts';

const runs = randomRuns(import.meta.filename, { quick: 100, long: 5_000 });

const SECRET = 'shared-with-a-payment-provider';
const NOW_MS = Date.UTC(2026, 10, 1, 12);
const NOW = NOW_MS / 1_000;
const BODY = Buffer.from('{"account":"a","ref":"r","amount_usd":"1"}');
const SIGNATURE = signBody(SECRET, BODY, NOW);

test('KEY-6 a signature has the time and the HMAC of the time, a dot and the body', () => {
  const hmac = createHmac('sha256', SECRET)
    .update(Buffer.concat([Buffer.from(`${NOW}.`), BODY]))
    .digest('hex');
  expect(SIGNATURE).toBe(`t=${NOW},v1=${hmac}`);
  expect(signBody(SECRET, BODY.toString(), NOW)).toBe(SIGNATURE);
  expect(isSigned(SECRET, SIGNATURE, BODY)).toBe(true);
});

test('KEY-6 a signature is valid for exactly five minutes before and after its time', () => {
  expect(SIGNATURE_AGE_MS).toBe(300_000);
  for (const [awayMs, isGood] of [
    [0, true],
    [300_000, true],
    [300_001, false],
    [-300_000, true],
    [-300_001, false],
    [86_400_000, false],
  ] as const) {
    expect([awayMs, isTimely(SIGNATURE, NOW_MS + awayMs)]).toEqual([awayMs, isGood]);
  }
});

test('KEY-6 a signature with another body, secret or time is invalid', () => {
  for (const body of ['', `${BODY} `, BODY.toString().replace('1', '9'), BODY.toString().replaceAll('"', '\\"')]) {
    expect(isSigned(SECRET, SIGNATURE, Buffer.from(body))).toBe(false);
  }
  for (const secret of ['', `${SECRET} `, SECRET.toUpperCase()]) {
    expect(isSigned(secret, SIGNATURE, BODY)).toBe(false);
  }
  for (const time of [NOW - 1, NOW + 1, `0${NOW}`]) {
    const moved = SIGNATURE.replace(`t=${NOW}`, `t=${time}`);
    expect(isTimely(moved, NOW_MS)).toBe(true);
    expect(isSigned(SECRET, moved, BODY)).toBe(false);
  }
});

test('KEY-6 the dot separates the digits of the time from the body', () => {
  const moved = signBody(SECRET, `${NOW % 10}.x`, Math.floor(NOW / 10)).replace(/t=\d+/, `t=${NOW}`);
  expect(isSigned(SECRET, moved, Buffer.from('x'))).toBe(false);
});

const digits = SIGNATURE.slice(SIGNATURE.indexOf('v1=') + 3);

test.each([
  '',
  't=,v1=',
  `t=${NOW}`,
  `v1=${digits}`,
  `v1=${digits},t=${NOW}`,
  `t=${NOW},v1=`,
  `t=${NOW},v1=${digits.toUpperCase()}`,
  `t=${NOW},v1=${digits.slice(1)}`,
  `t=${NOW},v1=${digits}0`,
  `t=${NOW},v1=${digits},v1=${digits}`,
  `t=${NOW}, v1=${digits}`,
  ` ${SIGNATURE}`,
  `${SIGNATURE} `,
  `${SIGNATURE}\n`,
  `t=-${NOW},v1=${digits}`,
  `t=${NOW}.0,v1=${digits}`,
  `t=1e9,v1=${digits}`,
  `t=${NOW_MS},v1=${digits}`,
  `t=${'9'.repeat(400)},v1=${digits}`,
  `t=NaN,v1=${digits}`,
  `t=٠,v1=${digits}`,
  `v0=x,${SIGNATURE}`,
  'x'.repeat(100_000),
])('KEY-6 "%.40s" is not a signature', (signature) => {
  expect([isTimely(signature, NOW_MS), isSigned(SECRET, signature, BODY)]).toEqual([false, false]);
});

test('KEY-6 a signature made without the secret is invalid for any body', () => {
  const bytes = fc.uint8Array({ maxLength: 200 });
  fc.assert(
    fc.property(bytes, bytes, fc.string(), fc.nat({ max: 3_000_000_000 }), (body, other, secret, at) => {
      const signature = signBody(SECRET, body, at);
      expect(isTimely(signature, at * 1_000)).toBe(true);
      expect(isSigned(SECRET, signature, body)).toBe(true);
      expect(isSigned(SECRET, signature, other)).toBe(Buffer.compare(body, other) === 0);
      expect(isSigned(secret, signature, body)).toBe(secret === SECRET);
    }),
    runs,
  );
});

test('KEY-6 a signature with one changed character is invalid', () => {
  fc.assert(
    fc.property(
      fc.nat({ max: SIGNATURE.length - 1 }),
      fc.constantFrom(...'0123456789abcdefABCDEF=,. tv'),
      (at, character) => {
        const other = `${SIGNATURE.slice(0, at)}${character}${SIGNATURE.slice(at + 1)}`;
        expect(isSigned(SECRET, other, BODY)).toBe(other === SIGNATURE);
      },
    ),
    runs,
  );
});

test('KEY-5 the webhook secret is derived from the bot token and does not contain it', () => {
  const secret = updateSecretOf('123456:token');
  // Characters that the messenger accepts: https://core.telegram.org/bots/api#setwebhook
  expect(secret).toMatch(/^[A-Za-z0-9_-]{1,256}$/);
  expect(secret).not.toContain('token');
  expect(updateSecretOf('123456:token')).toBe(secret);
  expect(updateSecretOf('123457:token')).not.toBe(secret);
  expect(webhookSecretOf('123456:token')).not.toBe(secret);
});

/** Example of the libraries: https://github.com/standard-webhooks/standard-webhooks/tree/main/libraries */
const EVENT = {
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  unixSeconds: 1_614_265_330,
  body: '{"test": 2432232314}',
};

test('HOOK-1 an event is signed as in the example of Standard Webhooks, once for each secret', () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const signature = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';
  expect(signEvent([secret], EVENT)).toBe(signature);
  const [first, second] = signEvent([secret, 'whsec_AAAA'], EVENT).split(' ');
  expect(first).toBe(signature);
  expect(second).toMatch(/^v1,[0-9A-Za-z+/]{43}=$/);
  expect(second).not.toBe(signature);
});
