import { expect, test } from 'vitest';
import { sleep } from '../../../lambdas/core/clock.ts';
import { GatewayError } from '../../../lambdas/core/errors/gateway-error.ts';
import { createResponseStream, type Prelude, streaming } from '../../../lambdas/host/lambda-runtime.ts';
import { type BodySource, withUnreadBody } from '../../../lambdas/http/body-source.ts';
import { isCut } from '../../../lambdas/http/cut-answers.ts';
import { planAnswer } from '../../../lambdas/http/early-answer.ts';
import { EventStream } from '../../../lambdas/http/event-stream.ts';
import { type EarlyResponse, json, type RouteHandler } from '../../../lambdas/http/exchange.ts';
import { openFrontDoor } from '../../../lambdas/http/front-door.ts';
import { ManualClock } from '../../support/memory/manual-clock.ts';
import { expectNoUnhandledRejections } from '../../support/unhandled-rejections.ts';
import { createChain } from './chain.ts';
import { functionUrlEvent } from './function-url.ts';

const frontDoorTimeouts = { silenceMs: 60_000, commitsStreams: true, commitsJson: true };

expectNoUnhandledRejections();

interface Scene {
  readonly handle: (clock: ManualClock) => RouteHandler;
  readonly isPatient?: boolean;
  readonly body?: string;
  /** Seconds that the body takes to arrive, if it arrives after the head. */
  readonly bodySeconds?: number;
}

/** Body that is complete after a delay. */
const slowly = (clock: ManualClock, body: string, seconds: number): BodySource => ({
  declaredBytes: body.length,
  read: async () => {
    await sleep(clock, seconds * 1_000);
    return Buffer.from(body);
  },
});

/**
 * Sends a request through a front door with a timeout of 60 s, or without one if `isPatient`, and records the response as
 * it arrives.
 */
const send = async ({ handle, isPatient = false, body = '{}', bodySeconds }: Scene) => {
  const clock = new ManualClock();
  const frontDoor = isPatient ? openFrontDoor : { ...openFrontDoor, frontDoorTimeouts };
  const chain = await createChain({ clock, frontDoor, handle: handle(clock) });
  const heard: { head?: Prelude; text: string } = { text: '' };
  const whole = functionUrlEvent({
    method: 'POST',
    path: '/v1/chat/completions',
    headers: { authorization: `Bearer ${chain.apiKey}` },
    body,
  });
  const event = bodySeconds === undefined ? whole : withUnreadBody(whole, slowly(clock, body, bodySeconds));
  const stream = createResponseStream({
    head: (prelude) => {
      heard.head = prelude;
    },
    write: (bytes, done) => {
      heard.text += bytes.toString();
      done();
    },
    end: (done) => done(),
  });
  const done = streaming(chain.handler)(event, stream, { getRemainingTimeInMillis: () => 900_000 });
  for (let turn = 0; turn < 5; turn += 1) await clock.flush();
  const pass = async (seconds: number): Promise<void> => {
    await clock.advance(seconds * 1_000);
    for (let turn = 0; turn < 5; turn += 1) await clock.flush();
  };
  return { ...chain, heard, event, done, pass };
};

const inJson =
  (seconds: number, answer: () => ReturnType<RouteHandler>) =>
  (clock: ManualClock): RouteHandler =>
  async (exchange) => {
    planAnswer(exchange, { kind: 'json' });
    await sleep(clock, seconds * 1_000);
    return answer();
  };

const good = async () => json(200, { good: true }, { 'x-service-cost-usd': '1' });

test('ERR-6 a fast response costs one timer behind a front door, and none without', async () => {
  const behind = await send({ handle: inJson(1, good) });
  expect(behind.clock.waiting).toBe(2);
  await behind.pass(1);
  await behind.done;
  expect([behind.heard.head?.statusCode, behind.heard.text, behind.clock.waiting]).toEqual([200, '{"good":true}', 0]);
  const open = await send({ handle: inJson(1, good), isPatient: true });
  expect(open.clock.waiting).toBe(1);
  await open.pass(1);
  await open.done;
});

test('ERR-6 a bug after the response started ends it as a logged failure without the message', async () => {
  const bug = new TypeError('secret');
  const scene = await send({ handle: inJson(50, () => Promise.reject(bug)) });
  await scene.pass(50);
  await scene.done;
  expect(scene.heard.text).toMatch(/^ \{"error":\{.*"code":"internal_error".*\}\}!$/);
  expect(scene.heard.text).not.toContain('secret');
  expect(scene.finished.map(({ summary }) => [summary.errorCode, summary.cause])).toEqual([['internal_error', bug]]);
});

