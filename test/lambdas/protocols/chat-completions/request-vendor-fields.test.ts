import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { catalogData } from '../../../../catalog/index.ts';
import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../../lambdas/core/json.ts';
import type { TextRequest } from '../../../../lambdas/core/text/conversation.ts';
import { promptTokensAtMost } from '../../../../lambdas/core/text/token-estimate.ts';
import { toTextParams } from '../../../../lambdas/protocols/chat-completions/request.ts';
import { bodyOf, hello, png, showing, tool } from './chat-requests.ts';

const catalog = loadCatalog(catalogData);

const modelOf = (id: string) => {
  const model = catalog.find(id, Date.UTC(2026, 10, 24));
  if (model?.kind !== 'text') throw new Error(`${id} is not a text model`);
  return model;
};

/** One model for each way from a chat completion to a provider. */
const models = {
  sampling: modelOf('gpt-4.1-mini'),
  openai: modelOf('gpt-5.5'),
  claude: modelOf('claude-sonnet-5'),
  haiku: modelOf('claude-haiku-4-5'),
  gemini: modelOf('gemini-3.8-flash'),
};
type Name = keyof typeof models;
const names = ['sampling', 'openai', 'claude', 'haiku', 'gemini'] as const satisfies readonly Name[];

const prepared = (name: Name, changes: Readonly<Record<string, unknown>>): TextRequest => {
  const json = bodyOf({ model: models[name].id, ...changes });
  return toTextParams(json, Buffer.byteLength(JSON.stringify(json)), () => '').validateFor(models[name]);
};

/** `forward`, `list`, `accept`, or status and param of the rejection. */
const outcomeOf = (name: Name, changes: Readonly<Record<string, unknown>>, field: string): string => {
  try {
    const { body, ignored } = prepared(name, changes);
    const isSent = JSON.stringify(body).includes(`"${field.split('.').at(-1)}":`);
    if (isSent) return ignored.length === 0 ? 'forward' : `forward but ${ignored.join()}`;
    return ignored.length === 0 ? 'accept' : ignored.join() === field ? 'list' : `list ${ignored.join()}`;
  } catch (error) {
    if (error instanceof GatewayError) return `${error.status} ${error.param}`;
    throw error;
  }
};

const tools = [tool()];
const forced = { type: 'function', function: { name: 'get_weather' } };

type Row = readonly [
  changes: Readonly<Record<string, unknown>>,
  field: string,
  outcomes: Readonly<Partial<Record<Name, string>>>,
];

const all = (outcome: string): Record<Name, string> => ({
  sampling: outcome,
  openai: outcome,
  claude: outcome,
  haiku: outcome,
  gemini: outcome,
});

