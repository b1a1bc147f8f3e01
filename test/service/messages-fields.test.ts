import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Simulator, startSimulator } from '../../lib/local/upstreams/server.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { ask, asking, postMessages, readMessageError } from '../support/messages-client.ts';

let vendor: Simulator;
/** Without money: whoever is refused with another status than 402 has held nothing. */
let poor: TestGateway;

beforeAll(async () => {
  vendor = await startSimulator();
  poor = await startGateway({ vendorUrl: vendor.url, environment: { LOCAL_BALANCE_USD: '0' } });
});
afterAll(async () => {
  await poor.stop();
  await vendor.stop();
});
beforeEach(() => vendor.reset());

const tool = { name: 'now', input_schema: { type: 'object' } };
const block = (content: object) => ({ messages: [{ role: 'user', content: [content] }] });
const url = 'https://papers.example/a.pdf';

const costly: readonly [string, object][] = [
  ['service_tier', { service_tier: 'priority' }],
  ['speed', { speed: 'fast' }],
  ['inference_geo', { inference_geo: 'us' }],
  ['container', { container: 'container_1' }],
  ['mcp_servers', { mcp_servers: [{ type: 'url', url: 'https://mcp.example', name: 'a' }] }],
  ['context_management', { context_management: { edits: [] } }],
  ['thread', { thread: { type: 'create' } }],
  ['fallbacks', { fallbacks: ['claude-opus-5'] }],
  ['tools[0].type', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
  ['tools[1].type', { tools: [tool, { type: 'code_execution_20250825', name: 'code_execution' }] }],
  ['tools[0].type', { tools: [{ type: 'bash_20250124', name: 'bash' }] }],
  ['tools[0].allowed_callers[0]', { tools: [{ ...tool, allowed_callers: ['code_execution_20250825'] }] }],
  ['tools[0].defer_loading', { tools: [{ ...tool, defer_loading: true }] }],
  ['messages[0].content[0].type', block({ type: 'document', source: { type: 'url', url } })],
  ['messages[0].content[0].type', block({ type: 'container_upload', file_id: 'file_1' })],
  ['messages[0].content[0].source.type', block({ type: 'image', source: { type: 'file', file_id: 'file_1' } })],
  ['messages[0].content[0].citations', block({ type: 'text', text: 'a', citations: [] })],
  ['output_config.task_budget', { output_config: { task_budget: { type: 'tokens', total: 100_000 } } }],
];

const wrong: readonly [string, object][] = [
  ['no_such_field', { no_such_field: 1 }],
  ['n', { n: 2 }],
  ['max_completion_tokens', { max_completion_tokens: 10 }],
  ['reasoning_effort', { reasoning_effort: 'low' }],
  ['betas', { betas: [] }],
  ['max_tokens', { max_tokens: undefined }],
  ['max_tokens', { max_tokens: -1 }],
  ['max_tokens', { max_tokens: 1.5 }],
  ['temperature', { temperature: 1.1 }],
  ['top_k', { top_k: -1 }],
  ['stop_sequences', { stop_sequences: 'a' }],
  ['stream', { stream: 'yes' }],
  ['metadata.name', { metadata: { name: 'a' } }],
  ['metadata.user_id', { metadata: { user_id: 'a'.repeat(257) } }],
  ['tool_choice', { tool_choice: { type: 'auto' } }],
  ['tool_choice.type', { tools: [tool], tool_choice: { type: 'required' } }],
  ['tools[0].name', { tools: [{ ...tool, name: 'a b' }] }],
  ['tools[0].input_schema', { tools: [{ name: 'now' }] }],
  ['cache_control.ttl', { cache_control: { type: 'ephemeral', ttl: '24h' } }],
  ['system[0].type', { system: [{ type: 'image' }] }],
  ['output_config.effort', { output_config: { effort: 'enormous' } }],
  ['output_config.format.type', { output_config: { format: { type: 'json_object' } } }],
  ['thinking.type', { thinking: { type: 'on' } }],
  ['model', { model: '' }],
  ['model', { model: null }],
  ['messages', { messages: [] }],
  ['messages', { messages: 'hello' }],
  ['messages[0].role', { messages: [{ role: 'wizard', content: 'hello' }] }],
  ['messages[1].content', { messages: [...asking('one'), { role: 'assistant' }] }],
  ['messages[0].name', { messages: [{ ...asking('one')[0], name: 'a' }] }],
  ['messages[0].content[0].text', block({ type: 'text', text: 1 })],
];

test.each([...costly, ...wrong])(
  'GEN-9 a request with a wrong %s is 400, nothing held and nothing sent (%j)',
  async (param, body) => {
    const response = await postMessages(poor, body);
    expect(response.status).toBe(400);
    const error = await readMessageError(response);
    const code = param.startsWith('messages') ? 'invalid_messages' : 'invalid_request_error';
    expect(error).toMatchObject({ type: 'invalid_request_error', code, param });
    expect(error.message).toContain(param);
    expect(vendor.requests).toHaveLength(0);
  },
);

test('GEN-9 what asks for nothing is let through to the balance', async () => {
  const free = [
    { service_tier: 'auto' },
    { service_tier: 'standard_only' },
    { speed: null },
    { inference_geo: null },
    { container: null },
    { tools: [{ ...tool, type: 'custom' }] },
    { metadata: { user_id: 'a'.repeat(256) } },
    { cache_control: null },
  ];
  for (const body of free) expect([body, (await postMessages(poor, body)).status]).toEqual([body, 402]);
});

test.each(['idempotency-key', 'x-service-dry-run', 'x-service-fallback-model'])(
  'IDEM-5, BILL-16 and FALL-4 the header %s is 400 and names itself',
  async (name) => {
    const headers = { 'x-api-key': poor.apiKey, 'provider-version': '2023-06-01', [name]: 'a' };
    const response = await postMessages(poor, {}, headers);
    expect([response.status, await readMessageError(response)]).toMatchObject([400, { param: name }]);
  },
);

test('CHAT-16 a sampling field is 400 on models without it, but for its default, which is not sent', async () => {
  const model = 'claude-opus-5-5';
  for (const [name, value] of [
    ['temperature', 0.5],
    ['top_p', 0.9],
    ['top_k', 40],
  ] as const) {
    const response = await postMessages(poor, { model, [name]: value });
    expect([response.status, await readMessageError(response)]).toMatchObject([400, { param: name }]);
  }
  const paying = await startGateway({ vendorUrl: vendor.url });
  try {
    const response = await postMessages(paying, { model, temperature: 1, top_p: 1 });
    expect(response.status).toBe(200);
    expect(vendor.requests[0]?.body).toEqual({ ...ask, model, output_config: { effort: 'high' } });
  } finally {
    await paying.stop();
  }
});
