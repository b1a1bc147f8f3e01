import { Readable, Writable } from 'node:stream';
import middy from '@middy/core';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { expect, test } from 'vitest';
import { installLambdaRuntime, streaming } from '../../../lambdas/host/lambda-runtime.ts';
import type { GatewayResponse } from '../../../lambdas/http/exchange.ts';
import { streamedResponse } from '../../../lambdas/http/response-mode.ts';

installLambdaRuntime();

const ended: string[] = [];

/** Calls a handler that returns this body, with this response stream. */
const respond = (body: GatewayResponse['body'], stream: Writable): Promise<void> => {
  ended.length = 0;
  const handler = middy({ executionMode: streamedResponse, requestEnd: () => ended.push('end') }).handler(async () => ({
    statusCode: 200,
    headers: {},
    body,
  }));
  return streaming(handler)({} as APIGatewayProxyEventV2, stream, {});
};

/** Response stream that collects its pieces, and takes the next piece when `take` is called if it is slow. */
const collecting = (isSlow = false) => {
  const pieces: string[] = [];
  const waiting: (() => void)[] = [];
  const stream = new Writable({
    highWaterMark: 1_000,
    write: (bytes: Buffer, _encoding, done) => {
      pieces.push(bytes.toString());
      if (isSlow) waiting.push(done);
      else done();
    },
  });
  return { stream, pieces, take: () => waiting.shift()?.() };
};

test('GEN-14 a long text is written in slices, each after the response accepts more data', async () => {
  const { stream, pieces, take } = collecting(true);
  const text = 'é'.repeat(40_000);
  const responding = respond(text, stream);
  await expect.poll(() => pieces.length).toBe(1);
  take();
  await expect.poll(() => pieces.length).toBe(2);
  expect([pieces.at(-1)?.length, ended]).toEqual([16 * 1_024, []]);
  while (pieces.join('') !== text || !stream.writableFinished) {
    take();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await responding;
  expect(ended).toEqual(['end']);
});

test.for(['', 'x'])('GEN-14 no slice ends within a character that is a surrogate pair, after "%s"', async (start) => {
  const { stream, pieces } = collecting();
  const text = start + '😀'.repeat(40_000);
  await respond(text, stream);
  expect(pieces.length).toBeGreaterThan(4);
  expect(Buffer.byteLength(pieces.join(''))).toBe(Buffer.byteLength(text));
  expect(pieces.join('') === text).toBe(true);
});

test('BILL-8 a body is read at the pace of its response', async () => {
  const { stream, pieces, take } = collecting(true);
  let read = 0;
  const body = new Readable({
    highWaterMark: 1,
    read: () => {
      read += 1;
      body.push(read > 20 ? null : 'x'.repeat(2_000));
    },
  });
  const responding = respond(body, stream);
  await expect.poll(() => pieces.length).toBe(1);
  expect(read).toBeLessThan(5);
  while (!stream.writableFinished) {
    take();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await responding;
  expect([pieces.join('').length, ended]).toEqual([40_000, ['end']]);
});

test('BILL-9 a body that breaks destroys its response', async () => {
  const { stream } = collecting();
  const body = new Readable({ read: () => void body.destroy(new Error('broken')) });
  await expect(respond(body, stream)).rejects.toThrow('broken');
  expect([stream.destroyed, stream.writableFinished, ended]).toEqual([true, false, ['end']]);
});

test('BILL-9 a body that closes before its end destroys its response', async () => {
  const { stream } = collecting();
  const body = new Readable({ read: () => void body.destroy() });
  await expect(respond(body, stream)).rejects.toThrow('closed before its end');
  expect(stream.destroyed).toBe(true);
});

test('BILL-8 a response that closes early destroys its body', async () => {
  const { stream } = collecting();
  const body = new Readable({ read: () => undefined });
  const responding = respond(body, stream);
  setImmediate(() => stream.destroy());
  await expect(responding).rejects.toThrow('closed before its end');
  expect(body.destroyed).toBe(true);
});

/** Response stream that fails when it ends. */
class Endless extends Writable {
  override _write(_bytes: Buffer, _encoding: string, done: () => void): void {
    done();
  }

  override _final(done: (error: Error) => void): void {
    done(new Error('not ended'));
  }
}

test.for(['text', 'body'])('BILL-9 a response with a %s that cannot end rejects', async (kind) => {
  const body = kind === 'text' ? kind : Readable.from([Buffer.from(kind)]);
  await expect(respond(body, new Endless())).rejects.toThrow('not ended');
  expect(ended).toEqual(['end']);
});

test('BILL-9 a body that closed before it is read destroys its response', async () => {
  const { stream } = collecting();
  const body = new Readable({ read: () => undefined }).destroy();
  await new Promise((resolve) => setImmediate(resolve));
  await expect(respond(body, stream)).rejects.toThrow('closed before its end');
  expect(stream.destroyed).toBe(true);
});

test('GEN-14 a text stops at a response that closes', async () => {
  const { stream } = collecting(true);
  const responding = respond('x'.repeat(40_000), stream);
  setImmediate(() => stream.destroy());
  await expect(responding).rejects.toThrow('closed before its end');
});

test.for([10, 40_000])('GEN-14 a text of %i characters rejects if its response is already closed', async (length) => {
  const { stream } = collecting(true);
  await expect(respond('x'.repeat(length), stream.destroy())).rejects.toThrow();
  expect(ended).toEqual(['end']);
});

test('GEN-14 a long text leaves no listeners on its response', async () => {
  const { stream, take } = collecting(true);
  const responding = respond('x'.repeat(400_000), stream);
  await expect.poll(() => stream.listenerCount('drain')).toBe(1);
  const closing = stream.listenerCount('close');
  while (!stream.writableFinished) {
    expect(stream.listenerCount('close')).toBeLessThanOrEqual(closing);
    take();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await responding;
});

test('GEN-14 a handler that throws ends its request', async () => {
  ended.length = 0;
  const failing = middy({ executionMode: streamedResponse, requestEnd: () => ended.push('end') }).handler(async () => {
    throw new Error('a bug');
  });
  await expect(streaming(failing)({} as APIGatewayProxyEventV2, collecting().stream, {})).rejects.toThrow('a bug');
  expect(ended).toEqual(['end']);
});
