import { expect, test } from 'vitest';
import { alike, failed, free, promptly } from './early-scene.ts';
import { createSilentService, textOf } from './silent-service.ts';
import { customers } from './silent-vendor.ts';

const idempotent = { 'idempotency-key': 'one' };
const takesKeys = ['chat', 'images'] as const;

test.for(takesKeys)('IDEM-8 IDEM-2 the stored response of %s is the result without the early part', async (name) => {
  const prompt = await promptly(name);
  const service = await createSilentService();
  const first = await service.ask(customers[name], { seconds: 130 }, idempotent);
  await service.pass(102);
  expect(textOf(first.heard)).toBe(' ');
  const second = await service.ask(customers[name], {}, idempotent);
  await second.done;
  expect([second.heard.head?.statusCode, JSON.parse(textOf(second.heard)).error.code]).toEqual([
    409,
    'idempotency_in_progress',
  ]);
  await service.pass(28);
  await first.done;
  const third = await service.ask(customers[name], {}, idempotent);
  await third.done;
  expect([third.heard.head?.statusCode, alike(textOf(third.heard))]).toEqual([200, prompt.text]);
  expect(textOf(third.heard)).toBe(textOf(first.heard).trimStart());
  expect(third.heard.head?.headers).toMatchObject({
    'idempotent-replayed': 'true',
    'x-service-cost-usd': prompt.head?.headers?.['x-service-cost-usd'],
  });
  expect([service.calls.length, (await service.money()).spentPicos]).toEqual([1, prompt.spentPicos]);
});

test.for(takesKeys)(
  'IDEM-8 IDEM-7 a rejection of %s after an early 200 is replayed with its own status',
  async (name) => {
    const service = await createSilentService();
    const refusal = { status: 400, body: '{"error":{"message":"No such thing.","param":"prompt"}}' };
    const first = await service.ask(customers[name], { seconds: 130, ...refusal }, idempotent);
    await service.pass(130);
    await first.done;
    expect(first.heard.head?.statusCode).toBe(200);
    expect(textOf(first.heard)).toMatch(/^\s+\{"error":.*\}!$/);
    const second = await service.ask(customers[name], {}, idempotent);
    await second.done;
    expect([second.heard.head?.statusCode, `${textOf(second.heard)}!`]).toEqual([400, textOf(first.heard).trimStart()]);
    expect(second.heard.head?.headers).toMatchObject({ 'idempotent-replayed': 'true' });
    const { code } = JSON.parse(textOf(second.heard)).error;
    expect(service.finished).toMatchObject([{ errorCode: code }, { errorCode: code, replayed: true }]);
    expect([service.calls.length, await service.money()]).toEqual([1, free]);
  },
);

test.for(takesKeys)('IDEM-8 IDEM-7 a failure of %s after an early 200 frees its key', async (name) => {
  const prompt = await promptly(name);
  const service = await createSilentService();
  const first = await service.ask(customers[name], { seconds: 130, ...failed }, idempotent);
  await service.pass(130);
  await first.done;
  const second = await service.ask(customers[name], { seconds: 1 }, idempotent);
  await service.pass(1);
  await second.done;
  expect([second.heard.head?.statusCode, alike(textOf(second.heard))]).toEqual([200, prompt.text]);
  expect([service.calls.length, (await service.money()).spentPicos]).toEqual([2, prompt.spentPicos]);
});