test('ERR-6 a client error is not logged as a cause, before or after the response started', async () => {
  const refusal = new GatewayError('invalid_request_error', 'n: too many', { param: 'n', cause: 'why' });
  const scene = await send({ handle: inJson(50, () => Promise.reject(refusal)) });
  await scene.pass(50);
  await scene.done;
  expect(scene.heard.text).toMatch(/^ \{"error":\{.*"param":"n".*\}\}!$/);
  expect(scene.finished.map(({ summary }) => [summary.errorCode, summary.cause])).toEqual([
    ['invalid_request_error', undefined],
  ]);
});

test('ERR-6 IDEM-8 a stored rejection found after the response started ends it as a failure', async () => {
  const body = '{"error":{"code":"content_filter"}}';
  const scene = await send({ handle: inJson(50, async () => ({ statusCode: 400, headers: {}, body })) });
  await scene.pass(50);
  await scene.done;
  expect(scene.heard.text).toBe(` ${body}!`);
});

test.each([
  ['an answer', good, { status: 200, text: '{"good":true}', cost: '1' }],
  ['a refusal', async () => Promise.reject(new GatewayError('invalid_request_error', 'wrong')), { status: 400 }],
])('ERR-6 the time in which a body arrives does not count: %s has its true status', async (_what, answer, expected) => {
  const by: unknown[] = [];
  const scene = await send({
    bodySeconds: 70,
    handle: (clock) => async (exchange) => {
      by.push(planAnswer(exchange, { kind: 'bytes' }));
      return inJson(5, answer)(clock)(exchange);
    },
  });
  await scene.pass(70);
  expect(by).toEqual([{ atMs: scene.clock.now() + 45_000, covers: 'all' }]);
  await scene.pass(5);
  await scene.done;
  const { head, text } = scene.heard;
  expect(head?.statusCode).toBe(expected.status);
  if ('text' in expected) expect([text, head?.headers?.['x-service-cost-usd']]).toEqual([expected.text, expected.cost]);
  expect(scene.clock.waiting).toBe(0);
});

test('GEN-14 a running request keeps its body until its response', async () => {
  const seen: unknown[] = [];
  let releases = 0;
  const handle =
    (clock: ManualClock): RouteHandler =>
    async (exchange) => {
      const release = exchange.releaseBody;
      exchange.releaseBody = () => {
        releases += 1;
        release();
      };
      planAnswer(exchange, { kind: 'json' });
      await sleep(clock, 50_000);
      seen.push(exchange.body?.json, releases);
      return good();
    };
  const scene = await send({ handle, body: '{"a":1}' });
  await scene.pass(45);
  expect(scene.heard.text).toBe(' ');
  await scene.pass(5);
  await scene.done;
  expect([seen, releases]).toEqual([[{ a: 1 }, 0], 1]);
});

const opening: EarlyResponse = { headers: { 'x-kind': 'stream' }, keepAlive: '~', failure: ({ code }) => `<${code}>` };

const inStream =
  (answer: RouteHandler, changes: Partial<EarlyResponse> = {}) =>
  (clock: ManualClock): RouteHandler =>
  async (exchange) => {
    planAnswer(exchange, { kind: 'stream', opening: { ...opening, ...changes } });
    await sleep(clock, 56_000);
    return answer(exchange);
  };

test.for([
  ['text', async () => json(200, {})],
  ['another stream', async () => ({ statusCode: 200, headers: {}, body: new EventStream(new ManualClock()).body })],
] as const)('CHAT-11 %s after the start of a stream is a bug, which is sent as an error', async ([, answer]) => {
  const scene = await send({ handle: inStream(answer) });
  await scene.pass(56);
  await scene.done;
  expect(scene.heard.text).toBe('~~<internal_error>');
  expect(scene.finished.map(({ summary }) => summary)).toMatchObject([{ status: 200, errorCode: 'internal_error' }]);
});

test('CHAT-11 a failure that cannot be rendered cuts the stream and leaves no timer', async () => {
  const bug = new TypeError('a bug of the face');
  const lost = new GatewayError('upstream_error', 'lost');
  const failure = (): never => {
    throw bug;
  };
  const scene = await send({ handle: inStream(() => Promise.reject(lost), { failure }) });
  await scene.pass(56);
  await scene.done;
  expect([scene.heard.text, isCut(scene.event), scene.clock.waiting]).toEqual(['~~', true, 0]);
  expect(scene.finished.map(({ summary }) => [summary.errorCode, summary.cause])).toEqual([['upstream_error', bug]]);
});

test('CHAT-11 a stream that is about to start is not started a second time', async () => {
  const handle =
    (clock: ManualClock): RouteHandler =>
    async (exchange) => {
      planAnswer(exchange, { kind: 'stream', opening });
      await sleep(clock, 39_999);
      const own = new EventStream(clock);
      own.write('own');
      own.end();
      exchange.finishesLater = true;
      await sleep(clock, 1);
      return { statusCode: 200, headers: {}, body: own.body };
    };
  const scene = await send({ handle });
  await scene.pass(60);
  await scene.done;
  expect(scene.heard.text).toBe('own');
});
