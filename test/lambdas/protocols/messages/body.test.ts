import { expect, test } from 'vitest';
import { bodyOf, hello, image, prepared, refusalOf, result, saying, text, tool } from './messages-requests.ts';

const toolUse = (changes: object = {}) => ({ type: 'tool_use', id: 'toolu_1', name: 'f', input: {}, ...changes });
const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' };
const redacted = { type: 'redacted_thinking', data: 'b3BhcXVl' };
const answering = (...content: readonly unknown[]) => ({ messages: [hello, { role: 'assistant', content }] });
const url = image({ type: 'url', url: 'https://example.com/a.png' });

/** Every field with a good value: at its lower bound, at its upper bound, and in its other forms. */
test.for([
  {
    ...{ max_tokens: 0, system: 'Be brief.', stop_sequences: [], temperature: 0, top_k: 0, stream: true },
    ...{ service_tier: 'auto', metadata: {}, cache_control: null, speed: 'standard', output_config: {}, tools: [] },
  },
  {
    ...{ max_tokens: 9_007_199_254_740_991, system: [text(), text({ cache_control: { type: 'ephemeral' } })] },
    ...{ stop_sequences: ['a', 'b'], temperature: 1, top_k: 40, stream: false, service_tier: 'standard_only' },
    ...{ metadata: { user_id: '\u{1f600}'.repeat(256) }, cache_control: { type: 'ephemeral', ttl: '5m' } },
    ...{ inference_geo: null, speed: null, container: null, thinking: { type: 'disabled' } },
    ...{ output_config: { effort: null, format: { type: 'json_schema', schema: { type: 'object' } } } },
    ...{ tools: [tool({ type: 'custom', description: 'd', strict: true, eager_input_streaming: null })] },
  },
  { top_p: 0.5, metadata: { user_id: null }, output_config: { effort: null, format: null } },
  { thinking: { type: 'enabled', budget_tokens: 1_024 }, max_tokens: 1_025 },
  { thinking: { type: 'enabled', budget_tokens: 2_000, display: 'omitted' }, max_tokens: 4_000 },
  { thinking: { type: 'enabled', budget_tokens: 2_000, display: null }, max_tokens: 4_000 },
  { tools: [tool({ type: null, input_examples: [{ city: 'Paris' }], allowed_callers: ['direct'] })] },
  { tools: [tool({ cache_control: null })], tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
  { tools: [tool()], tool_choice: { type: 'any', disable_parallel_tool_use: false } },
  { tools: [tool()], tool_choice: { type: 'tool', name: 'get_weather' } },
  { tools: [tool()], tool_choice: { type: 'none' } },
])('MSG-1 %j is accepted, and sent as it came', (fields) => {
  expect(prepared(fields).body).toEqual(bodyOf(fields));
});

test.for([
  { messages: [{ role: 'user', content: 'a' }, { role: 'assistant', content: 'b' }, hello] },
  { messages: [hello, hello] },
  { messages: [hello, { role: 'assistant', content: [] }] },
  { messages: [hello, { role: 'system', content: [text()] }] },
  saying(text({ citations: null })),
  saying({ ...url, transformations: { oversized_image: 'error' } }),
  saying({ ...url, transformations: null, cache_control: { type: 'ephemeral' } }),
  answering(thinking, redacted, text(), toolUse()),
  answering(toolUse({ caller: { type: 'direct' }, toolset_name: null, input: { deep: [{ a: null }] } })),
  saying(result({ content: 'sunny', is_error: false, toolset_name: null })),
  saying(result({ content: [], is_error: true })),
  saying(result({ content: [text(), url], cache_control: { type: 'ephemeral', ttl: '1h' } })),
])('MSG-1 the messages of %j are accepted, and sent as they came', (fields) => {
  expect(prepared(fields).body).toEqual(bodyOf(fields));
});

const enabled = { type: 'enabled', budget_tokens: 1_024 };

test.for([
  [{ max_tokens: undefined }, 'max_tokens'],
  [{ max_tokens: -1 }, 'max_tokens'],
  [{ max_tokens: 2 ** 53 }, 'max_tokens'],
  [{ system: 5 }, 'system'],
  [{ system: [url] }, 'system[0].type'],
  [{ stop_sequences: 'a' }, 'stop_sequences'],
  [{ stop_sequences: ['a', 5] }, 'stop_sequences[1]'],
  [{ temperature: -0.01 }, 'temperature'],
  [{ temperature: 1.01 }, 'temperature'],
  [{ top_p: 1.1 }, 'top_p'],
  [{ top_k: -1 }, 'top_k'],
  [{ stream: 'true' }, 'stream'],
  [{ metadata: { user_id: 'u'.repeat(257) } }, 'metadata.user_id'],
  [{ metadata: { session: 'a' } }, 'metadata.session'],
  [{ cache_control: { type: 'permanent' } }, 'cache_control.type'],
  [{ cache_control: { type: 'ephemeral', ttl: '24h' } }, 'cache_control.ttl'],
  [{ cache_control: { type: 'ephemeral', scope: 'global' } }, 'cache_control.scope'],
  [{ thinking: { type: 'between_tools' } }, 'thinking.type'],
  [{ thinking: { type: 'enabled' } }, 'thinking.budget_tokens'],
  [{ thinking: { ...enabled, budget_tokens: 1_023 }, max_tokens: 2_000 }, 'thinking.budget_tokens'],
  [{ thinking: enabled, max_tokens: 1_024 }, 'thinking.budget_tokens'],
  [{ thinking: { ...enabled, display: 'full' }, max_tokens: 2_000 }, 'thinking.display'],
  [{ thinking: { type: 'disabled', display: 'omitted' } }, 'thinking.display'],
  [{ output_config: { effort: 'none' } }, 'output_config.effort'],
  [{ output_config: { format: { type: 'json_object' } } }, 'output_config.format.type'],
  [{ output_config: { format: { type: 'json_schema', schema: {}, name: 'a' } } }, 'output_config.format.name'],
  [{ tools: {} }, 'tools'],
  [{ tools: [tool(), tool({ name: 'no blanks' })] }, 'tools[1].name'],
  [{ tools: [tool({ name: 'x'.repeat(129) })] }, 'tools[0].name'],
  [{ tools: [tool({ input_schema: 'object' })] }, 'tools[0].input_schema'],
  [{ tools: [tool({ input_examples: [5] })] }, 'tools[0].input_examples[0]'],
  [{ tools: [tool({ cache_control: { type: 'ephemeral', ttl: '2h' } })] }, 'tools[0].cache_control.ttl'],
  [{ tools: [tool()], tool_choice: { type: 'required' } }, 'tool_choice.type'],
  [{ tools: [tool()], tool_choice: { type: 'tool' } }, 'tool_choice.name'],
  [{ tool_choice: { type: 'auto' } }, 'tool_choice'],
] as const)('MSG-1 %j is 400 with param %s', ([fields, param]) => {
  expect(refusalOf(fields)).toMatchObject({ code: 'invalid_request_error', status: 400, param });
});

test.for([
  [{ messages: undefined }, 'messages'],
  [{ messages: [] }, 'messages'],
  [{ messages: [{ role: 'robot', content: 'a' }] }, 'messages[0].role'],
  [{ messages: [hello, { role: 'user' }] }, 'messages[1].content'],
  [{ messages: [{ ...hello, name: 'me' }] }, 'messages[0].name'],
  [{ messages: [hello, { role: 'system', content: [url] }] }, 'messages[1].content[0].type'],
  [saying(text(), {}), 'messages[0].content[1].type'],
  [saying(text({ citations: [] })), 'messages[0].content[0].citations'],
  [saying(text({ cache_control: { type: 'ephemeral', ttl: 60 } })), 'messages[0].content[0].cache_control.ttl'],
  [saying(image({ type: 'base64', media_type: 'image/png' })), 'messages[0].content[0].source.data'],
  [answering(toolUse({ input: '{}' })), 'messages[1].content[0].input'],
  [answering({ ...thinking, signature: undefined }), 'messages[1].content[0].signature'],
  [answering({ ...thinking, cache_control: null }), 'messages[1].content[0].cache_control'],
  [saying({ type: 'tool_result', content: 'a' }), 'messages[0].content[0].tool_use_id'],
  [saying(result({ content: [toolUse()] })), 'messages[0].content[0].content[0].type'],
] as const)('MSG-1 %j is invalid_messages with param %s', ([fields, param]) => {
  expect(refusalOf(fields)).toMatchObject({ code: 'invalid_messages', status: 400, param });
});

/** Blocks and sources that the SDK knows and that bring costs or files of the vendor's with them. */
test.for([
  [saying({ type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } }), 'type'],
  [saying({ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }), 'type'],
  [saying({ type: 'container_upload', file_id: 'f' }), 'type'],
  [saying(image({ type: 'file', file_id: 'f' })), 'source.type'],
  [saying(toolUse({ caller: { type: 'code_execution_20250825', tool_id: 't' } })), 'caller.type'],
  [saying(result({ content: [{ type: 'document', source: {} }] })), 'content[0].type'],
] as const)('GEN-9 the block of %j is refused by name', ([fields, member]) => {
  const param = `messages[0].content[0].${member}`;
  expect(refusalOf(fields)).toMatchObject({ code: 'invalid_messages', status: 400, param });
});

