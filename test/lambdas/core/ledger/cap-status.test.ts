import { expect, test } from 'vitest';
import {
  capExceeded,
  capStatus,
  describeHolds,
  refuseLimitBelowUse,
} from '../../../../lambdas/core/ledger/cap-status.ts';
import { type HoldCap, toCap } from '../../../../lambdas/core/ledger/caps.ts';

const USD = 1_000_000_000_000n;
const AT = Date.UTC(2026, 10, 26, 12);
const DAY_MS = 86_400_000;

const hold = (cap?: HoldCap, expiresAtMs = AT + DAY_MS) => ({ amountPicos: USD, expiresAtMs, ...(cap && { cap }) });

/** An account with one cap of 7 USD, of which 4 are left, and holds of 1 USD in it. */
const accountWith = (period: string, leftPicos = 4n * USD, holds = 2) => ({
  caps: new Map([['k', toCap(7n * USD, leftPicos, period)]]),
  holds: new Map([
    ...Array.from(
      { length: holds },
      (_, index) => [`r.${index}`, hold({ keyId: 'k', period }, AT + (index + 1) * 60_000)] as const,
    ),
    ['without a cap', hold()],
    ['of another key', hold({ keyId: 'l', period })],
    ['of an earlier epoch', hold({ keyId: 'k', period: period.replace('3:', '2:') })],
  ]),
});

test('KEY-9 the state of a cap has its charges, its holds and its reset', () => {
  expect(capStatus(accountWith('3:2026-11-26'), 'other', AT)).toBeUndefined();
  const open = expect.objectContaining({ length: 2 });
  const status = { limitPicos: 7n * USD, leftPicos: 4n * USD, heldPicos: 2n * USD, spentPicos: USD, open };
  expect(capStatus(accountWith('3:2026-11-26'), 'k', AT)).toEqual({
    kind: 'day',
    ...status,
    resetsAtMs: Date.UTC(2026, 10, 27),
  });
  expect(capStatus(accountWith('3:2026-11'), 'k', AT)).toEqual({
    kind: 'month',
    ...status,
    resetsAtMs: Date.UTC(2026, 11, 1),
  });
  expect(capStatus(accountWith('3:total'), 'k', AT)).toEqual({ kind: 'total', ...status, resetsAtMs: undefined });
});

test('KEY-9 after a clock was set back, the present day has the charges of the later one', () => {
  expect(capStatus(accountWith('3:2026-12-30'), 'k', AT)).toEqual({
    kind: 'day',
    limitPicos: 7n * USD,
    leftPicos: 6n * USD,
    heldPicos: 0n,
    open: [],
    spentPicos: USD,
    resetsAtMs: Date.UTC(2026, 10, 27),
  });
});

test('KEY-9 after the end of a period the whole limit is left', () => {
  expect(capStatus(accountWith('3:2026-11-26'), 'k', AT + DAY_MS)).toEqual({
    kind: 'day',
    limitPicos: 7n * USD,
    leftPicos: 7n * USD,
    heldPicos: 0n,
    open: [],
    spentPicos: 0n,
    resetsAtMs: Date.UTC(2026, 10, 28),
  });
});

test.each([
  [
    '3:2026-11-26',
    '7 USD per day (UTC). 2 USD is held by requests in progress. The last of these holds expires at 2026-11-26T12:02:00Z. The cap resets at 2026-11-27T00:00:00Z.',
  ],
  [
    '3:2026-11',
    '7 USD per month (UTC). 2 USD is held by requests in progress. The last of these holds expires at 2026-11-26T12:02:00Z. The cap resets at 2026-12-01T00:00:00Z.',
  ],
  [
    '3:total',
    '7 USD in total. 2 USD is held by requests in progress. The last of these holds expires at 2026-11-26T12:02:00Z. The cap never resets.',
  ],
])('KEY-9 the error for a cap in %s has the cap, what is left and the reset', (period, expected) => {
  const refused = { keyId: 'k', amountPicos: 5n * USD, nowMs: AT, advice: undefined };
  const error = capExceeded(accountWith(period), refused);
  expect([error.code, error.status, error.type, error.headers]).toEqual([
    'key_limit_exceeded',
    402,
    'insufficient_balance',
    {},
  ]);
  expect(error.message).toBe(
    `This request needs a hold of up to 5 USD, but only 4 USD is left of the cap of this API key: ${expected} Raise the cap, or send a smaller request.`,
  );
});

test('KEY-9 a cap below 0 has 0 USD left in the error, and the advice precedes the reset', () => {
  const refused = { keyId: 'k', amountPicos: 5n * USD, nowMs: AT, advice: 'Nothing fits.' };
  const { message } = capExceeded(accountWith('3:total', -USD, 0), refused);
  expect(message).toContain('but only 0 USD is left');
  expect(message).toContain('7 USD in total. Nothing fits. The cap never resets.');
  expect(() => capExceeded(accountWith('3:total'), { ...refused, keyId: 'other' })).toThrow('has no cap');
});

test('KEY-9 a limit below the charges and holds of the period is 400, with both amounts', () => {
  const refusal = (limitPicos: bigint, kind: 'day' | 'total' = 'day', nowMs = AT) =>
    refuseLimitBelowUse(accountWith('3:2026-11-26'), 'k', { limitPicos, kind }, nowMs);
  const error = refusal(3n * USD - 1n);
  expect([error?.status, error?.code, error?.param]).toEqual([400, 'invalid_request_error', 'limit_usd']);
  expect(error?.message).toBe(
    'limit_usd: 2.999999999999 USD is below the 3 USD that this API key has spent and holds in the present period. Use a higher limit.',
  );
  expect(refusal(3n * USD)).toBeUndefined();
  expect([refusal(1n, 'total'), refusal(1n, 'day', AT + DAY_MS)]).toEqual([undefined, undefined]);
  expect(refuseLimitBelowUse(accountWith('3:total'), 'k', undefined, AT)).toBeUndefined();
  expect(refuseLimitBelowUse(accountWith('3:total'), 'l', { limitPicos: 1n, kind: 'day' }, AT)).toBeUndefined();
});

test('BILL-13 open holds are described with their sum and the last expiry that this release knows', () => {
  const newer = { amountPicos: USD, expiresAtMs: 8_640_000_000_000_000, isNewer: true } as const;
  expect(describeHolds([])).toBe('');
  expect(describeHolds([newer])).toBe('1 USD is held by requests in progress.');
  expect(describeHolds([hold(undefined, AT + 90_500), newer, hold(undefined, AT)])).toBe(
    '3 USD is held by requests in progress. The last of these holds expires at 2026-11-26T12:01:30Z.',
  );
});
