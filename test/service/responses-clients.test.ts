import { afterAll, expect, test } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { pricesOf, readError, spentBy } from '../support/gateway-chat.ts';
import { PRO, postResponses } from '../support/responses-client.ts';
import { startScriptedVendor } from './messages-vendor.ts';

const vendor = await startScriptedVendor();
const gateway = await startGateway({ vendorUrl: vendor.url, environment: { LOCAL_BALANCE_USD: '100' } });
const priceOf = await pricesOf(gateway, PRO);
afterAll(async () => {
  await gateway.stop();
  await vendor.stop();
});

const IGNORED = 'tools[].web_search';
const text = (words: string) => [{ type: 'input_text', text: words }];
const patch = {
  type: 'custom',
  name: 'apply_patch',
  description: 'Edits files.',
  format: { type: 'grammar', syntax: 'lark', definition: 'start: "*** Begin Patch"' },
};
const tools = [
  {
    type: 'function',
    name: 'run',
    description: 'Runs.',
    strict: false,
    parameters: { type: 'object', properties: {} },
  },
  patch,
  { type: 'tool_search', execution: 'client', description: 'Finds tools.', parameters: { type: 'object' } },
];
const sent = { tools, tool_choice: 'auto', parallel_tool_calls: true, reasoning: { effort: 'medium' } };

/** Has the members that Codex CLI 0.169.0 sends in a later turn. */
const request = {
  ...{ ...sent, stream: true, store: false, include: ['reasoning.encrypted_content'], prompt_cache_key: 'thread' },
  text: { verbosity: 'low' },
  client_metadata: { session_id: 's', turn_id: 't', 'x-codex-turn-metadata': '{"sandbox":"none"}' },
  tools: [...tools, { type: 'web_search', external_web_access: false, search_content_types: ['text', 'image'] }],
  input: [
    { type: 'message', id: 'msg_1', role: 'developer', content: text('Be brief.') },
    { type: 'message', id: 'msg_2', role: 'user', content: text('Say hello.') },
    { type: 'reasoning', id: 'rs_1', summary: [], content: null, encrypted_content: 'sealed' },
    ...[
      {
        type: 'tool_search_call',
        id: 'tsc_1',
        call_id: 's',
        status: 'completed',
        execution: 'client',
        arguments: { query: 'x' },
      },
      {
        type: 'tool_search_output',
        id: 'tso_1',
        call_id: 's',
        status: 'completed',
        execution: 'client',
        tools: [{ type: 'namespace', name: 'files', description: 'd', tools: [{ ...tools[0], defer_loading: true }] }],
      },
    ],
    ...[
      { type: 'custom_tool_call', id: 'ctc_1', status: 'completed', call_id: 'c', name: 'apply_patch', input: '+hi' },
      { type: 'custom_tool_call_output', id: 'ctco_1', call_id: 'c', output: 'done' },
      { type: 'function_call', id: 'fc_1', status: 'completed', call_id: 'f', name: 'run', arguments: '{}' },
      { type: 'function_call_output', id: 'fco_1', call_id: 'f', output: 'hello' },
    ],
  ],
};

const usage = { input_tokens: 400, output_tokens: 30, total_tokens: 430 };
const call = {
  type: 'custom_tool_call',
  id: 'ctc_2',
  call_id: 'd',
  name: 'apply_patch',
  input: '+hello',
  status: 'completed',
};
const events = [
  ['created', { response: { id: 'resp_1', model: PRO, status: 'in_progress', output: [] } }],
  ['output_item.added', { output_index: 0, item: { ...call, input: '', status: 'in_progress' } }],
  ['custom_tool_call_input.delta', { item_id: 'ctc_2', output_index: 0, delta: '+hel' }],
  ['custom_tool_call_input.delta', { item_id: 'ctc_2', output_index: 0, delta: 'lo' }],
  ['custom_tool_call_input.done', { item_id: 'ctc_2', output_index: 0, input: '+hello' }],
  ['output_item.done', { output_index: 0, item: call }],
  ['completed', { response: { id: 'resp_1', model: PRO, status: 'completed', output: [call], usage } }],
].map(([name, members], at) => {
  const event = { type: `response.${name}`, sequence_number: at, ...Object(members) };
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
});

const receiptOf = async ({ headers }: Response) => {
  const found = await fetch(`${gateway.url}/api/usage/${headers.get('x-request-id')}`, {
    headers: { authorization: `Bearer ${gateway.apiKey}` },
  });
  return found.json();
};

test('RESP-6 a Codex request streams a custom tool call, and its receipt lists ignored fields', async () => {
  vendor.next((response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(events.join('')));
  const { result, spent } = await spentBy(gateway, async () => {
    const response = await postResponses(gateway, request);
    return { response, body: await response.text() };
  });
  expect(result.body).toBe(events.join(''));
  expect(result.response.headers.get('x-service-ignored-parameters')).toBe(IGNORED);
  expect(spent).toBe(priceOf({ prompt_tokens: 400, completion_tokens: 30 }));
  expect(await receiptOf(result.response)).toMatchObject({ outcome: 'charged', ignored: [IGNORED] });

  const items = request.input.slice(3);
  const withoutIds = items.map((item) => {
    const { id, status, ...members } = { status: undefined, ...item };
    return members;
  });
  expect(JSON.parse(vendor.requests.at(-1)?.body ?? '')).toEqual({
    ...{ model: PRO, ...sent, stream: true, store: false, include: request.include, prompt_cache_key: 'thread' },
    ...{ text: request.text, max_output_tokens: expect.any(Number) },
    input: [
      { type: 'message', role: 'developer', content: text('Be brief.') },
      { type: 'message', role: 'user', content: text('Say hello.') },
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'sealed' },
      ...withoutIds,
    ],
  });
});

test('GEN-16 a dry run lists ignored fields, and a strict client gets their names as an error', async () => {
  const calls = vendor.requests.length;
  const body = { input: 'hello', foo: 1, temperature: 0.1 };
  const dry = await postResponses(gateway, body, { headers: { 'x-service-dry-run': 'true' } });
  expect([dry.status, dry.headers.get('x-service-ignored-parameters')]).toEqual([200, 'foo,temperature']);
  const strict = await postResponses(gateway, body, { headers: { 'x-service-require-parameters': 'true' } });
  expect([strict.status, (await readError(strict)).param]).toEqual([400, 'foo']);
  expect(vendor.requests.length).toBe(calls);
});
