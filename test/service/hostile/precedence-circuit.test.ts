import { ulid } from 'ulid';
import { expect, test } from 'vitest';
import { HOLDS_MAX } from '../../../lambdas/core/ledger/account.ts';
import { CENT, holdAll, leaveStreams, openCircuit, sendTo, tell } from '../../support/circuit-hostile.ts';
import { billed, circuitSuite, dear, named } from '../../support/circuit-hostile-suite.ts';
import {
  countContent,
  countTokens,
  generateContent,
  hasCap,
  images,
  messages,
  speech,
  videos,
} from '../../support/hostile-routes.ts';

const { open } = circuitSuite();

const capped = billed.filter(hasCap);
/** Functions of their own, which know nothing of the streams that were left elsewhere. */
const elsewhere = [images, speech, videos];

const DRY = 'x-service-dry-run: true';
const BARRED = '503 service_unavailable';
const LIMITED = '429 rate_limit_exceeded';
const BUDGET = '400 request_budget_exceeded';

test.each(named(capped))(
  'GEN-8 %s: the 503 of its open circuit, the 400 of the budget, the 429 of BILL-8, 402',
  async (_, route) => {
    const gateway = await open();
    const { apiKey, accountId } = await gateway.issue();
    const body = dear(route);
    const poor = (await gateway.issue({ balanceUsd: '0' })).apiKey;
    await leaveStreams(gateway, apiKey);
    await holdAll(gateway, accountId);
    expect(await tell(gateway, route, apiKey, { body })).toBe(BUDGET);
    expect(await tell(gateway, route, apiKey)).toBe(LIMITED);
    expect(await tell(gateway, route, poor)).toBe('402 insufficient_balance');
    await openCircuit(gateway, route);
    for (const asking of [apiKey, poor]) {
      expect(await tell(gateway, route, asking, { body })).toBe(BARRED);
      expect(await tell(gateway, route, asking)).toBe(BARRED);
    }
    expect(await tell(gateway, route, apiKey, { body: { unknown: 1 } })).toBe('400 unknown');
  },
);

test.each(named(billed))(
  'GEN-8 %s: LIM-8 goes before 402, and both are told while the circuit is closed',
  async (_, route) => {
    const gateway = await open();
    const { apiKey, accountId } = await gateway.issue({ balanceUsd: '2' });
    const each = { accountId, amountPicos: CENT, expiresAtMs: 0, sweepAtMs: 0, previousHoldId: undefined };
    for (let held = 0; held < HOLDS_MAX; held += 1) await gateway.ledger.hold({ ...each, holdId: `${ulid()}.0` });
    expect(await tell(gateway, route, apiKey)).toBe(LIMITED);
    const other = await gateway.issue({ balanceUsd: '0' });
    expect(await tell(gateway, route, other.apiKey)).toBe('402 insufficient_balance');
    await openCircuit(gateway, route);
    for (const asking of [apiKey, other.apiKey]) expect(await tell(gateway, route, asking)).toBe(BARRED);
  },
);

test.each(named(billed))(
  'BILL-16 GEN-8 %s: a dry run sees the circuit, the budget and the drains, and no money',
  async (_, route) => {
    const gateway = await open();
    const headers = [DRY];
    const poor = await gateway.issue({ balanceUsd: '0' });
    const left = await gateway.issue();
    const sending = (apiKey: string, body: object = {}) => tell(gateway, route, apiKey, { headers, body });
    expect(await sending(poor.apiKey)).toBe('200');
    expect(await sending(poor.apiKey, { unknown: 1 })).toBe('400 unknown');
    await leaveStreams(gateway, left.apiKey);
    // Videos are a function of their own, whose process drains nothing.
    expect(await sending(left.apiKey)).toBe(elsewhere.includes(route) ? '200' : LIMITED);
    if (capped.includes(route)) expect(await sending(left.apiKey, dear(route))).toBe(BUDGET);
    await openCircuit(gateway, route);
    expect(await sending(left.apiKey)).toBe(BARRED);
    expect(await sending(poor.apiKey)).toBe(BARRED);
    expect((await gateway.ledger.readAccount(poor.accountId))?.version).toBe(1);
  },
);

test.each([
  ['messages', messages, countTokens],
  ['generateContent', generateContent, countContent],
] as const)('BILL-17 %s: whether its circuit is open is nothing to the counting of tokens', async (_, route, free) => {
  const gateway = await open();
  const { apiKey } = await gateway.issue({ balanceUsd: '0' });
  await openCircuit(gateway, route);
  expect(await tell(gateway, route, apiKey)).toBe(BARRED);
  expect(await tell(gateway, free, apiKey)).toBe('200');
});

test.each(named(billed))(
  'GEN-8 FALL-1 %s: who has no money is told so before it could become the probe; the waits are 30, 60, 120, 300, 300 s',
  async (_, route) => {
    let now = Date.UTC(2026, 10, 20);
    const gateway = await open({ now: () => now });
    const { apiKey } = await gateway.issue();
    const poor = (await gateway.issue({ balanceUsd: '0' })).apiKey;
    const body = JSON.stringify(route.body('[[status 500]]'));
    await openCircuit(gateway, route);
    for (const seconds of [30, 60, 120, 300, 300]) {
      for (const passed of [0, seconds * 1_000 - 1]) {
        now += passed;
        const { told, reply } = await sendTo(gateway, route, apiKey);
        expect([told, reply.headers.get('retry-after')]).toEqual([BARRED, String(passed === 0 ? seconds : 1)]);
      }
      now += 1;
      expect(await tell(gateway, route, poor)).toBe('402 insufficient_balance');
      expect(await tell(gateway, route, apiKey, { body })).toBe('502 upstream_error');
    }
    now += 300_000;
    for (let probe = 0; probe < 3; probe += 1) expect(await tell(gateway, route, apiKey)).toBe('200');
    for (let failure = 0; failure < 4; failure += 1) {
      expect(await tell(gateway, route, apiKey, { body })).toBe('502 upstream_error');
    }
    expect(await tell(gateway, route, apiKey)).toBe('200');
  },
);
