import { EventEmitter } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { afterEach, expect, test, vi } from 'vitest';
import { installLambdaRuntime, type StreamingHandler } from '../../../lambdas/host/lambda-runtime.ts';
import { endWhenAsked, LAST_MS, startWebFunction } from '../../../lambdas/host/web-function.ts';
import { functions } from '../../../lib/functions.ts';
import { answerWith } from './started-host.ts';

installLambdaRuntime();
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** Starts a Web Function with this handler on a free port. */
const serve = async (content: StreamingHandler) => {
  const host = await startWebFunction({ content }, { AWS_LAMBDA_HTTP_ENDPOINT: '127.0.0.1:0' });
  stops.push(() => host.stop(0));
  return { host, endpoint: `127.0.0.1:${host.port}` };
};

const start = async () => {
  const events: APIGatewayProxyEventV2[] = [];
  const content: StreamingHandler = async (event, stream) => {
    events.push(event);
    await answerWith(stream, 200, 'content');
  };
  const { endpoint } = await serve(content);
  const sourceOf = async (...forwarded: readonly string[]): Promise<string | undefined> => {
    const headers = forwarded.map((value): [string, string] => ['x-forwarded-for', value]);
    await fetch(`http://${endpoint}/v1/videos/a/content`, { headers });
    return events.at(-1)?.requestContext.http.sourceIp;
  };
  return { endpoint, events, sourceOf };
};

test('VID-4 a Web Function listens on the port that AWS sets', async () => {
  const { endpoint } = await start();
  const answer = await fetch(`http://${endpoint}/v1/videos/a/content`);
  expect([answer.status, await answer.text()]).toEqual([200, 'content']);
});

test('GEN-7 a Web Function passes every path to its own handler, even outside its routes', async () => {
  const { endpoint, events } = await start();
  for (const path of ['/v1/videos', '/v1/models', '/nowhere']) await fetch(`http://${endpoint}${path}`);
  expect(events.map(({ rawPath }) => rawPath)).toEqual(['/v1/videos', '/v1/models', '/nowhere']);
});

test('LIM-7 behind Lambda the client address is the one that Lambda adds', async () => {
  const { sourceOf } = await start();
  expect(await sourceOf('203.0.113.7')).toBe('203.0.113.7');
  expect(await sourceOf('10.0.0.1, 2001:db8::1,  203.0.113.7 ')).toBe('203.0.113.7');
  expect(await sourceOf('10.0.0.1', '203.0.113.7')).toBe('203.0.113.7');
  // Lambda added no address.
  expect(await sourceOf()).toBe('');
});

test.each(['8080', 'localhost', 'http://127.0.0.1', ':80'])(
  'the endpoint %s is rejected with the name of the variable',
  (endpoint) => {
    expect(() => startWebFunction({}, { AWS_LAMBDA_HTTP_ENDPOINT: endpoint })).toThrow(/^AWS_LAMBDA_HTTP_ENDPOINT: /);
  },
);

test('LIM-6 a Web Function gives its handlers a deadline 900 s after the request started', async () => {
  const left: number[] = [];
  const timed: StreamingHandler = async (_event, stream, context) => {
    const { getRemainingTimeInMillis } = context;
    if (typeof getRemainingTimeInMillis === 'function') left.push(getRemainingTimeInMillis());
    await answerWith(stream, 200, 'content');
  };
  vi.useFakeTimers({ toFake: ['Date'] });
  stops.push(async () => void vi.useRealTimers());
  const { endpoint } = await serve(timed);
  await fetch(`http://${endpoint}/v1/videos/a/content`);
  expect(left).toEqual([900_000]);
  expect([functions.content.timeoutSeconds, functions.inference.timeoutSeconds]).toEqual([900, 900]);
});

/** Creates a fake process, a function that sends it SIGTERM, and a promise of its exit code. */
const askedToEnd = () => {
  const asked = new EventEmitter();
  const exited = Promise.withResolvers<number | string | null | undefined>();
  const process = {
    once: (name: string, listener: () => void) => asked.once(name, listener),
    exit: (code?: number | string | null) => exited.resolve(code),
  };
  return { process, ask: () => asked.emit('SIGTERM'), exited: exited.promise };
};

test('BILL-13 a Web Function that must end accepts no new requests and finishes running ones', async () => {
  const may = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const slow: StreamingHandler = async (_event, stream) => {
    begun.resolve();
    await may.promise;
    await answerWith(stream, 200, 'all of it');
  };
  const { host, endpoint } = await serve(slow);
  const { process, ask, exited } = askedToEnd();
  // Long enough for any machine.
  endWhenAsked(host, process, 20_000);
  const answer = fetch(`http://${endpoint}/v1/videos/a/content`);
  await begun.promise;
  ask();
  await expect(fetch(`http://${endpoint}/v1/videos/a/content`)).rejects.toThrow();
  may.resolve();
  expect(await (await answer).text()).toBe('all of it');
  expect(await exited).toBe(0);
});

test('BILL-8 a Web Function that must end waits a bounded time for handlers without a client', async () => {
  const may = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const steps: string[] = [];
  const draining: StreamingHandler = async () => {
    begun.resolve();
    await may.promise;
    steps.push('settled');
  };
  const { host, endpoint } = await serve(draining);
  const client = new AbortController();
  const answer = fetch(`http://${endpoint}/v1/videos/a/content`, { signal: client.signal }).catch(() => 'left');
  await begun.promise;
  client.abort();
  expect(await answer).toBe('left');
  const first = askedToEnd();
  endWhenAsked(host, first.process, 20_000);
  first.ask();
  first.exited.then(() => steps.push('exited'));
  // This closes all connections, so a process that waited only for connections would exit too early.
  await host.stop(0);
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
  may.resolve();
  expect(await first.exited).toBe(0);
  expect(steps).toEqual(['settled', 'exited']);
});

test('LIM-6 a Web Function that must end is done before Lambda kills it after one second', () => {
  expect(LAST_MS).toBeLessThan(1_000);
});

test('BILL-13 a handler that never ends does not keep a Web Function from ending', async () => {
  const begun = Promise.withResolvers<void>();
  const endless: StreamingHandler = () => {
    begun.resolve();
    return new Promise(() => undefined);
  };
  const { host, endpoint } = await serve(endless);
  const { process, ask, exited } = askedToEnd();
  endWhenAsked(host, process, 10);
  const answer = fetch(`http://${endpoint}/v1/videos/a/content`).catch(() => 'cut off');
  await begun.promise;
  ask();
  expect(await exited).toBe(0);
  expect(await answer).toBe('cut off');
});
