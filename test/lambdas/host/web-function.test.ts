import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { afterEach, expect, test } from 'vitest';
import { installLambdaRuntime, type StreamingHandler } from '../../../lambdas/host/lambda-runtime.ts';
import { startWebFunction } from '../../../lambdas/host/web-function.ts';
import { freePort } from '../../../lib/local/free-port.ts';
import { answerWith } from './started-host.ts';

installLambdaRuntime();
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** A function with one handler, under the address that it was told. */
const start = async () => {
  const events: APIGatewayProxyEventV2[] = [];
  const content: StreamingHandler = async (event, stream) => {
    events.push(event);
    await answerWith(stream, 200, 'content');
  };
  const endpoint = `127.0.0.1:${await freePort()}`;
  const host = await startWebFunction({ content }, { AWS_LAMBDA_HTTP_ENDPOINT: endpoint });
  stops.push(() => host.stop(0));
  const sourceOf = async (...forwarded: readonly string[]): Promise<string | undefined> => {
    const headers = forwarded.map((value): [string, string] => ['x-forwarded-for', value]);
    await fetch(`http://${endpoint}/v1/videos/a/content`, { headers });
    return events.at(-1)?.requestContext.http.sourceIp;
  };
  return { endpoint, events, sourceOf };
};

test('VID-4 a Web Function listens where AWS tells it to', async () => {
  const { endpoint } = await start();
  const answer = await fetch(`http://${endpoint}/v1/videos/a/content`);
  expect([answer.status, await answer.text()]).toEqual([200, 'content']);
});

test('GEN-7 what is no route of a Web Function is answered by its own handler', async () => {
  const { endpoint, events } = await start();
  for (const path of ['/v1/videos', '/v1/models', '/nowhere']) await fetch(`http://${endpoint}${path}`);
  expect(events.map(({ rawPath }) => rawPath)).toEqual(['/v1/videos', '/v1/models', '/nowhere']);
});

test('LIM-7 behind Lambda a request comes from the address that Lambda adds, whatever the client wrote before it', async () => {
  const { sourceOf } = await start();
  expect(await sourceOf('203.0.113.7')).toBe('203.0.113.7');
  expect(await sourceOf('10.0.0.1, 2001:db8::1,  203.0.113.7 ')).toBe('203.0.113.7');
  expect(await sourceOf('10.0.0.1', '203.0.113.7')).toBe('203.0.113.7');
  // Nothing was added, so nobody is known: all such share one bucket.
  expect(await sourceOf()).toBe('');
});

test.each(['8080', 'localhost', 'http://127.0.0.1', ':80'])('the endpoint %s is refused by its name', (endpoint) => {
  expect(() => startWebFunction({}, { AWS_LAMBDA_HTTP_ENDPOINT: endpoint })).toThrow(/^AWS_LAMBDA_HTTP_ENDPOINT: /);
});
