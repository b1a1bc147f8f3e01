import { expect, test } from 'vitest';
import { startSimulated } from '../simulated.ts';

const { simulator } = await startSimulated();

async function send(change: object) {
  const body = JSON.stringify({ model: 'gpt-5.4', input: 'Hello', ...change });
  const headers = { authorization: 'Bearer sk-test' };
  const response = await fetch(`${simulator.url}/v1/responses`, { method: 'POST', headers, body });
  const { error } = (await response.json()) as { error: object | null };
  return { status: response.status, error };
}

const grammar = { type: 'grammar', syntax: 'lark', definition: 'start: /.+/' };
const agentTools = [
  {
    type: 'function',
    name: 'exec',
    parameters: { type: 'object' },
    strict: false,
    defer_loading: true,
    output_schema: {},
  },
  { type: 'custom', name: 'apply_patch', description: 'Edits files', format: grammar },
  { type: 'namespace', name: 'mail', description: 'Mail', tools: [{ type: 'function', name: 'send', parameters: {} }] },
  { type: 'tool_search', execution: 'client', description: 'Finds tools', parameters: { type: 'object' } },
];
const tool = { type: 'function', name: 'get_weather', parameters: { type: 'object' } };

test.each<[string, object, object]>([
  ['no input', { input: undefined }, { param: 'input' }],
  ['an unknown field', { stop: ['x'] }, { param: 'stop', code: 'unknown_parameter' }],
  ['a chat tool', { tools: [{ type: 'function', function: { name: 'a' } }] }, { param: 'tools[0].name' }],
  ['a cap below 16', { max_output_tokens: 15 }, { code: 'integer_below_min_value' }],
  ['temperature', { temperature: 0.5 }, { param: 'temperature', code: null }],
  ['top_p', { top_p: 0.5 }, { param: 'top_p' }],
  ['low effort of a pro model', effort('gpt-5.4-pro', 'low'), { param: 'reasoning.effort', code: 'unsupported_value' }],
  ['no effort of a model that always thinks', effort('gpt-6.2-sol', 'none'), { param: 'reasoning.effort' }],
  ['effort of a model that never thinks', effort('gpt-4.1-mini', 'low'), { code: 'unsupported_parameter' }],
  ['sealed reasoning of a model without', sealed('gpt-4.1-mini'), { param: 'include' }],
  ['an earlier response', { previous_response_id: 'resp_1' }, { code: 'previous_response_not_found' }],
  ['stream options without a stream', { stream_options: {} }, { param: 'stream_options' }],
  [
    'a JSON format without the word json in the input',
    { text: { format: { type: 'json_object' } }, instructions: 'Answer in JSON.' },
    { param: 'input' },
  ],
  ['a file without content', filed({ filename: 'a.pdf' }), { code: null }],
  ['a file without a data URL', filed({ file_data: 'JVBERi0=' }), { code: 'invalid_value' }],
  ['a file that is not a PDF', filed({ file_data: 'data:application/pdf;base64,AAAA' }), { code: null }],
  ['a stored file', filed({ file_id: 'file-1' }), { code: 'unknown_parameter' }],
  [
    'an image out of reach',
    { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'https://gone.invalid/a.png' }] }] },
    { code: 'invalid_image_url' },
  ],
  [
    'a tool that is not there',
    { tools: [tool], tool_choice: { type: 'function', name: 'b' } },
    { param: 'tool_choice' },
  ],
])('a request with %s is rejected', async (_, change, error) => {
  expect(await send(change)).toMatchObject({ status: 400, error: { type: 'invalid_request_error', ...error } });
});

test('the error for an unsupported effort of a pro model lists the supported efforts', async () => {
  const { error } = await send(effort('gpt-5.5-pro', 'low'));
  expect(error).toMatchObject({
    message:
      "Unsupported value: 'low' is not supported with the 'gpt-5.5-pro' model. Supported values are: 'medium', 'high', and 'xhigh'.",
  });
});

test.each([
  ['no effort and a temperature', { ...effort('gpt-5.4', 'none'), temperature: 0.5 }],
  ['an earlier response that is null', { previous_response_id: null }],
  ['a JSON format with the word json', { text: { format: { type: 'json_object' } }, input: 'Give me JSON' }],
  ['a cap of 16', { max_output_tokens: 16 }],
  ['the reasoning of earlier turns', { reasoning: { context: 'all_turns' } }],
  ['fields that are null', { tools: null, tool_choice: null, text: null, prompt: null, user: null }],
  ['what an agent sends in addition to its input', { client_metadata: { a: 'b' }, prompt_cache_retention: '24h' }],
  ['tools that run at the client', { tools: agentTools }],
  [
    'the tools that are allowed',
    { tools: agentTools, tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [] } },
  ],
])('a request with %s is accepted', async (_, change) => {
  expect((await send(change)).status).toBe(200);
});

function effort(model: string, level: string) {
  return { model, reasoning: { effort: level } };
}

