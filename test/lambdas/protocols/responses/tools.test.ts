import { expect, test } from 'vitest';
import { bodyOf, prepared, refusalOf, shipped } from './responses-requests.ts';

const INCLUDE = { include: ['reasoning.encrypted_content'] };
const weather = { type: 'function', name: 'weather', parameters: { type: 'object', default: null }, strict: false };
const patch = {
  type: 'custom',
  name: 'apply_patch',
  description: 'Edits files.',
  format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"+' },
};
const files = { type: 'namespace', name: 'files', description: 'Files.', tools: [weather, patch] };
const search = {
  type: 'tool_search',
  execution: 'client',
  description: 'Finds tools.',
  parameters: { type: 'object' },
};
const cachedSearch = { type: 'web_search', external_web_access: false, search_content_types: ['text', 'image'] };
const deferred = { ...weather, defer_loading: true, output_schema: { type: 'string' } };

test.each<[string, object]>([
  [
    'a custom tool',
    { tools: [patch, { type: 'custom', name: 'note' }], tool_choice: { type: 'custom', name: 'note' } },
  ],
  ['a custom tool of text', { tools: [{ ...patch, format: { type: 'text' } }], tool_choice: 'required' }],
  ['a namespace', { tools: [files] }],
  ['a tool search by the client', { tools: [weather, search] }],
  ['deferred tools with a search', { tools: [deferred, { ...files, tools: [deferred] }, search] }],
  [
    'a choice of allowed tools',
    {
      tools: [weather, patch],
      tool_choice: {
        type: 'allowed_tools',
        mode: 'required',
        tools: [
          { type: 'function', name: 'weather' },
          { type: 'custom', name: 'apply_patch' },
        ],
      },
    },
  ],
  [
    'a conversation with a search',
    {
      input: [
        { role: 'user', content: 'a' },
        { type: 'tool_search_call', call_id: 's', execution: 'client', arguments: { query: 'x', limit: null } },
        {
          type: 'tool_search_output',
          call_id: 's',
          execution: 'client',
          tools: [{ ...files, tools: [deferred] }, deferred],
        },
        { type: 'function_call', call_id: 'c', name: 'weather', namespace: 'files', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c', output: 'sun' },
      ],
      tools: [search],
    },
  ],
])('RESP-6 %s is sent unchanged', (_about, sent) => {
  const request = prepared(sent);
  expect(request.body).toEqual(bodyOf({ ...sent, ...INCLUDE }));
  expect(request).toMatchObject({ usesTools: true, ignored: [] });
});

test.each<[string, object, object, readonly string[]]>([
  ['a search of cached pages', { tools: [weather, cachedSearch] }, { tools: [weather] }, ['tools[].web_search']],
  [
    'the only tool, a search of cached pages',
    { tools: [cachedSearch], tool_choice: 'auto' },
    { tool_choice: 'auto' },
    ['tools[].web_search'],
  ],
  [
    'deferring without a search',
    { tools: [deferred, { ...patch, defer_loading: false }, { ...files, tools: [deferred] }] },
    { tools: [weather, patch, { ...files, tools: [weather] }] },
    [
      'tools[].defer_loading',
      'tools[].output_schema',
      'tools[].tools[].defer_loading',
      'tools[].tools[].output_schema',
    ],
  ],
  [
    'a direct caller',
    {
      input: [
        { role: 'user', content: 'a' },
        {
          type: 'tool_search_output',
          id: 'tso_1',
          call_id: 's',
          status: 'completed',
          execution: 'client',
          tools: [{ ...files, tools: [{ ...weather, allowed_callers: ['direct'], x: 1 }] }],
        },
      ],
      tools: [
        { ...weather, allowed_callers: ['direct'] },
        { ...patch, allowed_callers: [] },
      ],
    },
    {
      input: [
        { role: 'user', content: 'a' },
        { type: 'tool_search_output', call_id: 's', execution: 'client', tools: [{ ...files, tools: [weather] }] },
      ],
      tools: [weather, patch],
    },
    [],
  ],
  [
    'an unknown member of a tool',
    {
      tools: [
        { ...weather, async: true },
        { ...files, tools: [{ ...patch, format: { type: 'text', x: 1 } }] },
      ],
      tool_choice: { type: 'function', name: 'weather', x: 1 },
    },
    {
      tools: [weather, { ...files, tools: [{ ...patch, format: { type: 'text' } }] }],
      tool_choice: { type: 'function', name: 'weather' },
    },
    ['tool_choice.x', 'tools[].async', 'tools[].tools[].format.x'],
  ],
])('RESP-6 %s is not sent', (_about, sent, left, ignored) => {
  const request = prepared(sent);
  const plain = prepared(left);
  expect(request.body).toEqual(bodyOf({ ...left, ...INCLUDE }));
  expect(request.ignored).toEqual(ignored);
  expect(request.prompt).toEqual(plain.prompt);
  expect(request.usesTools).toBe(plain.usesTools);
});

const found = (tools: readonly unknown[], more: object = {}) => ({
  input: [{ type: 'tool_search_output', call_id: 's', execution: 'client', tools, ...more }],
});

test.each<[object, string]>([
  [{ tools: [{ type: 'web_search' }] }, 'tools[0].type'],
  [{ tools: [weather, { type: 'web_search', external_web_access: true }] }, 'tools[1].type'],
  [{ tools: [{ type: 'web_search', external_web_access: null }] }, 'tools[0].type'],
  [{ tools: [{ type: 'web_search_preview' }] }, 'tools[0].type'],
  [{ tools: [{ type: 'mcp', server_label: 'a', server_url: 'https://example.com' }] }, 'tools[0].type'],
  [{ tools: [{ type: 'image_generation' }] }, 'tools[0].type'],
  [{ tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] }, 'tools[0].type'],
  [{ tools: [{ type: 'shell', environment: { type: 'container_auto' } }] }, 'tools[0].type'],
  [{ tools: [{ type: 'local_shell' }] }, 'tools[0].type'],
  [{ tools: [{ type: 'apply_patch' }] }, 'tools[0].type'],
  [{ tools: [{ type: 'programmatic_tool_calling' }] }, 'tools[0].type'],
  [{ tools: [{ type: 'tool_search' }] }, 'tools[0].execution'],
  [{ tools: [{ type: 'tool_search', execution: 'server' }] }, 'tools[0].execution'],
  [{ tools: [{ ...files, tools: [{ type: 'mcp', server_label: 'a' }] }] }, 'tools[0].tools[0].type'],
  [{ tools: [{ ...files, tools: [cachedSearch] }] }, 'tools[0].tools[0].type'],
  [{ tools: [{ ...weather, allowed_callers: ['direct', 'programmatic'] }] }, 'tools[0].allowed_callers[1]'],
  [{ tools: [{ ...patch, format: { type: 'grammar', syntax: 'ebnf', definition: 'a' } }] }, 'tools[0].format.syntax'],
  [{ tools: [cachedSearch], tool_choice: 'required' }, 'tool_choice'],
  [{ tools: [weather, cachedSearch], tool_choice: { type: 'web_search' } }, 'tool_choice.type'],
  [
    { tools: [weather], tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'web_search' }] } },
    'tool_choice.tools[0].type',
  ],
  [found([{ type: 'mcp', server_label: 'a' }]), 'input[0].tools[0].type'],
  [found([search]), 'input[0].tools[0].type'],
  [found([weather], { execution: 'server' }), 'input[0].execution'],
  [{ input: [{ type: 'tool_search_call', call_id: 's', arguments: {} }] }, 'input[0].execution'],
  [
    {
      input: [
        { type: 'function_call', call_id: 'c', name: 'n', arguments: '', caller: { type: 'program', caller_id: 'p' } },
      ],
    },
    'input[0].caller.type',
  ],
])('RESP-6 %j is rejected at %s', (sent, param) => {
  const error = refusalOf(sent);
  expect(error).toMatchObject({ code: 'invalid_request_error', status: 400, param });
  expect(error.message).toContain(param);
});