const rows: readonly Row[] = [
  [{ temperature: 0.3 }, 'temperature', { ...all('forward'), openai: 'list', claude: 'list' }],
  [{ temperature: 1.5 }, 'temperature', { ...all('list'), sampling: 'forward', gemini: 'forward' }],
  [{ temperature: 1 }, 'temperature', { ...all('forward'), openai: 'accept', claude: 'accept' }],
  [{ top_p: 0.3 }, 'top_p', { ...all('forward'), openai: 'list', claude: 'list' }],
  [{ temperature: 0.3, top_p: 0.3 }, 'top_p', { sampling: 'forward', haiku: 'list', gemini: 'forward' }],
  [{ presence_penalty: 0.5 }, 'presence_penalty', { ...all('list'), sampling: 'forward' }],
  [{ frequency_penalty: 0 }, 'frequency_penalty', { ...all('accept'), sampling: 'forward' }],
  [{ seed: 5 }, 'seed', { ...all('list'), sampling: 'forward', gemini: 'forward' }],
  [{ seed: 2 ** 31 }, 'seed', { ...all('list'), sampling: 'forward' }],
  [{ seed: -(2 ** 31) }, 'seed', { gemini: 'forward' }],
  [{ stop: ['x'] }, 'stop', { ...all('forward'), openai: 'accept' }],
  [{ stop: [] }, 'stop', { openai: 'accept' }],
  [{ stop: '' }, 'stop', all('accept')],
  [
    { stop: ['a', 'b', 'c', 'd', 'e'] },
    'stop',
    { sampling: 'accept', openai: 'accept', claude: 'forward', gemini: 'forward' },
  ],
  [{ logit_bias: {} }, 'logit_bias', { ...all('accept'), sampling: 'forward' }],
  [{ logit_bias: { 5: 1 } }, 'logit_bias', { ...all('list'), sampling: 'forward' }],
  [{ logprobs: true }, 'logprobs', { ...all('list'), sampling: 'forward', openai: '400 logprobs' }],
  [{ logprobs: false }, 'logprobs', { ...all('accept'), sampling: 'forward' }],
  [{ top_logprobs: 2 }, 'top_logprobs', { ...all('list'), sampling: 'forward', openai: '400 top_logprobs' }],
  [{ top_logprobs: 0 }, 'top_logprobs', { openai: 'accept', gemini: 'accept' }],
  [{ n: 2 }, 'n', { openai: '422 n', claude: '422 n', gemini: '422 n' }],
  [{ stream_options: { include_usage: true, more: 1 } }, 'stream_options.more', all('list')],
  [{ tools: [], parallel_tool_calls: true }, 'parallel_tool_calls', all('accept')],
  [{ tools: [{ ...tool({ more: 1 }) }] }, 'tools[].function.more', all('list')],
  [{ tools: [{ ...tool(), more: 1, cache_control: {} }] }, 'tools[].more', all('list')],
  [{ tools: [{ type: 'custom', custom: { name: 'x' } }] }, 'tools', all('400 tools[0].type')],
  [{ tool_choice: 'auto' }, 'tool_choice', all('accept')],
  [{ tools, tool_choice: forced }, 'tool_choice', all('forward')],
  [{ tools, parallel_tool_calls: true }, 'parallel_tool_calls', { ...all('forward'), gemini: 'accept' }],
  [{ tools, parallel_tool_calls: false }, 'parallel_tool_calls', { ...all('forward'), gemini: 'list' }],
  [{ tools, tool_choice: forced, parallel_tool_calls: false }, 'parallel_tool_calls', { gemini: 'accept' }],
  [{ parallel_tool_calls: false }, 'parallel_tool_calls', all('accept')],
  [{ response_format: { type: 'json_object' } }, 'response_format', all('forward')],
  [
    { response_format: { type: 'json_schema', json_schema: { name: 'a', description: 'd', schema: {} } } },
    'response_format.json_schema.description',
    { sampling: 'forward', openai: 'forward', claude: 'list', gemini: 'list' },
  ],
  [{ reasoning_effort: 'low' }, 'reasoning_effort', { ...all('forward'), sampling: 'list', haiku: 'list' }],
  [{ reasoning_effort: 'xhigh' }, 'reasoning_effort', { claude: 'forward', openai: 'forward' }],
  [{ reasoning_effort: 'minimal' }, 'reasoning_effort', { openai: 'forward', haiku: 'list' }],
  [{ output_config: { effort: 'low' } }, 'output_config.effort', { ...all('list'), claude: 'forward' }],
  [{ output_config: {} }, 'output_config', { ...all('accept'), claude: 'forward' }],
  [{ user: 'u' }, 'user', { ...all('forward'), gemini: 'list' }],
  [{ user: 'u'.repeat(257) }, 'user', all('list')],
  [{ user: '😀'.repeat(64) }, 'user', { sampling: 'forward', openai: 'forward' }],
  [{ user: 'u'.repeat(65) }, 'user', { ...all('list'), claude: 'forward', haiku: 'forward' }],
  [{ user: 'ann@example.com' }, 'user', { ...all('list'), sampling: 'forward', openai: 'forward' }],
  [{ user: '+1 (555) 010-0199' }, 'user', { ...all('list'), sampling: 'forward', openai: 'forward' }],
  [{ metadata: {} }, 'metadata', all('accept')],
  [{ metadata: { a: 'b' } }, 'metadata', all('list')],
  [{ metadata: { a: 'b' }, tools }, 'metadata', { ...all('list'), openai: 'forward' }],
  [{ metadata: { a: ['b'] }, tools }, 'metadata', all('list')],
  [{ metadata: { a: 'b'.repeat(513) }, tools }, 'metadata', all('list')],
  [{ metadata: Object.fromEntries([...Array(17).keys()].map((at) => [at, 'b'])), tools }, 'metadata', all('list')],
  [{ prompt_cache_key: 'k' }, 'prompt_cache_key', { ...all('list'), sampling: 'forward', openai: 'forward' }],
  [{ safety_identifier: 's' }, 'safety_identifier', { ...all('list'), sampling: 'forward', openai: 'forward' }],
  [{ prompt_cache_key: 'k'.repeat(65) }, 'prompt_cache_key', all('list')],
  [{ safety_identifier: 's'.repeat(65) }, 'safety_identifier', all('list')],
  [{ verbosity: 'low' }, 'verbosity', { ...all('list'), openai: 'forward' }],
  [{ service_tier: 'auto' }, 'service_tier', { ...all('accept'), sampling: 'forward', openai: 'forward' }],
  [{ service_tier: 'flex' }, 'service_tier', all('400 service_tier')],
  [{ modalities: ['text'] }, 'modalities', { ...all('accept'), sampling: 'forward', openai: 'forward' }],
  [{ store: true }, 'store', all('400 store')],
  [{ prompt_cache_retention: '24h' }, 'prompt_cache_retention', all('400 prompt_cache_retention')],
  [{ prompt_cache_retention: 'in_memory' }, 'prompt_cache_retention', all('list')],
  [{ prompt_cache_options: { mode: 'implicit' } }, 'prompt_cache_options', all('accept')],
  [{ prompt_cache_options: { mode: 'explicit' } }, 'prompt_cache_options', all('list')],
  [{ functions: [] }, 'functions', all('accept')],
  [{ web_search_options: {} }, 'web_search_options', all('400 web_search_options')],
  [{ top_k: 5 }, 'top_k', all('list')],
  [{ reasoning: { effort: 'low' } }, 'reasoning', all('list')],
  [{ models: ['a'] }, 'models', all('400 models')],
  [{ max_token: 5 }, 'max_token', all('400 max_token')],
  [{ max_output_tokens: 5 }, 'max_output_tokens', all('400 max_output_tokens')],
  [
    { messages: [{ ...hello, name: 'Ann' }] },
    'messages[].name',
    { ...all('list'), sampling: 'forward', openai: 'forward' },
  ],
  [
    { messages: showing(png).map((message) => ({ ...message, id: 'm', status: 'done', colour: 'red' })) },
    'messages[].colour',
    all('list'),
  ],
];

