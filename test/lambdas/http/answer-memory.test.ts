import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { GatewayError } from '../../../lambdas/core/errors/gateway-error.ts';
import { createResponseStream, streaming } from '../../../lambdas/host/lambda-runtime.ts';
import { FREE_BYTES } from '../../../lambdas/http/body-budget.ts';
import { isCut, onCutEnd } from '../../../lambdas/http/cut-answers.ts';
import type { RouteHandler } from '../../../lambdas/http/exchange.ts';
import { createChain } from './chain.ts';
import { functionUrlEvent } from './function-url.ts';

/** Requests of an account whose quarter has 100 bytes, to a handler that uses memory. */
const opened = async (handle: RouteHandler) => {
  const chain = await createChain({ bodyBytes: 400, handle });
  chain.funded.mark({ accountId: 'account-1', amountPicos: 1n });
  const event = functionUrlEvent({
    method: 'POST',
    path: '/v1/embeddings',
    headers: { authorization: `Bearer ${chain.apiKey}` },
    body: '{}',
  });
  /** Each call continues a write that the client has not read. */
  const unread: (() => void)[] = [];
  const stream = createResponseStream({
    head: () => undefined,
    write: (_, done) => void unread.push(done),
    end: (done) => done(),
  });
  const context = { getRemainingTimeInMillis: () => 900_000 };
  const sent = streaming(chain.handler)(event, stream, context);
  const isFree = (): boolean => {
    const lease = chain.bodies.open(['account#account-1']);
    const room = lease.reserve(FREE_BYTES + 1);
    room?.catch(() => undefined);
    lease.end();
    return room === undefined;
  };
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const untilUnread = async (): Promise<void> => {
    while (unread.length === 0) await turn();
  };
  const readAll = async (): Promise<void> => {
    let isSent = false;
    void sent.finally(() => (isSent = true)).catch(() => undefined);
    while (!isSent) {
      unread.shift()?.();
      await turn();
    }
  };
  return { ...chain, event, isFree, untilUnread, readAll };
};

const large =
  (until: 'started' | 'sent'): RouteHandler =>
  async ({ openMemory }) => {
    const memory = openMemory?.(until);
    await memory?.reserve(FREE_BYTES + 1_000);
    memory?.settle(FREE_BYTES + 1_000);
    const headers = { 'content-length': String(64 * 1_024 * 10) };
    return { statusCode: 200, headers, body: Readable.from([Buffer.alloc(64 * 1_024 * 10)]) };
  };

test('GEN-14 memory of a response is released when the client has read it', async () => {
  const { isFree, untilUnread, readAll, clock } = await opened(large('sent'));
  await untilUnread();
  expect(isFree()).toBe(false);
  await readAll();
  expect([isFree(), clock.waiting]).toEqual([true, 0]);
});

test.for([
  ['sent', 30_000],
  ['started', 10_000],
] as const)('GEN-14 memory until a response has %s is 503 after a wait of %i ms', async ([until, waitMs]) => {
  const { bodies, clock, finished, readAll } = await opened(large(until));
  const other = bodies.open(['account#account-1']);
  other.reserve(FREE_BYTES + 50);
  other.settle(FREE_BYTES + 50);
  await clock.advance(waitMs - 1);
  const before = finished.length;
  await clock.advance(1);
  await readAll();
  expect([before, finished.map(({ summary }) => summary.status)]).toEqual([0, [503]]);
});

test('GEN-14 memory of what was fetched is released when the response starts', async () => {
  const { isFree, untilUnread, readAll } = await opened(large('started'));
  await untilUnread();
  expect(isFree()).toBe(true);
  await readAll();
});

test('GEN-14 a failed request releases the memory of its response', async () => {
  const { isFree, readAll } = await opened(async (exchange) => {
    await large('sent')(exchange);
    throw new GatewayError('upstream_error', 'failed');
  });
  await readAll();
  expect(isFree()).toBe(true);
});

test('GEN-15 a client that reads a large response too slowly is disconnected', async () => {
  const { clock, event, untilUnread, readAll, isFree } = await opened(large('sent'));
  let isBroken = false;
  onCutEnd(event, () => {
    isBroken = true;
  });
  await untilUnread();
  await clock.advance(32_499);
  expect(isBroken).toBe(false);
  await clock.advance(1);
  expect([isBroken, isCut(event)]).toEqual([true, true]);
  await readAll();
  expect(isFree()).toBe(true);
});
