import { expect, test } from 'vitest';
import { bodyOf, hello, image, prepared, refusalOf, result, saying, text, tool } from './messages-requests.ts';

const toolUse = (changes: object = {}) => ({ type: 'tool_use', id: 'toolu_1', name: 'f', input: {}, ...changes });
const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' };
const redacted = { type: 'redacted_thinking', data: 'b3BhcXVl' };
const answering = (...content: readonly unknown[]) => ({ messages: [hello, { role: 'assistant', content }] });
const url = image({ type: 'url', url: 'https://example.com/a.png' });

/** Every field with valid values: its lower bound, its upper bound, and its other forms. */
test.for([
  {
    ...{ max_tokens: 0, system: 'Be brief.', stop_sequences: [], temperature: 0, top_k: 0, stream: true },
    ...{ service_tier: 'auto', metadata: {}, tools: [] },
  },
  {
    ...{ max_tokens: 9_007_199_254_740_991, system: [text(), text({ cache_control: { type: 'ephemeral' } })] },
    ...{ stop_sequences: ['a', 'b'], temperature: 1, top_k: 40, stream: false, service_tier: 'standard_only' },
    ...{ metadata: { user_id: '\u{1f600}'.repeat(256) }, cache_control: { type: 'ephemeral', ttl: '5m' } },
    ...{ thinking: { type: 'disabled' } },
    ...{ output_config: { format: { type: 'json_schema', schema: { type: 'object', default: null } } } },
    ...{ tools: [tool({ type: 'custom', description: 'd', strict: true, eager_input_streaming: false })] },
  },
  { top_p: 0.5 },
  { thinking: { type: 'enabled', budget_tokens: 1_024 }, max_tokens: 1_025 },
  { thinking: { type: 'enabled', budget_tokens: 2_000, display: 'omitted' }, max_tokens: 4_000 },
  { tools: [tool({ input_examples: [{ city: 'Paris' }], allowed_callers: ['direct'] })] },
  { tools: [tool()], tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
  { tools: [tool()], tool_choice: { type: 'any', disable_parallel_tool_use: false } },
  { tools: [tool()], tool_choice: { type: 'tool', name: 'get_weather' } },
  { tools: [tool()], tool_choice: { type: 'none' } },
])('MSG-1 %j is accepted and sent unchanged', (fields) => {
  expect(prepared(fields).body).toEqual(bodyOf(fields));
});

test.for([
  { messages: [{ role: 'user', content: 'a' }, { role: 'assistant', content: 'b' }, hello] },
  { messages: [hello, hello] },
  { messages: [hello, { role: 'assistant', content: [] }] },
  { messages: [hello, { role: 'system', content: [text()] }] },
  saying({ ...url, transformations: { oversized_image: 'error' } }),
  saying({ ...url, cache_control: { type: 'ephemeral' } }),
  answering(thinking, redacted, text(), toolUse()),
  answering(toolUse({ caller: { type: 'direct' }, input: { deep: [{ a: null }] } })),
  saying(result({ content: 'sunny', is_error: false })),
  saying(result({ content: [], is_error: true })),
  saying(result({ content: [text(), url], cache_control: { type: 'ephemeral', ttl: '1h' } })),
])('MSG-1 the messages of %j are accepted and sent unchanged', (fields) => {
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
  [{ cache_control: { type: 'permanent' } }, 'cache_control.type'],
  [{ cache_control: { type: 'ephemeral', ttl: '24h' } }, 'cache_control.ttl'],
  [{ thinking: { type: 'between_tools' } }, 'thinking.type'],
  [{ thinking: { type: 'enabled' } }, 'thinking.budget_tokens'],
  [{ thinking: { ...enabled, budget_tokens: 1_023 }, max_tokens: 2_000 }, 'thinking.budget_tokens'],
  [{ thinking: enabled, max_tokens: 1_024 }, 'thinking.budget_tokens'],
  [{ thinking: { ...enabled, display: 'full' }, max_tokens: 2_000 }, 'thinking.display'],
  [{ output_config: { effort: 'none' } }, 'output_config.effort'],
  [{ output_config: { format: { type: 'json_object' } } }, 'output_config.format.type'],
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
  [{ messages: [hello, { role: 'system', content: [url] }] }, 'messages[1].content[0].type'],
  [saying(text(), {}), 'messages[0].content[1].type'],
  [saying(text({ cache_control: { type: 'ephemeral', ttl: 60 } })), 'messages[0].content[0].cache_control.ttl'],
  [saying(image({ type: 'base64', media_type: 'image/png' })), 'messages[0].content[0].source.data'],
  [answering(toolUse({ input: '{}' })), 'messages[1].content[0].input'],
  [answering({ ...thinking, signature: undefined }), 'messages[1].content[0].signature'],
  [saying({ type: 'tool_result', content: 'a' }), 'messages[0].content[0].tool_use_id'],
  [saying(result({ content: [toolUse()] })), 'messages[0].content[0].content[0].type'],
] as const)('MSG-1 %j is invalid_messages with param %s', ([fields, param]) => {
  expect(refusalOf(fields)).toMatchObject({ code: 'invalid_messages', status: 400, param });
});

const at = 'messages[0].content[0]';
const document = (source: object) => ({ type: 'document', source });

/** Blocks and sources of the SDK that add costs or refer to files at the provider. */
test.for([
  [saying(document({ type: 'url', url: 'https://example.com/a.pdf' })), 'source.type', 'of unknown size'],
  [saying(document({ type: 'file', file_id: 'f' })), 'source.type', 'in the provider’s storage'],
  [
    saying(document({ type: 'base64', media_type: 'text/plain', data: 'YQ==' })),
    'source.media_type',
    'application/pdf',
  ],
  [saying(document({ type: 'content', content: [document({})] })), 'source.content[0].type', '"text", "image"'],
  [saying({ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }), 'type', 'runs at the provider'],
  [saying({ type: 'web_search_tool_result', tool_use_id: 's', content: [] }), 'type', 'runs at the provider'],
  [saying({ type: 'mcp_tool_use', id: 's', name: 'a', server_name: 'b', input: {} }), 'type', 'runs at the provider'],
  [saying({ type: 'container_upload', file_id: 'f' }), 'type', 'in the provider’s storage'],
  [saying({ type: 'compaction', content: 'a' }), 'type', 'second model call'],
  [saying({ type: 'fallback', from: {}, to: {} }), 'type', 'another model'],
  [saying({ type: 'tool_addition', tool: { type: 'tool_reference', name: 'a' } }), 'type', '"tool_result"'],
  [saying(image({ type: 'file', file_id: 'f' })), 'source.type', 'in the provider’s storage'],
  [saying(toolUse({ caller: { type: 'code_execution_20250825', tool_id: 't' } })), 'caller.type', '"direct"'],
  [saying(toolUse({ toolset_name: 'browser' })), 'toolset_name', 'must be null'],
  [saying(text({ citations: [{ type: 'web_search_result_location' }] })), 'citations[0].type', 'runs at the provider'],
  [saying(result({ content: [document({ type: 'url', url: 'a' })] })), 'content[0].source.type', 'of unknown size'],
] as const)('GEN-9 the block of %j gets an error that names it', ([fields, member, reason]) => {
  const error = refusalOf(fields);
  expect(error).toMatchObject({ code: 'invalid_messages', status: 400, param: `${at}.${member}` });
  expect(error.message).toContain(reason);
});

const edit = (type: string) => ({ context_management: { edits: [{ type }] } });

test.for([
  [{ service_tier: 'priority' }, 'service_tier'],
  [{ inference_geo: 'us' }, 'inference_geo'],
  [{ speed: 'fast' }, 'speed'],
  [{ container: 'container_1' }, 'container'],
  [{ container: { id: 'container_1' } }, 'container'],
  [{ mcp_servers: [{ type: 'url', url: 'https://example.com', name: 'm' }] }, 'mcp_servers'],
  [{ fallbacks: 'default' }, 'fallbacks'],
  [{ fallback_credit_token: 'a' }, 'fallback_credit_token'],
  [{ billing_policy: { type: 'billing_policy', bill_to: 'user_profile' } }, 'billing_policy'],
  [{ compaction: { type: 'summarize' } }, 'compaction'],
  [{ thread: { type: 'create' } }, 'thread'],
  [edit('compact_20260112'), 'context_management.edits[0].type'],
  [edit('clear_thinking_20990101'), 'context_management.edits[0].type'],
  [{ tools: [tool({ allowed_callers: ['code_execution_20250825'] })] }, 'tools[0].allowed_callers[0]'],
  [{ tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 5 }] }, 'tools[0].type'],
  [{ tools: [{ type: 'web_fetch_20260309', name: 'web_fetch' }] }, 'tools[0].type'],
  [{ tools: [{ type: 'code_execution_20250825', name: 'code_execution' }] }, 'tools[0].type'],
  [{ tools: [{ type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' }] }, 'tools[0].type'],
  [{ tools: [{ type: 'mcp_toolset', mcp_server_name: 'm' }] }, 'tools[0].type'],
  [{ tools: [{ type: 'computer_20251124', name: 'computer' }] }, 'tools[0].type'],
  [{ tools: [{ type: 'bash_20241022', name: 'bash' }] }, 'tools[0].type'],
  [{ tools: [{ type: 'bash_20250124', name: 'shell' }] }, 'tools[0].name'],
] as const)('GEN-9 %j gets an error that names it', ([fields, param]) => {
  expect(refusalOf(fields)).toMatchObject({ code: 'invalid_request_error', status: 400, param });
});

test.for([
  ['max_tokens_to_sample', 'max_tokens'],
  ['max_token', 'max_tokens'],
  ['max_completion_tokens', 'max_tokens'],
  ['max_output_tokens', 'max_tokens'],
  ['Thinking', 'thinking'],
  ['tool', 'tools'],
  ['input', 'messages'],
  ['response_format', 'output_config.format'],
  ['reasoning_effort', 'output_config.effort'],
  ['steam', 'stream'],
] as const)('GEN-16 %s is 400 and suggests %s', ([name, meant]) => {
  const { message } = refusalOf({ [name]: 5 });
  expect(message).toContain(`${name}: `);
  expect(message).toContain(`Did you mean ${meant}?`);
});

test('MSG-6 the error for the field `thread` has the details that the SDK reads', () => {
  const { sdkDetails } = refusalOf({ thread: { type: 'create' } });
  expect(sdkDetails).toEqual({ error_code: 'thread_unsupported_request', unsupported: ['thread'] });
});

test('GEN-9 the error for a provider tool lists the supported tools', () => {
  const { message } = refusalOf({ tools: [{ type: 'web_search_20250305', name: 'web_search' }] });
  expect(message).toMatch(/"custom".*web_search.*not supported/);
});

test.for([
  [{ output_config: { effort: 'none' } }, ['low', 'medium', 'high', 'xhigh', 'max']],
  [{ tools: [tool()], tool_choice: { type: 'required' } }, ['auto', 'any', 'tool', 'none']],
  [{ messages: [{ role: 'robot', content: 'a' }] }, ['user', 'assistant', 'system']],
  [saying({ type: { toString: 1 } }), ['text', 'document']],
  [saying({ type: 'sound' }), ['text', 'image', 'tool_use', 'tool_result', 'thinking', 'redacted_thinking']],
] as const)('GEN-4 the error for %j lists the allowed values', ([fields, allowed]) => {
  const { message } = refusalOf(fields);
  for (const value of allowed) expect(message).toContain(`"${value}"`);
});

test.for([undefined, null, '', 5, ['a']])('CAT-6 a model of %j is 400 with param model', (model) => {
  expect(refusalOf({ model }, undefined)).toMatchObject({ code: 'invalid_request_error', status: 400, param: 'model' });
});