test.for(
  rows.flatMap(([changes, field, outcomes]) =>
    names.flatMap((name) => (name in outcomes ? { changes, field, name, outcome: outcomes[name] } : [])),
  ),
)('GEN-16 $changes on a $name model: $outcome', ({ changes, field, name, outcome }) => {
  expect(outcomeOf(name, changes, field)).toBe(outcome);
});

test.for([
  ['gemini', 'none', ['reasoning_effort']],
  ['gemini', 'xhigh', ['reasoning_effort']],
  ['gemini', 'high', []],
  ['claude', 'none', ['reasoning_effort']],
  ['claude', 'xhigh', []],
] as const)('CHAT-9 on a %s model the effort %s is listed as %j', ([name, reasoning_effort, listed]) => {
  expect(prepared(name, { reasoning_effort }).ignored).toEqual(listed);
});

test('CHAT-16 MSG-3 Claude gets no sampling fields where the name turns thinking on', () => {
  const asked = { model: 'claude-haiku-4-5-thinking', temperature: 0.3, top_p: 0.9 };
  expect(prepared('haiku', asked).ignored).toEqual(['temperature', 'top_p']);
  expect(prepared('haiku', { ...asked, temperature: 1, top_p: 1 }).ignored).toEqual([]);
});

test('GEN-16 a chat completion with tools uses the responses API, which lacks some fields', () => {
  expect(prepared('openai', { tools, messages: [{ ...hello, name: 'Ann' }] })).toMatchObject({
    body: { messages: [hello] },
    ignored: ['messages[].name'],
  });
  expect(outcomeOf('openai', { tools, metadata: { a: 'b' } }, 'metadata')).toBe('forward');
  expect(outcomeOf('openai', { tools, service_tier: 'auto' }, 'service_tier')).toBe('accept');
});

test.for(['low', 'original'])('GEN-16 the image detail %s is listed if the provider lacks it', (detail) => {
  const messages = [{ role: 'user', content: [{ type: 'image_url', image_url: { url: png, detail } }] }];
  const field = 'messages[].content[].image_url.detail';
  expect(outcomeOf('sampling', { messages }, field)).toBe('forward');
  for (const name of ['claude', 'gemini'] as const) expect(outcomeOf(name, { messages }, field)).toBe('list');
});