test('RESP-6 a model without forced tools accepts allowed_tools only with the mode auto', () => {
  const plain = shipped('gpt-5.5-pro');
  const model = { ...plain, capabilities: { ...plain.capabilities, forcedToolChoice: false } };
  const choice = (mode: string) => ({
    tools: [weather],
    tool_choice: { type: 'allowed_tools', mode, tools: [{ type: 'function', name: 'weather' }] },
  });
  expect(prepared(choice('auto'), model).usesTools).toBe(true);
  expect(refusalOf(choice('required'), model)).toMatchObject({ param: 'tool_choice' });
  expect(refusalOf({ tools: [patch], tool_choice: { type: 'custom', name: 'n' } }, model)).toMatchObject({
    param: 'tool_choice',
  });
});

test('RESP-6 a model without tools accepts only a web search that the gateway ignores', () => {
  const plain = shipped('gpt-5.5-pro');
  const model = { ...plain, capabilities: { ...plain.capabilities, tools: false } };
  expect(prepared({ tools: [cachedSearch] }, model)).toMatchObject({
    usesTools: false,
    ignored: ['tools[].web_search'],
  });
  expect(refusalOf({ tools: [patch] }, model)).toMatchObject({ param: 'tools' });
});

const long = 'rule '.repeat(200);
const LEAST = 200;

