import { expect, test } from 'vitest';
import * as z from 'zod';
import { formatUsd, parseUsd } from '../../lambdas/core/money/usd.ts';
import { allEvents, chunkSchema, MODEL, postChat, pricesOf, saying } from '../support/gateway-chat.ts';
import { startSimulated } from './simulated-gateway.ts';

const { vendor, gateway } = await startSimulated({ LOCAL_BALANCE_USD: '2.5' });
const priceOf = await pricesOf(gateway, MODEL);

const answerSchema = z.looseObject({ usage: z.looseObject({ prompt_tokens: z.int(), completion_tokens: z.int() }) });

const chargeRecords = () => gateway.recordsOf(gateway.accountId);

test('BILL-15 a response has its cost and the balance, to the pico-dollar', async () => {
  const before = await gateway.account();
  const response = await postChat(gateway, { messages: saying('hello') });
  const { usage } = answerSchema.parse(await response.json());
  const cost = priceOf(usage);
  expect(response.headers.get('x-service-cost-usd')).toBe(formatUsd(cost));
  expect(response.headers.get('x-service-balance-usd')).toBe(formatUsd(before.balance - cost));
  expect(await gateway.account()).toEqual({
    balance: before.balance - cost,
    available: before.balance - cost,
    held: 0n,
    openHolds: 0,
  });
});

test('GEN-4, LIM-5 every response has a gateway request id; with a valid key, rate limits', async () => {
  const own = { 'x-request-id': 'mine' };
  const answers = await Promise.all([
    fetch(`${gateway.url}/health`, { headers: own }),
    fetch(`${gateway.url}/nowhere`, { headers: own }),
    fetch(`${gateway.url}/v1/models`, { headers: own }),
    postChat(gateway, { messages: saying('hello') }),
    postChat(gateway, { messages: saying('hello'), stream: true }),
  ]);
  await Promise.all(answers.map((answer) => answer.text()));
  expect(answers.map(({ status }) => status)).toEqual([200, 404, 401, 200, 200]);
  const ids = answers.map(({ headers }) => headers.get('x-request-id'));
  const limits = answers.map(({ headers }) => headers.get('x-ratelimit-limit-requests') !== null);
  expect(limits).toEqual([false, false, false, true, true]);
  for (const id of ids) expect(id).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
  expect(new Set(ids).size).toBe(answers.length);
});

test('BILL-3 the charge record of a request has its usage, its prices and its amount', async () => {
  vendor.next({ claimedUsage: { input: 100, cached: 40, output: 30, reasoning: 10 } });
  const response = await postChat(gateway, { messages: saying('hello'), user: 'user-7' });
  const requestId = response.headers.get('x-request-id') ?? '';
  const record = (await chargeRecords()).find((candidate) => candidate.requestId === requestId);
  expect(record).toMatchObject({
    holdId: `${requestId}.0`,
    outcome: 'settled',
    model: MODEL,
    usage: { input: 60, cacheRead: 40, cacheWrite: 0, output: 20, reasoning: 10 },
    prices: {
      input: priceOf({ prompt_tokens: 1, completion_tokens: 0 }),
      output: priceOf({ prompt_tokens: 0, completion_tokens: 1 }),
    },
    amountPicos: priceOf({ prompt_tokens: 100, completion_tokens: 30 }),
    endUser: 'user-7',
  });
});

test('BILL-7 usage above the hold is charged as reported and flagged', async () => {
  const prompt = 2_000;
  vendor.next({ claimedUsage: { input: prompt, output: 5 } });
  const before = await gateway.account();
  const response = await postChat(gateway, { messages: saying('short'), max_tokens: 10 });
  const cost = priceOf({ prompt_tokens: prompt, completion_tokens: 5 });
  expect(response.headers.get('x-service-cost-usd')).toBe(formatUsd(cost));
  expect((await gateway.account()).balance).toBe(before.balance - cost);
  const records = await chargeRecords();
  const requestId = response.headers.get('x-request-id');
  expect(records.find((record) => record.requestId === requestId)).toMatchObject({ overage: true });
});

test('BILL-10 a success without usage charges no tokens', async () => {
  vendor.next({ noUsage: true });
  const plain = await postChat(gateway, { messages: saying('hello') });
  expect([plain.status, plain.headers.get('x-service-cost-usd')]).toEqual([200, '0']);
  vendor.next({ noUsage: true });
  const events = await allEvents(await postChat(gateway, { messages: saying('hello'), stream: true }));
  expect(events.at(-1)).toBe('[DONE]');
  expect(JSON.parse(events.at(-2) ?? '')).toMatchObject({ usage: { cost: 0, cost_usd: '0' } });
});

test('BILL-3 balance, charge records and receipts agree for successes and failures of every kind', async () => {
  const before = await gateway.untilSettled();
  const recordedBefore = (await chargeRecords()).length;
  const work = Array.from({ length: 24 }, async (_, index) => {
    const failing = index % 4 === 3 ? ' [[status 500]]' : '';
    const body = { messages: saying(`request ${index}${failing}`), max_tokens: 20 + index };
    if (index % 2 === 0) {
      const response = await postChat(gateway, body);
      await response.text();
      return parseUsd(response.headers.get('x-service-cost-usd') ?? '0');
    }
    const response = await postChat(gateway, { ...body, stream: true });
    if (response.status !== 200) return 0n;
    const last = chunkSchema.parse(JSON.parse((await allEvents(response)).at(-2) ?? ''));
    return parseUsd(last.usage!.cost_usd);
  });
  const costs = await Promise.all(work);
  const after = await gateway.untilSettled();
  const records = await chargeRecords();
  const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, amount) => total + amount, 0n);
  expect(costs.filter((cost) => cost > 0n)).toHaveLength(18);
  expect(before.balance - after.balance).toBe(sum(costs));
  expect(records.length - recordedBefore).toBe(24);
  expect(new Set(records.map(({ holdId }) => holdId)).size).toBe(records.length);
  expect(records.every(({ outcome, amountPicos }) => outcome === 'settled' || amountPicos === 0n)).toBe(true);
  expect(parseUsd('2.5') - sum(records.map(({ amountPicos }) => amountPicos))).toBe(after.balance);
});
