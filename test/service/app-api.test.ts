import { afterAll, expect, test } from 'vitest';
import * as z from 'zod';
import { LOW_BALANCE_THRESHOLD_DEFAULT } from '../../lambdas/core/accounts/low-balance.ts';
import { formatUsd, parseUsd } from '../../lambdas/core/money/usd.ts';
import { codeOf, startAppGateway } from '../support/app-gateway.ts';

const app = await startAppGateway();
afterAll(() => app.stop());

const accountBody = z.strictObject({
  id: z.string(),
  status: z.enum(['active', 'blocked']),
  balance_usd: z.string(),
  available_usd: z.string(),
  held_usd: z.string(),
  open_holds: z.int(),
  days_left: z.number().nullable(),
  threshold_usd: z.string(),
  key: z
    .strictObject({ id: z.string(), masked: z.string(), issued_at: z.iso.datetime(), revoked: z.boolean() })
    .nullable(),
  top_up_url: z.string().nullable(),
  top_up_text: z.string().nullable(),
});
const keyBody = z.strictObject({ key: z.string(), id: z.string(), masked: z.string() });

const model = { model: z.string(), cost_usd: z.string(), requests: z.int() };
const sums = { requests: z.int(), failed: z.int(), models: z.array(z.strictObject(model)) };
const spendBody = z.strictObject({
  object: z.literal('spend'),
  from: z.iso.date(),
  to: z.iso.date(),
  complete: z.boolean(),
  total_usd: z.string(),
  days: z.array(z.strictObject({ day: z.iso.date(), cost_usd: z.string(), ...sums })),
  ...sums,
});

test('KEY-4 the mini app shows balance, requests and spend of the API key', async () => {
  const owner = await app.openApp(1);
  await app.topUp({ account: owner.accountId, ref: 'first', amount_usd: '5' });
  const charged = await app.chat(owner.apiKey);
  const failed = await app.chat(owner.apiKey, 'hello [[status 500]]');
  expect([charged.status, failed.status]).toEqual([200, 502]);
  const cost = charged.headers.get('x-service-cost-usd') ?? '';

  const { status, body } = await owner.get('/app/api/account');
  expect(status).toBe(200);
  const account = accountBody.parse(body);
  expect(parseUsd(account.balance_usd)).toBe(parseUsd('5') - parseUsd(cost));
  expect(account).toMatchObject({
    id: owner.accountId,
    held_usd: '0',
    threshold_usd: formatUsd(LOW_BALANCE_THRESHOLD_DEFAULT),
    key: { revoked: false },
  });
  expect(account.days_left).toBeNull();

  const usage = await owner.get('/app/api/usage?limit=2');
  expect(usage.body).toEqual((await app.withKey('/api/usage?limit=2', owner.apiKey)).body);
  expect(usage.body.data).toMatchObject([{ outcome: 'released' }, { outcome: 'charged', cost_usd: cost }]);

  const spend = spendBody.parse((await owner.get('/app/api/spend')).body);
  expect(spend).toMatchObject({ complete: true, requests: 1, failed: 1, total_usd: cost });
  expect(spend.days).toHaveLength(30);
  expect(spend.models).toMatchObject([{ cost_usd: cost, requests: 1 }]);
});

test('KEY-2 a rotated API key is 401 immediately, and one of two concurrent rotations succeeds', async () => {
  const owner = await app.openApp(2);
  const { key } = accountBody.parse((await owner.get('/app/api/account')).body);
  const rotations = await Promise.all([1, 2].map(() => owner.post('/app/api/key', { key_id: key?.id })));
  const [won, lost] = rotations.toSorted((one, other) => one.status - other.status);
  if (!won || !lost) throw new Error('two were sent');
  expect([won.status, lost.status, codeOf(lost)]).toEqual([200, 409, 'key_already_rotated']);
  expect(won.headers.get('cache-control')).toBe('no-store');
  const made = keyBody.parse(won.body);

  const old = await app.withKey('/api/account', owner.apiKey);
  expect([old.status, codeOf(old)]).toEqual([401, 'revoked_api_key']);
  expect((await app.withKey('/api/account', made.key)).body.id).toBe(owner.accountId);
  expect((await owner.get('/app/api/account')).body.key).toMatchObject({ id: made.id, masked: made.masked });
  expect(app.gateway.output()).not.toContain(made.key);
});