test.for([
  [{ service_tier: 'priority' }, 'service_tier'],
  [{ inference_geo: 'us' }, 'inference_geo'],
  [{ speed: 'fast' }, 'speed'],
  [{ container: 'container_1' }, 'container'],
  [{ output_config: { task_budget: { type: 'tokens', total: 1 } } }, 'output_config.task_budget'],
  [{ tools: [tool({ defer_loading: true })] }, 'tools[0].defer_loading'],
  [{ tools: [tool({ allowed_callers: ['code_execution_20250825'] })] }, 'tools[0].allowed_callers[0]'],
  [{ tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 5 }] }, 'tools[0].type'],
  [{ tools: [{ type: 'code_execution_20250825', name: 'code_execution' }] }, 'tools[0].type'],
  [{ tools: [{ type: 'mcp_toolset', mcp_server_name: 'm' }] }, 'tools[0].type'],
] as const)('GEN-9 %j is refused by name', ([fields, param]) => {
  expect(refusalOf(fields)).toMatchObject({ code: 'invalid_request_error', status: 400, param });
});

test.for([
  'mcp_servers',
  'context_management',
  'betas',
  'fallbacks',
  'thread',
  'output_format',
  'effort',
  'max_tokens_to_sample',
  'toString',
  'x'.repeat(300),
])('GEN-9 a field %s is refused by name, null or not', (name) => {
  for (const value of [null, {}, 'a']) {
    const error = refusalOf({ [name]: value });
    expect(error).toMatchObject({ code: 'invalid_request_error', status: 400 });
    expect(error.param).toBe(name.length > 100 ? `${name.slice(0, 100)}…` : name);
  }
});

test('GEN-9 the refusal of a vendor tool says what is served', () => {
  const { message } = refusalOf({ tools: [{ type: 'web_search_20250305', name: 'web_search' }] });
  expect(message).toMatch(/"custom".*web_search.*not served/);
});

test.for([
  [{ output_config: { effort: 'none' } }, ['low', 'medium', 'high', 'xhigh', 'max']],
  [{ tools: [tool()], tool_choice: { type: 'required' } }, ['auto', 'any', 'tool', 'none']],
  [{ messages: [{ role: 'robot', content: 'a' }] }, ['user', 'assistant', 'system']],
  [saying({ type: 'sound' }), ['text', 'image', 'tool_use', 'tool_result', 'thinking', 'redacted_thinking']],
] as const)('GEN-4 the refusal of %j lists what is allowed', ([fields, allowed]) => {
  const { message } = refusalOf(fields);
  for (const value of allowed) expect(message).toContain(`"${value}"`);
});

test.for([undefined, null, '', 5, ['a']])('CAT-6 a model of %j is 400 with param model', (model) => {
  expect(refusalOf({ model }, undefined)).toMatchObject({ code: 'invalid_request_error', status: 400, param: 'model' });
});
