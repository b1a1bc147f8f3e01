import { expect, test } from 'vitest';
import { markAsLeft } from '../../../../lambdas/http/cut-answers.ts';
import { readError } from '../../../support/hostile-oracle.ts';
import { rowsOfTier } from '../../../tiers.ts';
import {
  alike,
  begunEarly,
  failed,
  failureOf,
  free,
  GRACE_SECONDS,
  keepAliveOf,
  once,
  promptly,
  restAfter,
  shapeOf,
} from './early-scene.ts';
import { createSilentService, textOf } from './silent-service.ts';
import { customers } from './silent-vendor.ts';

/**
 * Requests of most tests: in the quick tier, one per combination of failure form and keep-alive. Two tests run every
 * request in both tiers, so that each handler is called.
 */
const names = rowsOfTier(begunEarly, shapeOf);

test.for(names)('ERR-6 CHAT-11 BILL-15 %s, ready at 99 s, is sent normally', async (name) => {
  const prompt = await promptly(name);
  const service = await createSilentService();
  const { heard, done } = await service.ask(customers[name], { seconds: 99 });
  await service.pass(98);
  expect(heard.head).toBeUndefined();
  await service.pass(1);
  await done;
  expect(alike(textOf(heard))).toBe(prompt.text);
  expect(Object.keys(heard.head?.headers ?? {})).toEqual(Object.keys(prompt.head?.headers ?? {}));
  expect(await service.money()).toEqual({ spentPicos: prompt.spentPicos, expiries: [] });
  expect([once(service)?.totalMs, service.clock.waiting]).toEqual([99_000, 0]);
});

test.for(begunEarly)('ERR-6 CHAT-11 BILL-15 %s, ready at 101 s, has started at 100 s', async (name) => {
  const prompt = await promptly(name);
  const service = await createSilentService();
  const { heard, done } = await service.ask(customers[name], { seconds: 101 });
  await service.pass(99);
  expect(heard.head).toBeUndefined();
  await service.pass(1);
  expect(heard.head?.statusCode).toBe(200);
  expect(heard.head?.headers).toMatchObject({
    'content-type': prompt.head?.headers?.['content-type'],
    'x-request-id': expect.stringMatching(/^[0-9A-Z]{26}$/),
    'x-ratelimit-limit-requests': expect.any(String),
  });
  expect(textOf(heard)).toBe(keepAliveOf(name));
  expect((await service.money()).expiries).toHaveLength(1);
  expect(service.finished).toEqual([]);
  await service.pass(1);
  await done;
  expect(restAfter(heard, name, [100])).toBe(prompt.text);
  if (customers[name].ends === 'json') expect(() => JSON.parse(textOf(heard))).not.toThrow();
  expect(heard.head?.headers).not.toHaveProperty('x-service-cost-usd');
  expect(heard.head?.headers).not.toHaveProperty('x-service-balance-usd');
  expect(await service.money()).toEqual({ spentPicos: prompt.spentPicos, expiries: [] });
  expect(once(service)).toMatchObject({ status: 200, costPicos: prompt.spentPicos, totalMs: 101_000 });
  expect(once(service)).not.toHaveProperty('errorCode');
  expect([service.calls.length, service.clock.waiting]).toEqual([1, 0]);
});

test.for(names)('ERR-4 ERR-6 %s, failed at 99 s, has its true status', async (name) => {
  const service = await createSilentService();
  const { heard, done } = await service.ask(customers[name], { seconds: 99, ...failed });
  await service.pass(99);
  await done;
  expect(heard.head?.statusCode).toBe(502);
  expect(readError({ status: 502, body: textOf(heard) }, 'any').code).toBe('upstream_error');
  expect(await service.money()).toEqual(free);
  expect(once(service)).toMatchObject({ status: 502, errorCode: 'upstream_error' });
  expect(service.clock.waiting).toBe(0);
});

test.for(names)('ERR-6 CHAT-11 GEN-3 %s, failed at 101 s, does not end like a success', async (name) => {
  const service = await createSilentService();
  const { heard, done } = await service.ask(customers[name], { seconds: 101, ...failed });
  await service.pass(101);
  await done;
  expect([heard.head?.statusCode, heard.ended]).toEqual([200, true]);
  expect(restAfter(heard, name, [100])).toMatch(failureOf(name, 'upstream_error', 502));
  expect(() => JSON.parse(textOf(heard))).toThrow(SyntaxError);
  expect(await service.money()).toEqual(free);
  expect(once(service)).toMatchObject({ status: 200, errorCode: 'upstream_error', totalMs: 101_000 });
  expect(service.clock.waiting).toBe(0);
});

test.for(names)('LIM-6 ERR-6 CHAT-11 %s without a result fails only at its full time limit', async (name) => {
  const service = await createSilentService();
  const { heard, done } = await service.ask(customers[name], {});
  await service.pass(100);
  const expiry = (await service.money()).expiries[0] ?? 0;
  const seconds = expiry - GRACE_SECONDS;
  expect([600, 870]).toContain(seconds);
  await service.pass(seconds - 100);
  await done;
  const times = Array.from({ length: Math.ceil((seconds - 100) / 15) }, (_, index) => 100 + index * 15);
  expect(
    restAfter(
      heard,
      name,
      times.filter((at) => at < seconds),
    ),
  ).toMatch(failureOf(name, 'upstream_timeout', 504));
  expect(await service.money()).toEqual(free);
  expect(once(service)).toMatchObject({ status: 200, errorCode: 'upstream_timeout' });
  expect(service.clock.waiting).toBe(0);
});

test.for(names)('LIM-6 %s without a front door has no early deadline', async (name) => {
  const service = await createSilentService('none');
  const { heard, done } = await service.ask(customers[name], { seconds: 500 });
  await service.pass(499);
  expect(heard.head).toBeUndefined();
  await service.pass(1);
  await done;
  expect(alike(textOf(heard))).toBe((await promptly(name)).text);
});

test.for(names)('BILL-8 %s of a client that left during the silence is charged', async (name) => {
  const prompt = await promptly(name);
  const service = await createSilentService();
  const { done, event } = await service.ask(customers[name], { seconds: 131 });
  await service.pass(50);
  markAsLeft(event);
  await service.pass(81);
  await done;
  expect(await service.money()).toEqual({ spentPicos: prompt.spentPicos, expiries: [] });
  expect(once(service)).toMatchObject({ status: 200, costPicos: prompt.spentPicos });
});

test.for(begunEarly)('ERR-6 BILL-16 a dry run or a rejection of %s leaves no timer', async (name) => {
  const service = await createSilentService();
  const dry = await service.ask(customers[name], {}, { 'x-service-dry-run': 'true' });
  await dry.done;
  expect(dry.heard.head?.statusCode).toBe(200);
  expect(JSON.parse(textOf(dry.heard)).object).toBe('dry_run');
  const refused = await service.ask(customers[name], {}, { 'x-service-dry-run': 'maybe' });
  await refused.done;
  expect([refused.heard.head?.statusCode, service.clock.waiting]).toEqual([400, 0]);
});