test('KEY-5 eleven minutes after its start the mini app can read, but cannot replace the API key', async () => {
  const owner = await app.openApp(4);
  const headers = { authorization: `tma ${app.initData(4, 11 * 60)}` };
  const { status, body } = await app.ask('/app/api/account', { headers });
  expect(status).toBe(200);
  const sent = { key_id: accountBody.parse(body).key?.id };
  const late = await app.ask('/app/api/key', { method: 'POST', headers, body: JSON.stringify(sent) });
  expect([late.status, codeOf(late)]).toEqual([401, 'invalid_signature']);
  expect((await app.withKey('/api/account', owner.apiKey)).status).toBe(200);
});

test('KEY-6 a signed top-up is credited once, pays for requests, and passes the audit', async () => {
  const owner = await app.openApp(5);
  const poor = await app.chat(owner.apiKey);
  expect([poor.status, codeOf(poor)]).toEqual([402, 'insufficient_balance']);
  const payment = { account: owner.accountId, ref: 'payment-1', amount_usd: '2' };
  const forged = await app.topUp(payment, 'another-secret');
  expect([forged.status, codeOf(forged)]).toEqual([401, 'invalid_signature']);
  const credit = { object: 'credit', type: 'credit', ...payment, balance_usd: '2' };
  expect((await app.topUp(payment)).body).toEqual({ ...credit, repeated: false });
  expect((await app.topUp(payment)).body).toEqual({ ...credit, repeated: true });
  const other = await app.topUp({ ...payment, amount_usd: '3' });
  expect([other.status, codeOf(other)]).toEqual([409, 'credit_mismatch']);
  expect((await app.chat(owner.apiKey)).status).toBe(200);
  expect(await app.findings()).toEqual([]);
});

test('KEY-7 a month of payments, refunds, chargebacks and requests adds up', async () => {
  const owner = await app.openApp(6);
  const { accountId } = owner;
  const report = async (sent: object): Promise<number> => (await app.topUp({ account: accountId, ...sent })).status;
  const chats = async (count: number): Promise<readonly number[]> => {
    const all = await Promise.all(Array.from({ length: count }, () => app.chat(owner.apiKey)));
    return all.map(({ status }) => status);
  };
  const back = { of: 'pay-1', amount_usd: '1' };
  expect(await report({ ref: 'pay-1', amount_usd: '2' })).toBe(200);
  const [served] = await Promise.all([
    chats(5),
    ...[1, 2, 3].map(() => report({ ...back, ref: 'refund-1', type: 'refund' })),
    ...[1, 2].map(() => report({ ...back, ref: 'dispute-1', type: 'chargeback' })),
  ]);
  for (const status of served) expect([200, 402]).toContain(status);
  // The payment is with the payer again, and the charges remain.
  const spent = -(await balanceOf(owner));
  expect(spent).toBeGreaterThanOrEqual(0);
  expect(new Set(await chats(2))).toEqual(new Set([402]));
  expect(await report({ ...back, ref: 'won-1', type: 'chargeback_reversed' })).toBe(200);
  expect(await report({ ...back, ref: 'won-2', type: 'chargeback_reversed' })).toBe(409);
  expect(await balanceOf(owner)).toBeCloseTo(1 - spent, 9);
  expect(await chats(1)).toEqual([200]);
  expect(await app.findings()).toEqual([]);
});

const balanceOf = async ({ apiKey }: { readonly apiKey: string }): Promise<number> =>
  Number((await app.withKey('/api/account', apiKey)).body.balance_usd);