test.each<[string, object]>([
  ['the grammar of a custom tool', { tools: [{ ...patch, format: { ...patch.format, definition: long } }] }],
  ['the description of a namespace', { tools: [{ ...files, description: long }] }],
  ['a tool in a namespace', { tools: [{ ...files, tools: [{ ...weather, description: long }] }] }],
  ['the schema of a search', { tools: [{ ...search, parameters: { type: 'object', description: long } }] }],
  ['a deferred tool', { tools: [{ ...deferred, output_schema: { description: long } }, search] }],
  ['the result of a search', found([{ ...files, tools: [{ ...weather, description: long }] }])],
  ['the input of a custom call', { input: [{ type: 'custom_tool_call', call_id: 'c', name: 'n', input: long }] }],
  ['the result of a custom call', { input: [{ type: 'custom_tool_call_output', call_id: 'c', output: long }] }],
  [
    'encrypted reasoning before a call',
    {
      input: [
        { type: 'reasoning', summary: [], encrypted_content: long },
        { type: 'custom_tool_call', call_id: 'c', name: 'n', input: '' },
      ],
    },
  ],
])('BILL-5 %s counts in the hold', (_about, sent) => {
  const { prompt } = prepared(sent);
  expect(prompt.textTokens).toBeGreaterThan(LEAST);
  expect(prompt.bytes).toBeGreaterThan(long.length);
});

test('BILL-5 images in the results of custom tools and functions count by their detail', () => {
  const output = (detail: string) => [{ type: 'input_image', image_url: 'https://example.com/a.png', detail }];
  const { prompt } = prepared({
    input: [
      { type: 'custom_tool_call_output', call_id: 'c', output: output('high') },
      { type: 'function_call_output', call_id: 'd', output: output('low') },
    ],
  });
  expect(prompt.images).toEqual(['high', 'low']);
});

test('BILL-5 tools that a search found count as tools', () => {
  expect(prepared(found([weather])).usesTools).toBe(true);
  expect(prepared({ input: [{ role: 'user', content: 'a' }] }).usesTools).toBe(false);
});

test('CHAT-16 log probabilities go to a model that has them, if the response can be read', () => {
  const plain = shipped('gpt-5.5-pro');
  const model = { ...plain, capabilities: { ...plain.capabilities, logprobs: true } };
  const asked = { top_logprobs: 5, include: ['message.output_text.logprobs'] };
  expect(prepared({ ...asked, max_output_tokens: 1_000 }, model).body).toMatchObject({
    top_logprobs: 5,
    include: [...asked.include, ...INCLUDE.include],
  });
  expect(prepared({ ...asked, stream: true }, model).body).toMatchObject({ top_logprobs: 5 });
  expect(refusalOf({ ...asked, max_output_tokens: 128_000 }, model)).toMatchObject({ param: 'top_logprobs' });
});
