import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { expect, test } from 'vitest';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import type { JsonObject } from '../../../../lambdas/core/json.ts';
import type { CountCall } from '../../../../lambdas/core/text/count-tokens.ts';
import type { Exchange } from '../../../../lambdas/http/exchange.ts';
import { createCountContentTokens } from '../../../../lambdas/protocols/generate-content/response.ts';
import { routes } from '../../../../lambdas/routes.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { gif, hello, inline, inSnake, MODEL, saying, shippedCatalog } from './content-requests.ts';

interface World {
  readonly count?: (call: CountCall) => Promise<JsonObject>;
  readonly reachable?: boolean;
  readonly alt?: string;
  readonly headers?: Record<string, string>;
  readonly model?: string;
}

const counted = { totalTokens: 7, promptTokensDetails: [{ modality: 'TEXT', tokenCount: 7 }] };

const asked = async (json: JsonObject, { count, reachable = true, alt, headers = {}, model = MODEL }: World = {}) => {
  const clock = new ManualClock();
  const calls: CountCall[] = [];
  const handler = createCountContentTokens({
    catalog: shippedCatalog,
    clock,
    reachable: () => reachable,
    count: (call) => {
      calls.push(call);
      return count?.(call) ?? Promise.resolve(counted);
    },
  });
  const event: Pick<APIGatewayProxyEventV2, 'headers' | 'queryStringParameters'> = {
    headers,
    ...(alt === undefined ? {} : { queryStringParameters: { alt } }),
  };
  const exchange: Exchange = {
    requestId: 'request-1',
    startedAtMs: 0,
    receivedAtMs: 0,
    hostEndsAtMs: undefined,
    event: event as APIGatewayProxyEventV2,
    summary: { status: 0 },
    route: { name: 'countContentTokens', route: routes.countContentTokens, params: { model } },
    admission: { accountId: 'account-1', key: {} } as Exchange['admission'],
    body: { json, bytes: 0 },
    releaseBody: () => undefined,
    finishesLater: false,
  };
  const pending = handler(exchange).catch((error: unknown) => {
    if (error instanceof GatewayError) return error;
    throw error;
  });
  return { pending, calls, clock, exchange };
};

const outcome = async (json: JsonObject, world?: World) => {
  const { pending, calls, clock, exchange } = await asked(json, world);
  return { answer: await pending, calls, clock, exchange };
};

const whole = { contents: [hello], systemInstruction: { parts: [{ text: 'a' }] }, generationConfig: { topK: 4 } };

test('BILL-17 the tokens of a whole request are counted, in either spelling, without its model', async () => {
  for (const model of [{}, { model: `models/${MODEL}` }]) {
    const request = { generateContentRequest: { ...whole, ...model } };
    for (const json of [request, inSnake(request) as JsonObject]) {
      const { calls } = await outcome(json);
      expect(calls.map(({ body }) => body)).toEqual([{ generateContentRequest: whole }]);
    }
  }
});

test.for([
  [{}, 'contents'],
  [{ contents: [hello], generateContentRequest: whole }, 'contents'],
  [{ contents: [hello], generationConfig: { topK: 4 } }, 'generationConfig'],
  [{ contents: [hello], systemInstruction: { parts: [{ text: 'a' }] } }, 'systemInstruction'],
  [{ contents: [hello], tools: [{ functionDeclarations: [] }] }, 'tools'],
  [{ contents: [hello], model: 'other' }, 'model'],
  [saying(inline('image/gif', gif)), 'contents[0].parts[0].inlineData.data'],
  [{ generateContentRequest: { ...whole, model: 'other' } }, 'generateContentRequest.model'],
  [
    { generateContentRequest: saying(inline('image/gif', gif)) },
    'generateContentRequest.contents[0].parts[0].inlineData.data',
  ],
] as const)('GEN-9 a count of %j has the checks of a request: %s', async ([json, param]) => {
  const { answer, calls } = await outcome(JSON.parse(JSON.stringify(json)));
  expect(answer).toMatchObject({ status: 400, param, message: expect.stringContaining(param) });
  expect(calls).toEqual([]);
});

test.for([
  [{ contents: [{ ...hello, x: 1 }], foo_bar: 1, seed: null }, { contents: [hello] }, 'contents[].x,fooBar'],
  [
    { generateContentRequest: { ...whole, generationConfig: { topK: 4, presencePenalty: 1, x: 1 } } },
    { generateContentRequest: whole },
    'generateContentRequest.generationConfig.presencePenalty,generateContentRequest.generationConfig.x',
  ],
] as const)('GEN-16 a count ignores and lists the same fields as a request: %j', async ([json, sent, listed]) => {
  const body: JsonObject = JSON.parse(JSON.stringify(json));
  const { answer, calls } = await outcome(body);
  expect(answer).toMatchObject({ statusCode: 200, headers: { 'x-service-ignored-parameters': listed } });
  expect(calls.map((call) => call.body)).toEqual([sent]);
  const required = { headers: { 'x-service-require-parameters': 'true' } };
  expect((await outcome(body, required)).answer).toMatchObject({ status: 400, param: listed.split(',')[0] });
  const without = (await outcome(JSON.parse(JSON.stringify(sent)), required)).answer;
  expect(without).toMatchObject({ statusCode: 200, headers: { 'content-type': expect.any(String) } });
  expect(without).not.toHaveProperty(['headers', 'x-service-ignored-parameters']);
});

test('GEM-3 a count with alt=sse or with an unsupported header is 400', async () => {
  expect((await outcome({ contents: [hello] }, { alt: 'sse' })).answer).toMatchObject({ status: 400, param: 'alt' });
  expect((await outcome({ contents: [hello] }, { alt: 'json' })).answer).toMatchObject({ statusCode: 200 });
  const headers = { 'idempotency-key': 'a' };
  expect((await outcome({ contents: [hello] }, { headers })).answer).toMatchObject({ param: 'idempotency-key' });
});

test('CAT-6 an unknown model is 404, one of another protocol 400, and an absent provider 503', async () => {
  const body = { contents: [hello] };
  expect((await outcome(body, { model: 'gemini-4-argo' })).answer).toMatchObject({
    code: 'model_not_found',
    message: expect.stringContaining(MODEL),
  });
  expect((await outcome(body, { model: 'gpt-5.5-pro' })).answer).toMatchObject({ status: 400, param: 'model' });
  const absent = await outcome(body, { reachable: false });
  expect(absent.answer).toMatchObject({ code: 'model_unavailable', status: 503 });
  expect(absent.calls).toEqual([]);
});

test('LIM-6 a count that takes more than 60 s is 504', async () => {
  const { pending, clock } = await asked(
    { contents: [hello] },
    {
      count: ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
    },
  );
  await clock.advance(59_999);
  expect(clock.waiting).toBe(1);
  await clock.advance(1);
  expect(await pending).toMatchObject({ code: 'upstream_timeout', status: 504 });
});
