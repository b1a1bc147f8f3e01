import { afterEach, expect, test } from 'vitest';
import { signEvent } from '../../lambdas/core/signature.ts';
import { toUsageEvent } from '../../lambdas/protocols/account/usage-event.ts';
import { createUsageEndpoint, type UsageEndpointOptions } from '../../local/usage-endpoint.ts';
import { chargeOf } from '../lambdas/functions/wiring/usage-events-records.ts';
import { startUsageReceiver } from '../support/usage-receiver.ts';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const nowMs = Date.UTC(2026, 10, 20, 12);

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0)) await end();
});

const open = async (status: number, changed: Partial<UsageEndpointOptions> = {}) => {
  const receiver = await startUsageReceiver();
  receiver.state.status = status;
  endings.push(receiver.stop);
  const publish = createUsageEndpoint({ url: receiver.url, secret, now: () => nowMs, ...changed });
  return { receiver, publish };
};

const events = [1, 2].flatMap((number) => {
  const record = chargeOf(number);
  return toUsageEvent({ ...record, record }, 'gateway-local') ?? [];
});
const all = new Set(events.map(({ id }) => id));

test('OPS-20 a batch is a JSON array of CloudEvents, signed as in Standard Webhooks', async () => {
  const { receiver, publish } = await open(200);
  expect(await publish(events)).toEqual({ failed: new Set() });
  const [{ headers, body, ...batch } = { headers: {}, body: '', events: [] }] = receiver.state.batches;
  expect(batch.events).toEqual(events);
  expect(headers['content-type']).toBe('application/cloudevents-batch+json; charset=utf-8');
  const id = String(headers['webhook-id']);
  expect(headers['webhook-timestamp']).toBe(String(nowMs / 1_000));
  expect(headers['webhook-signature']).toBe(signEvent([secret], { id, unixSeconds: nowMs / 1_000, body }));
  expect(JSON.stringify(headers)).not.toContain(secret.slice(6));
});

test('OPS-20 a repeated batch has the same webhook-id, and another batch has another one', async () => {
  const { receiver, publish } = await open(500);
  await publish(events);
  await publish(events);
  await publish(events.slice(1));
  const [first, second, third] = receiver.state.batches.map(({ headers }) => headers['webhook-id']);
  expect([first === second, first === third]).toEqual([true, false]);
});

test.each([302, 400, 410, 429, 500])('OPS-20 a response with status %i confirms no event', async (status) => {
  const { receiver, publish } = await open(status);
  expect(await publish(events)).toEqual({ failed: all, reason: `the endpoint returned ${status}` });
  expect(receiver.state.batches).toHaveLength(1);
});

test('OPS-20 an endpoint that does not respond confirms no event', async () => {
  const { publish } = await open(0, { timeoutMs: 50 });
  expect(await publish(events)).toEqual({ failed: all, reason: 'the endpoint did not respond in time' });
});

test('OPS-20 an endpoint that is down confirms no event, and the reason has neither URL nor secret', async () => {
  const { receiver, publish } = await open(200);
  await receiver.stop();
  expect(await publish(events)).toEqual({ failed: all, reason: 'the endpoint cannot be reached' });
});

test('OPS-20 a stop of the program ends a delivery in progress', async () => {
  const stop = new AbortController();
  const { receiver, publish } = await open(0, { signal: stop.signal });
  const pending = publish(events);
  await expect.poll(() => receiver.state.batches.length).toBe(1);
  stop.abort();
  expect((await pending).failed).toEqual(all);
});