function expectedId(item: string, id: string, prefix: string) {
  return `Invalid '${item}.id': '${id}'. Expected an ID that begins with '${prefix}'.`;
}

function sealed(model: string) {
  return { model, include: ['reasoning.encrypted_content'] };
}

const user = { role: 'user', content: 'Hello' };
const stem = 'a'.repeat(32);
const reasoning = { type: 'reasoning', id: `rs_${stem}1`, summary: [], encrypted_content: 'gAAAA' };
const message = {
  ...{ type: 'message', id: `msg_${stem}2`, role: 'assistant', status: 'completed', phase: 'final_answer' },
  content: [{ type: 'output_text', text: 'Hi', annotations: [], logprobs: [] }],
};
const call = { type: 'function_call', id: `fc_${stem}2`, call_id: 'call_1', name: 'get_weather', arguments: '{}' };
const result = { type: 'function_call_output', call_id: 'call_1', output: 'ok' };
const custom = {
  type: 'custom_tool_call',
  id: 'ctc_1',
  call_id: 'call_3',
  name: 'apply_patch',
  input: '*** Begin Patch',
};
const customResult = { type: 'custom_tool_call_output', call_id: 'call_3', output: 'Done' };
const search = { type: 'tool_search_call', call_id: 'call_4', execution: 'client', arguments: { query: 'mail' } };
const found = { type: 'tool_search_output', call_id: 'call_4', execution: 'client', tools: [{ type: 'function' }] };
const loose = `Item 'rs_${stem}1' of type 'reasoning' was provided without its required following item.`;

const expectedCustom = expectedId('input[1]', 'fc_1', 'ctc');

test.each<[string, readonly object[], string]>([
  ['reasoning after its message', [user, message, reasoning, user], loose],
  ['reasoning at the end', [user, reasoning], loose],
  [
    'a text in the content of reasoning',
    [user, { ...reasoning, content: [{ type: 'reasoning_text', text: 'Hm' }] }, message, user],
    "Invalid 'input[1].content': array too long. Expected an array with maximum length 0, but got an array with length 1 instead.",
  ],
  [
    'reasoning before a message with another id',
    [user, reasoning, { ...message, id: `msg_${'b'.repeat(32)}2` }, user],
    loose,
  ],
  ['a result without a call', [user, result], 'No tool call found for function call output with call_id call_1.'],
  [
    'a result before its call',
    [user, result, call],
    'No tool call found for function call output with call_id call_1.',
  ],
  ['a call without a result', [user, reasoning, call, user], 'No tool output found for function call call_1.'],
  [
    'a call id in another format',
    [user, { ...call, id: 'call_1' }, result],
    "Invalid 'input[1].id': 'call_1'. Expected an ID that begins with 'fc'.",
  ],
  ["a message's id of another kind", [{ ...user, id: 'item_1' }], expectedId('input[0]', 'item_1', 'msg')],
  ['a custom call with the id of a function call', [user, { ...custom, id: 'fc_1' }, customResult], expectedCustom],
  ['a custom call without a result', [user, custom, user], 'No tool output found for custom tool call call_3.'],
  [
    'a custom result without a call',
    [user, customResult],
    'No tool call found for custom tool call output with call_id call_3.',
  ],
  ['an unknown member of an item', [{ ...user, created_by: 'x' }], "Unknown parameter: 'input[0].created_by'."],
])('a request with %s is rejected by its input', async (_, input, text) => {
  expect(await send({ input })).toMatchObject({ status: 400, error: { message: text } });
});

test.each<[string, readonly object[]]>([
  ['reasoning before its message', [user, reasoning, message, user]],
  ['reasoning without an id', [user, { ...reasoning, id: undefined }, message, user]],
  ['an id on a message of the user', [{ ...user, type: 'message', id: 'msg_1' }]],
  ['a custom call and its result', [user, reasoning, { ...custom, id: undefined }, customResult]],
  ['a client-run tool search', [user, search, found]],
  ['null in what an earlier answer leaves open', [user, { ...call, caller: null, namespace: null }, result]],
  [
    'a call that came directly, in a namespace',
    [user, { ...call, caller: { type: 'direct' }, namespace: 'mail' }, result],
  ],
  ['reasoning before a call without an id', [user, reasoning, { ...call, id: undefined }, result]],
  ['parallel calls', [user, reasoning, call, { ...call, call_id: 'call_2' }, result, { ...result, call_id: 'call_2' }]],
])('a request with %s is accepted by its input', async (_, input) => {
  expect((await send({ input, store: false })).status).toBe(200);
});

test('reasoning without encrypted content gets 404 if the request has store: false', async () => {
  const input = [user, { ...reasoning, encrypted_content: null }, message, user];
  expect(await send({ input, store: false })).toMatchObject({ status: 404, error: { param: 'input' } });
  expect((await send({ input })).status).toBe(200);
});

function filed(file: object) {
  return { input: [{ role: 'user', content: [{ type: 'input_file', ...file }] }] };
}
