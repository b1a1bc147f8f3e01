import { expect, test } from 'vitest';
import type { Catalog } from '../../../../lambdas/core/catalog/catalog.ts';
import type { JsonObject } from '../../../../lambdas/core/json.ts';
import type { CountCall, CountDependencies } from '../../../../lambdas/core/text/count-tokens.ts';
import { createCountMessageTokens } from '../../../../lambdas/protocols/messages/response.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { createChain } from '../../http/chain.ts';
import { functionUrlEvent, invoke } from '../../http/function-url.ts';
import { catalog, hello, NOW } from './messages-requests.ts';

type Changes = Readonly<Record<string, unknown>>;

/** The route with all its middleware and a simulated provider. The account has no money. */
const createCounting = async (deps: Partial<CountDependencies<JsonObject>> = {}) => {
  const clock = new ManualClock(NOW);
  const calls: CountCall[] = [];
  const handle = createCountMessageTokens({
    catalog,
    clock,
    reachable: () => true,
    count: async (call) => {
      calls.push(call);
      return { input_tokens: 42 };
    },
    ...deps,
  });
  const { handler, apiKey, finished } = await createChain({ handle });
  const send = async (changes: Changes = {}, headers: Readonly<Record<string, string>> = {}) => {
    const answer = await invoke(
      handler,
      functionUrlEvent({
        method: 'POST',
        path: '/v1/messages/count_tokens',
        headers: { 'x-api-key': apiKey, 'provider-version': '2023-06-01', ...headers },
        body: JSON.stringify({ model: 'claude-fable-5-2', messages: [hello], ...changes }),
      }),
    );
    return { status: answer.status, body: JSON.parse(answer.text), headers: answer.headers };
  };
  return { send, calls, clock, finished };
};

test.for([
  ['claude-fable-5-2-thinking', { thinking: { type: 'adaptive', display: 'summarized' } }],
  ['claude-haiku-4-5-thinking', { thinking: { type: 'enabled', budget_tokens: 1_024 } }],
  ['claude-opus-5-5', { output_config: { effort: 'high' } }],
] as const)('MSG-3 MSG-4 the tokens of %s are counted for the body that would be sent', async ([model, added]) => {
  const { send, calls } = await createCounting();
  await send({ model });
  expect(calls[0]?.body).toEqual({ model, messages: [hello], ...added });
});

test.for([
  [{ max_completion_tokens: 5 }, 'max_completion_tokens', 400],
  [{ model: 'claude-fable-9' }, 'model', 404],
  [{ model: 'gpt-4.1-mini' }, 'model', 400],
  [{ thinking: { type: 'enabled', budget_tokens: 2_000 } }, 'thinking.type', 400],
] as const)('MSG-1 %j is rejected with param %s and never reaches the provider', async ([fields, param, status]) => {
  const { send, calls } = await createCounting();
  const answer = await send(fields);
  expect(answer).toMatchObject({ status, body: { type: 'error', error: { param } } });
  expect(calls).toEqual([]);
});

test('GEN-16 a count ignores and lists fields of the output', async () => {
  const { send, calls } = await createCounting();
  const answer = { max_tokens: 5, stream: true, temperature: 1, metadata: { user_id: 'u' }, foo: 1 };
  const { status, headers } = await send(answer);
  expect(status).toBe(200);
  expect(headers['x-service-ignored-parameters']).toBe('foo,max_tokens,metadata,stream,temperature');
  expect(calls[0]?.body).toEqual({ model: 'claude-fable-5-2', messages: [hello] });
  const strict = await send(answer, { 'x-service-require-parameters': 'true' });
  expect(strict).toMatchObject({ status: 400, body: { error: { param: 'foo' } } });
  expect(calls).toHaveLength(1);
});

test('MSG-7 a count sends the beta that a field needs, and lists the others', async () => {
  const { send, calls } = await createCounting();
  const context_management = { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] };
  const { headers } = await send(
    { context_management },
    { 'anthropic-beta': 'token-counting-2024-11-01,files-api-2025-04-14' },
  );
  expect(calls[0]?.headers).toEqual({ 'anthropic-beta': 'token-counting-2024-11-01,context-management-2025-06-27' });
  expect(calls[0]?.body).toMatchObject({ context_management });
  expect(headers['x-service-ignored-parameters']).toBe('anthropic-beta.files-api-2025-04-14');
});

test.for([
  [{ 'provider-version': '2022-01-01' }, 'provider-version'],
  [{ 'idempotency-key': 'a' }, 'idempotency-key'],
] as const)('AUTH-2 GEN-8 the headers %j are rejected before the body’s fields', async ([headers, param]) => {
  const { send } = await createCounting();
  expect(await send({ messages: 5 }, headers)).toMatchObject({ status: 400, body: { error: { param } } });
});

const unreachable: Catalog = { ...catalog, provider: () => undefined };

test('ERR-2 a valid count without an upstream is model_unavailable, and an invalid one is 400', async () => {
  for (const deps of [{ reachable: () => false }, { catalog: unreachable }]) {
    const { send, calls, clock } = await createCounting(deps);
    expect(await send()).toMatchObject({ status: 503, body: { error: { code: 'model_unavailable', param: 'model' } } });
    expect(await send({ thinking: { type: 'disabled' } })).toMatchObject({ status: 400 });
    expect(calls).toEqual([]);
    expect(clock.waiting).toBe(0);
  }
});
