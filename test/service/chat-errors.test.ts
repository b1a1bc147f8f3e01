import {
  APIError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  OpenAI,
  RateLimitError,
  UnprocessableEntityError,
} from 'openai';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Simulator, startSimulator } from '../../lib/local/upstreams/server.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { MODEL, postChat, readError, saying, sdkFor, spentBy } from '../support/gateway-chat.ts';

let vendor: Simulator;
let gateway: TestGateway;

beforeAll(async () => {
  vendor = await startSimulator();
  gateway = await startGateway({ vendorUrl: vendor.url });
});
afterAll(async () => {
  await gateway.stop();
  await vendor.stop();
});
beforeEach(() => vendor.reset());

type Body = OpenAI.ChatCompletionCreateParamsNonStreaming;
const valid: Body = { model: MODEL, messages: saying('hello') };

/** What the SDK throws, with the proof that it cost nothing. */
async function thrownFor(body: Body, client = sdkFor(gateway)): Promise<unknown> {
  const { result, spent } = await spentBy(gateway, () =>
    client.chat.completions.create(body).then(
      () => undefined,
      (error: unknown) => error,
    ),
  );
  expect(spent).toBe(0n);
  return result;
}

test.each([['sk-service-unknown'], ['sk-other-0123456789']])(
  'AUTH-4 the key %s is an AuthenticationError with invalid_api_key',
  async (apiKey) => {
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 });
    const error = await thrownFor(valid, client);
    expect(error).toBeInstanceOf(AuthenticationError);
    expect(error).toMatchObject({ status: 401, code: 'invalid_api_key', type: 'authentication_error' });
    expect(vendor.requests).toHaveLength(0);
  },
);

test.each([
  ['nothing', {}],
  ['another scheme', { authorization: 'Basic c2VjcmV0' }],
  ['an empty token', { authorization: 'Bearer ' }],
])('AUTH-1 %s as a credential is 401 missing_api_key', async (_what, headers) => {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers,
    body: JSON.stringify(valid),
  });
  expect(response.status).toBe(401);
  expect(await readError(response)).toMatchObject({ code: 'missing_api_key', type: 'authentication_error' });
});

test.each<[string, object]>([
  ['temperature', { temperature: 3 }],
  ['top_p', { top_p: -1 }],
  ['max_tokens', { max_tokens: 0 }],
  ['max_tokens', { max_tokens: 10, max_completion_tokens: 20 }],
  ['n', { n: 0 }],
  ['response_format.type', { response_format: { type: 'yaml' } }],
  ['tool_choice', { tool_choice: 'required' }],
  ['reasoning_effort', { reasoning_effort: 'low' }],
  ['service_tier', { service_tier: 'priority' }],
  ['store', { store: true }],
  ['web_search_options', { web_search_options: {} }],
  ['no_such_field', { no_such_field: 1 }],
  ['messages[0].content[0].type', { messages: [{ role: 'user', content: [{ type: 'smell' }] }] }],
])('CHAT-1 a wrong %s is a BadRequestError that names it', async (param, wrong) => {
  const error = await thrownFor({ ...valid, ...wrong });
  expect(error).toBeInstanceOf(BadRequestError);
  const code = param.startsWith('messages') ? 'invalid_messages' : 'invalid_request_error';
  expect(error).toMatchObject({ status: 400, code, type: 'invalid_request_error', param });
  expect(error).toMatchObject({ message: expect.stringContaining(param) });
  expect(vendor.requests).toHaveLength(0);
});

test.each([
  ['absent', undefined],
  ['empty', []],
  ['no array', 'hello'],
  ['of an unknown role', [{ role: 'wizard', content: 'hello' }]],
  ['without content', [{ role: 'assistant', content: null }]],
])('CHAT-2 messages that are %s are 400 invalid_messages', async (_what, messages) => {
  const response = await postChat(gateway, { messages });
  expect(response.status).toBe(400);
  const error = await readError(response);
  expect(error).toMatchObject({ code: 'invalid_messages', param: expect.stringMatching(/^messages/) });
});

test('CAT-6 an unknown model is a NotFoundError that names the nearest id', async () => {
  const error = await thrownFor({ ...valid, model: 'gpt-4.1-mimi' });
  expect(error).toBeInstanceOf(NotFoundError);
  expect(error).toMatchObject({ status: 404, code: 'model_not_found', param: 'model' });
  expect(error).toMatchObject({ message: expect.stringContaining(`"${MODEL}"`) });
});

test('CHAT-3 n: 2 on a reasoning model is an UnprocessableEntityError', async () => {
  const error = await thrownFor({ ...valid, model: 'gpt-5.4', n: 2 });
  expect(error).toBeInstanceOf(UnprocessableEntityError);
  expect(error).toMatchObject({
    status: 422,
    code: 'unprocessable_entity',
    type: 'invalid_request_error',
    param: 'n',
  });
  expect(vendor.requests).toHaveLength(0);
});

test('ERR-9 the capacity of the vendor is a RateLimitError with the seconds the vendor named', async () => {
  vendor.next({ refusal: { kind: 'status', status: 429, retryAfterSeconds: 7 } });
  const error = await thrownFor(valid);
  expect(error).toBeInstanceOf(RateLimitError);
  expect(error).toMatchObject({ status: 429, code: 'upstream_capacity', type: 'rate_limit_error', param: null });
  expect(error instanceof APIError && error.headers?.get('retry-after')).toBe('7');
});

test('ERR-9 a failure of the vendor is an InternalServerError with upstream_error', async () => {
  vendor.next({ refusal: { kind: 'status', status: 500 } });
  const error = await thrownFor(valid);
  expect(error).toBeInstanceOf(InternalServerError);
  expect(error).toMatchObject({ status: 502, code: 'upstream_error', type: 'upstream_error', param: null });
});

test('CHAT-13 a prompt too long for the vendor is a BadRequestError with context_length_exceeded', async () => {
  vendor.next({ refusal: { kind: 'context-length' } });
  const error = await thrownFor(valid);
  expect(error).toBeInstanceOf(BadRequestError);
  expect(error).toMatchObject({ status: 400, code: 'context_length_exceeded', param: 'messages' });
});

test('BILL-4 a request that could cost more than 100 USD is a BadRequestError with request_budget_exceeded', async () => {
  const error = await thrownFor({ ...valid, max_tokens: 100_000_000 });
  expect(error).toBeInstanceOf(BadRequestError);
  expect(error).toMatchObject({ status: 400, code: 'request_budget_exceeded' });
  expect(error).toMatchObject({ message: expect.stringContaining('reduce max_tokens or split') });
  expect(vendor.requests).toHaveLength(0);
});

test('ERR-9 an error inside a stream reaches the SDK as an APIError after the chunks before it', async () => {
  vendor.next({ errorAfter: 3 });
  const { result, spent } = await spentBy(gateway, async () => {
    const stream = await sdkFor(gateway).chat.completions.create({ ...valid, stream: true });
    let chunks = 0;
    const error: unknown = await (async () => {
      for await (const _chunk of stream) chunks += 1;
    })().catch((thrown: unknown) => thrown);
    return { chunks, error };
  });
  expect(result.chunks).toBe(3);
  expect(result.error).toBeInstanceOf(APIError);
  expect(result.error).toMatchObject({ code: 'upstream_error', type: 'upstream_error' });
  expect(spent).toBe(0n);
});