/** History with the members that LiteLLM in its second turn, `model_dump()` and LangChain send. */
const history = [
  hello,
  {
    role: 'assistant',
    id: 'msg_1',
    content: [
      { type: 'thinking', thinking: 'hm', signature: 'x' },
      { type: 'text', text: 'Hi', annotations: [], citations: null },
    ],
    provider_specific_fields: { refusal: null },
    reasoning_content: 'hm',
    thinking_blocks: [{ type: 'thinking', thinking: 'hm' }],
    refusal: null,
    annotations: [],
    audio: null,
    function_call: null,
    parsed: null,
    usage: { total_tokens: 5 },
    tool_calls: [
      {
        id: 'call_1',
        type: 'function',
        index: 0,
        cache_control: { type: 'ephemeral' },
        provider_specific_fields: null,
        function: { name: 'get_weather', arguments: '{}', parsed_arguments: {} },
      },
    ],
  },
  { role: 'tool', tool_call_id: 'call_1', name: 'get_weather', status: 'success', content: 'sunny', id: 't' },
];

test.for(names)('GEN-16 members that clients copy into the history are accepted and not sent on %s', (name) => {
  const { body, ignored } = prepared(name, { tools, messages: history });
  expect(ignored).toEqual([]);
  expect(body.messages).toEqual([
    hello,
    {
      role: 'assistant',
      content: [{ type: 'text', text: 'Hi' }],
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
  ]);
});

test('CHAT-2 a message with only thoughts is sent as an empty one', () => {
  const messages = [hello, { role: 'assistant', content: [{ type: 'reasoning', text: 'hm' }] }, hello];
  expect(prepared('sampling', { messages }).body.messages).toEqual([hello, { role: 'assistant', content: '' }, hello]);
});

test.for([
  [{ role: 'function', name: 'f', content: 'x' }, 'messages[1].role', 'tool'],
  [{ role: 'assistant', content: 'x', audio: { id: 'audio_1' } }, 'messages[1].audio', 'content'],
  [
    { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
    'messages[1].function_call',
    'tool_calls',
  ],
  [{ role: 'user', content: [{ type: 'input_audio', input_audio: {} }] }, 'messages[1].content[0].type', 'text'],
] as const)('GEN-16 %j is 400 at %s', ([message, param, fix]) => {
  expect(() => prepared('sampling', { messages: [hello, message] })).toThrow(
    expect.objectContaining({ status: 400, param, message: expect.stringContaining(fix) }),
  );
});

const open = {
  type: 'object',
  properties: {
    people: { type: 'array', items: { type: 'object', properties: { name: { type: 'string', default: null } } } },
    map: { type: 'object', additionalProperties: { type: 'string' } },
    properties: { anyOf: [{ $ref: '#/$defs/a' }, { type: 'null' }] },
  },
  $defs: { a: { properties: { b: { enum: [null, { type: 'object' }] } } } },
};
const formatOf = (strict: boolean | undefined) => ({
  response_format: { type: 'json_schema', json_schema: { name: 'a', schema: open, strict } },
});

test('CHAT-8 Claude gets a rewritten schema, the hold counts it, and OpenAI gets it unchanged', () => {
  const schemaFor = (name: Name, strict: boolean | undefined) => {
    const format = prepared(name, formatOf(strict)).toConversation?.().format;
    return format?.kind === 'json_schema' ? format.schema : undefined;
  };
  expect(schemaFor('claude', undefined)).toMatchObject({ additionalProperties: false });
  expect(schemaFor('claude', true)).toEqual(schemaFor('claude', undefined));
  expect(schemaFor('openai', undefined)).toEqual(open);
  const tokens = (name: Name) => promptTokensAtMost(models[name], prepared(name, formatOf(false)));
  expect(tokens('claude') - tokens('openai')).toBeGreaterThan(10);
});

const bounded = { type: 'object', properties: { a: { type: 'string', minLength: 1, pattern: '^(?=a)' } } };
const calling = (strict: boolean, parameters: object = bounded) => ({
  tools: [{ type: 'function', function: { name: 'a', parameters, strict } }],
});

test.each<[Name, Readonly<Record<string, unknown>>, readonly string[]]>([
  ['claude', calling(true), ['minLength', 'pattern']],
  ['claude', calling(false), []],
  ['claude', calling(false, { anyOf: [bounded, { type: 'object' }] }), ['anyOf']],
  ['gemini', calling(true, { anyOf: [bounded, { type: 'object' }] }), []],
  ['openai', calling(true), []],
])('CHAT-8 on %s, %j lists %j of the parameters', (name, body, keywords) => {
  expect(prepared(name, body).ignored).toEqual(keywords.map((keyword) => `tools[].function.parameters.${keyword}`));
});

test.each<[Name, readonly string[]]>([
  ['claude', ['minLength', 'pattern']],
  ['gemini', ['minLength', 'pattern']],
  ['openai', []],
])('CHAT-8 %s lists the keywords %j of a format', (name, keywords) => {
  const format = { response_format: { type: 'json_schema', json_schema: { name: 'a', schema: bounded } } };
  const names = keywords.map((keyword) => `response_format.json_schema.schema.${keyword}`);
  expect(prepared(name, format).ignored).toEqual(names);
});

test('CHAT-8 the hold on Claude counts the instruction that replaces json_object', () => {
  const tokens = (name: Name, type: string) => prepared(name, { response_format: { type } }).prompt.textTokens ?? 0;
  const added = (name: Name) => tokens(name, 'json_object') - tokens(name, 'text');
  expect(added('claude')).toBeGreaterThan(added('gemini') + 10);
});

test('GEN-16 the size of a prompt excludes ignored fields', () => {
  const size = (changes: object) => prepared('claude', { ...changes }).prompt;
  const long = 'x'.repeat(100_000);
  expect(size({ unknown: long })).toEqual(size({}));
  expect(size({ metadata: { a: long } })).toEqual(size({}));
});

/** Objects whose members belong to the client: a schema, its parts, and named values. */
const own = new Set(['parameters', 'schema', 'metadata', 'logit_bias', 'arguments', 'extra_content']);

const isJsonList = (value: JsonValue | undefined): value is readonly JsonValue[] => Array.isArray(value);

/** Returns a copy with `extra` in one of its objects: the one with the index `at`, modulo the number of objects. */
const withMembers = (json: JsonObject, at: number, extra: JsonObject): JsonObject => {
  let objects = 0;
  const count = (value: JsonValue | undefined): void => {
    if (isJsonList(value)) value.forEach(count);
    if (!isJsonObject(value)) return;
    objects += 1;
    for (const [name, member] of Object.entries(value)) if (!own.has(name)) count(member);
  };
  count(json);
  let left = at % objects;
  const copy = (value: JsonValue | undefined): JsonValue | undefined => {
    if (isJsonList(value)) return value.map((member) => copy(member) ?? null);
    if (!isJsonObject(value)) return value;
    const more = left === 0 ? extra : {};
    left -= 1;
    const members = Object.entries(value).map(([name, member]) => [name, own.has(name) ? member : copy(member)]);
    return { ...Object.fromEntries(members), ...more };
  };
  const copied = copy(json);
  if (!isJsonObject(copied)) throw new Error('not an object');
  return copied;
};

const full = {
  messages: [...history, ...showing(png)],
  tools,
  tool_choice: forced,
  response_format: { type: 'json_schema', json_schema: { name: 'a', schema: open } },
  stream: true,
  stream_options: { include_usage: true },
  metadata: { a: 'b' },
  max_tokens: 50,
};

test('GEN-16 unknown members at any depth reach no provider and change no hold or header', () => {
  const name = fc.string({ minLength: 8, maxLength: 80 }).map((text) => `zz${text}`);
  const members = fc.dictionary(name, fc.jsonValue({ maxDepth: 2 }), { minKeys: 1, maxKeys: 30 });
  fc.assert(
    fc.property(fc.constantFrom(...names), fc.nat(), members, (model, at, extra) => {
      const json = bodyOf({ model: models[model].id, ...full });
      const grown = bodyOf(withMembers(json, at, extra));
      const validateFor = (body: JsonObject) =>
        toTextParams(body, Buffer.byteLength(JSON.stringify(body)), () => '').validateFor(models[model]);
      const [without, request] = [validateFor(bodyOf({ ...json })), validateFor({ ...grown, model: models[model].id })];
      expect(request.body).toEqual(without.body);
      expect(promptTokensAtMost(models[model], request)).toBeLessThanOrEqual(
        promptTokensAtMost(models[model], without),
      );
      expect(request.ignored.length).toBeLessThanOrEqual(20);
      expect(request.ignored.join()).toMatch(/^[\w.[\]%,-]*$/);
    }),
    { numRuns: 300 },
  );
});

test('BILL-5 the signature of a call counts only for models to which it is sent', () => {
  const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } };
  const calledWith = (signature: string) => {
    const signed = { ...call, extra_content: { google: { thought_signature: signature } } };
    return [hello, { role: 'assistant', content: null, tool_calls: [signed] }];
  };
  const held = (name: Name, signature: string, tools: readonly object[]) =>
    promptTokensAtMost(models[name], prepared(name, { messages: calledWith(signature), tools }));
  const signature = 'Zx9'.repeat(10_000);
  for (const tools of [[], [tool()]]) {
    expect(held('gemini', signature, tools)).toBeGreaterThan(10_000);
    expect(held('claude', signature, tools)).toBe(held('claude', '', tools));
  }
});
