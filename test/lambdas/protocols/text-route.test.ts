import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { GatewayError } from '../../../lambdas/core/errors/gateway-error.ts';
import type { Exchange, GatewayResponse, Summary } from '../../../lambdas/http/exchange.ts';
import type { StreamRenderer, TextProtocolAdapter } from '../../../lambdas/protocols/text-adapter.ts';
import { createTextRoute } from '../../../lambdas/protocols/text-route.ts';
import { idempotencyOf } from '../../support/memory/memory-idempotency.ts';
import { expectNoUnhandledRejections } from '../../support/unhandled-rejections.ts';
import { ACCOUNT, answered, createWorld, ended, REQUEST, raw, requestOf, streamOf } from '../core/text/text-world.ts';
import { functionUrlEvent } from '../http/function-url.ts';

type World = Awaited<ReturnType<typeof createWorld>>;

const bug = new TypeError('a bug of the adapter');
const broken = (): never => {
  throw bug;
};

expectNoUnhandledRejections();

const exchangeOf = (summary: Summary): Exchange => ({
  requestId: REQUEST,
  startedAtMs: 0,
  receivedAtMs: 0,
  hostEndsAtMs: undefined,
  event: functionUrlEvent({ method: 'POST', path: '/v1/x' }),
  summary,
  route: undefined,
  admission: {
    accountId: ACCOUNT,
    key: { keyId: '0123456789abcdef', accountId: ACCOUNT, status: 'active', blocked: false, tatMicros: 0 },
    rate: { limit: 1, remaining: 1, resetSeconds: 0 },
    estimate: { value: 1, raise: async () => undefined },
    allowance: { picos: 0n, refresh: () => undefined },
  },
  body: { json: {}, bytes: 2 },
  releaseBody: () => undefined,
  finishesLater: false,
});

/** Route whose adapter renders responses, except for the methods in `broken`. */
const serve = async (
  world: World,
  stream: boolean,
  changes: Partial<StreamRenderer> & Partial<Pick<TextProtocolAdapter, 'toBody'>> = {},
) => {
  const { toBody = ({ content }) => JSON.stringify(content), ...streamChanges } = changes;
  const finished: Summary[] = [];
  const adapter: TextProtocolAdapter = {
    protocol: 'chat_completions',
    toParams: () => ({
      protocol: 'chat_completions',
      modelId: 'alpha-1',
      endUser: 'someone',
      params: { prompt: 'messages', cap: 'max_tokens' },
      validateFor: () => requestOf({ stream }),
    }),
    toBody,
    toStream: ({ write }) => ({
      native: (events) => write(`${events.join(' ')}\n`),
      neutral: () => undefined,
      finish: () => write('good\n'),
      fail: ({ code }) => write(`${code}\n`),
      ...streamChanges,
    }),
  };
  const deps = {
    text: world.deps,
    idempotency: idempotencyOf(world.deps.ledger),
    finished: (_id: string, told: Summary) => void finished.push({ ...told }),
  };
  const summary: Summary = { status: 200 };
  const answer = createTextRoute(deps, adapter)(exchangeOf(summary));
  return { answer, summary, finished };
};

const bodyOf = ({ body }: GatewayResponse): Promise<string> =>
  typeof body === 'string' ? Promise.resolve(body) : text(body);

const moneyOf = async (world: World) => {
  const { spentPicos, holds } = await world.account();
  return [spentPicos > 0n, holds.size];
};

test('BILL-3 a complete response is charged after it is rendered', async () => {
  const world = await createWorld({ play: async () => answered() });
  const { answer } = await serve(world, false);
  expect(await bodyOf(await answer)).toContain('{\\"id\\":\\"answer\\"}');
  expect(await moneyOf(world)).toEqual([true, 0]);
});

test('CHAT-15 the log records of a complete response and of a stream have the end user', async () => {
  const whole = await serve(await createWorld({ play: async () => answered() }), false);
  await whole.answer;
  const streamed = await serve(await createWorld({ play: async () => streamOf(raw('a'), ended()) }), true);
  await bodyOf(await streamed.answer);
  expect([whole.summary, ...streamed.finished]).toMatchObject([{ endUser: 'someone' }, { endUser: 'someone' }]);
});

test('BILL-2 a complete response that cannot be rendered costs nothing', async () => {
  const world = await createWorld({ play: async () => answered() });
  const { answer } = await serve(world, false, { toBody: broken });
  await expect(answer).rejects.toBe(bug);
  expect(await moneyOf(world)).toEqual([false, 0]);
});

test('ERR-4 an adapter that cannot render an error still ends its stream, uncharged', async () => {
  const lost = new GatewayError('upstream_error', 'lost');
  const world = await createWorld({ play: async () => streamOf(raw('a'), lost) });
  const { answer, finished } = await serve(world, true, { fail: broken });
  expect(await bodyOf(await answer)).toBe('a\n');
  expect(await moneyOf(world)).toEqual([false, 0]);
  expect(finished).toMatchObject([{ errorCode: 'upstream_error', cause: bug }]);
  expect(world.clock.waiting).toBe(0);
});

test('ERR-4 an adapter that cannot render an event sends an error, uncharged', async () => {
  const world = await createWorld({ play: async () => streamOf(raw('a'), ended()) });
  const { answer, finished } = await serve(world, true, { native: broken });
  expect(await bodyOf(await answer)).toBe('internal_error\n');
  expect(await moneyOf(world)).toEqual([false, 0]);
  expect(finished).toMatchObject([{ errorCode: 'internal_error', cause: bug }]);
});

test('BILL-14 an adapter that can render neither end nor error ends its stream, still charged', async () => {
  const world = await createWorld({ play: async () => streamOf(raw('a'), ended()) });
  const { answer, finished } = await serve(world, true, { finish: broken, fail: broken });
  expect(await bodyOf(await answer)).toBe('a\n');
  expect((await moneyOf(world))[0]).toBe(true);
  expect(finished).toMatchObject([{ cause: bug }]);
});

test.for([
  ['content_filter', undefined],
  ['upstream_error', 'why'],
] as const)('ERR-5 the cause of %s in a stream is logged as %s', async ([code, cause]) => {
  const failure = new GatewayError(code, 'words', { cause: 'why' });
  const world = await createWorld({ play: async () => streamOf(raw('a'), failure) });
  const { answer, finished } = await serve(world, true);
  expect(await bodyOf(await answer)).toBe(`a\n${code}\n`);
  expect(finished.map((told) => [told.errorCode, told.cause])).toEqual([[code, cause]]);
});
