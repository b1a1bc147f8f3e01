import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../../lambdas/core/json.ts';
import { promptTokensAtMost } from '../../../../lambdas/core/text/token-estimate.ts';
import {
  bodyOf,
  entryOf,
  hello,
  image,
  inline,
  jsonOf,
  ordered,
  prepared,
  refusalOf,
  result,
  saying,
  text,
  tool,
} from './messages-requests.ts';

const OPUS = 'claude-opus-5-5';
const SONNET = 'claude-sonnet-5';
/** Model with neither an effort nor adaptive thinking. */
const HAIKU = 'claude-haiku-4-5';

const answered = (...content: readonly unknown[]) => ({ messages: [hello, { role: 'assistant', content }] });
const call = (changes: object = {}) => ({ type: 'tool_use', id: 't', name: 'f', input: { a: null }, ...changes });
const url = image({ type: 'url', url: 'https://example.com/a.png' });
const scoped = { type: 'ephemeral', scope: 'global' };
const ephemeral = { type: 'ephemeral' };
const budget = { type: 'tokens', total: 50_000 };

type Fields = Readonly<Record<string, unknown>>;
type Row = readonly [what: string, sent: Fields, received: Fields, ignored: readonly string[]];

const accepted: readonly Row[] = [
  [
    'null in optional fields',
    {
      ...{ system: null, tools: null, tool_choice: null, metadata: null, thinking: null, stream: null, top_k: null },
      ...{ stop_sequences: null, temperature: null, container: null, context_management: null, output_config: null },
      ...{ inference_geo: null, speed: null, mcp_servers: null, thread: null, output_format: null, foo: null },
    },
    {},
    [],
  ],
  [
    'null inside',
    {
      metadata: { user_id: null },
      system: [text({ cache_control: null })],
      tools: [tool({ type: null, strict: null })],
    },
    { metadata: {}, system: [text()], tools: [tool()] },
    [],
  ],
  ['empty fields that are otherwise refused', { mcp_servers: [], fallbacks: [], thread: {}, container: {} }, {}, []],
  ['the standard speed', { speed: 'standard' }, {}, []],
  ['an empty output_config', { output_config: {} }, {}, []],
  ['citations without content', saying(text({ citations: [] }), text({ citations: null })), saying(text(), text()), []],
  [
    'client data in messages and blocks',
    {
      messages: [
        { ...hello, id: 'm', status: 'completed', name: 'a' },
        { role: 'assistant', content: [text({ parsed_output: {} })] },
      ],
    },
    answered(text()),
    [],
  ],
  [
    'client data in calls and results',
    {
      messages: [
        { role: 'assistant', content: [call({ caller: null, toolset_name: null, index: 0 })] },
        ...saying(result({ toolset_name: null, name: 'f' })).messages,
      ],
    },
    { messages: [{ role: 'assistant', content: [call()] }, ...saying(result()).messages] },
    [],
  ],
  [
    'null in a schema',
    { tools: [tool({ input_schema: { default: null, x: 1 } })] },
    { tools: [tool({ input_schema: { default: null, x: 1 } })] },
    [],
  ],
  [
    'the effort of a turn',
    { messages: [hello, { role: 'system', content: 'a', output_config: { effort: 'low' } }] },
    { messages: [hello, { role: 'system', content: 'a' }] },
    [],
  ],
  [
    'messages that only set the effort of a turn',
    {
      messages: [
        hello,
        { role: 'system', output_config: { effort: 'low' } },
        { role: 'system', content: [], output_config: {} },
      ],
    },
    { messages: [hello] },
    [],
  ],
];

const listed: readonly Row[] = [
  [
    'unknown fields',
    { foo: 1, betas: ['a'], diagnostics: { x: 1 }, user_profile_id: 'u', toString: 1 },
    {},
    ['betas', 'diagnostics', 'foo', 'toString', 'user_profile_id'],
  ],
  [
    'other members of metadata',
    { metadata: { user_id: 'u', session: 1 } },
    { metadata: { user_id: 'u' } },
    ['metadata.session'],
  ],
  ['a long user_id', { metadata: { user_id: 'u'.repeat(257) } }, { metadata: {} }, ['metadata.user_id']],
  ['the scope of a cache', { cache_control: scoped }, { cache_control: ephemeral }, ['cache_control.scope']],
  [
    'the scope of a cache of blocks',
    saying(text({ cache_control: scoped })),
    saying(text({ cache_control: ephemeral })),
    ['messages[].content[].cache_control.scope'],
  ],
  ['defer_loading', { tools: [tool({ defer_loading: true })] }, { tools: [tool()] }, ['tools[].defer_loading']],
  ['unknown members of a tool', { tools: [tool({ max_uses: 1 })] }, { tools: [tool()] }, ['tools[].max_uses']],
  [
    'members of a format',
    { output_config: { format: { type: 'json_schema', schema: {}, name: 'a' } } },
    { output_config: { format: { type: 'json_schema', schema: {} } } },
    ['output_config.format.name'],
  ],
  [
    'members of thinking',
    { thinking: { type: 'disabled', display: 'omitted' } },
    { thinking: { type: 'disabled' } },
    ['thinking.display'],
  ],
  [
    'members of a source',
    saying(image({ type: 'url', url: 'https://a.b/c', detail: 'low' })),
    saying(image({ type: 'url', url: 'https://a.b/c' })),
    ['messages[].content[].source.detail'],
  ],
  ['an effort that the model lacks', { output_config: { effort: 'low' } }, {}, ['output_config.effort']],
  [
    'an effort that the model lacks, with a budget',
    { output_config: { effort: 'low', task_budget: budget } },
    { output_config: { task_budget: budget } },
    ['output_config.effort'],
  ],
];

test.for([...accepted, ...listed])(
  'GEN-16 %s: the sent and the listed fields are correct',
  ([, sent, received, ignored]) => {
    const request = prepared(sent);
    expect(request.body).toEqual({ ...bodyOf({}), ...received });
    expect(request.ignored).toEqual(ignored);
  },
);

test.for([{ temperature: 0.5 }, { top_p: 0.5 }, { top_k: 5 }])(
  'CHAT-16 %j is a hint: ignored by a model that lacks it',
  (hint) => {
    const request = prepared({ model: SONNET, ...hint });
    expect(request.body).toEqual(bodyOf({ model: SONNET }));
    expect(request.ignored).toEqual(Object.keys(hint));
    expect(prepared(hint).ignored).toEqual([]);
  },
);

const pdf = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0xLjQ=' };
const document = (changes: object = {}) => ({ type: 'document', source: pdf, ...changes });
const searchResult = {
  type: 'search_result',
  source: 'https://a.b',
  title: 'a',
  content: [text()],
  citations: { enabled: true },
};
const cited = { cited_text: 'a', document_index: 0, document_title: null };

test.for<Fields>([
  saying(document({ title: 'a', context: 'b', citations: { enabled: true }, cache_control: ephemeral })),
  saying(document({ source: { type: 'text', media_type: 'text/plain', data: 'hello' } })),
  saying(document({ source: { type: 'content', content: 'hello' } })),
  saying(document({ source: { type: 'content', content: [text(), url] } })),
  saying(searchResult),
  saying(result({ content: [document(), searchResult, { type: 'tool_reference', tool_name: 'get_weather' }] })),
  answered(text({ citations: [{ type: 'char_location', start_char_index: 0, end_char_index: 1, ...cited }] })),
  answered(text({ citations: [{ type: 'page_location', start_page_number: 1, end_page_number: 2, ...cited }] })),
  { context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] } },
  { context_management: { edits: [{ type: 'clear_thinking_20251015', keep: { type: 'thinking_turns', value: 2 } }] } },
  {
    context_management: {
      edits: [
        {
          ...{ type: 'clear_tool_uses_20250919', trigger: { type: 'input_tokens', value: 30_000 } },
          ...{ keep: { type: 'tool_uses', value: 3 }, clear_at_least: { type: 'input_tokens', value: 5_000 } },
          ...{ clear_tool_inputs: ['f'], exclude_tools: ['web'] },
        },
      ],
    },
  },
  { output_config: { task_budget: budget } },
  {
    tools: [
      { type: 'bash_20250124', name: 'bash' },
      { type: 'memory_20250818', name: 'memory', strict: true },
    ],
  },
  { tools: [{ type: 'text_editor_20250728', name: 'str_replace_based_edit_tool', max_characters: 9_000 }] },
  { messages: [hello, { role: 'system', content: [text()], clear_at: 'next_user_message' }] },
])('MSG-1 %j is sent unchanged', (fields) => {
  const request = prepared(fields);
  expect(request.body).toEqual(bodyOf(fields));
  expect(request.ignored).toEqual([]);
});

const schema = { type: 'json_schema', schema: { type: 'object' } };

test('MSG-1 output_format is sent as output_config.format', () => {
  expect(prepared({ output_format: schema }).body).toEqual(bodyOf({ output_config: { format: schema } }));
  const both = { output_format: schema, output_config: { format: schema, effort: 'low' } };
  expect(prepared({ model: SONNET, ...both }).body.output_config).toEqual({ format: schema, effort: 'low' });
  expect(prepared({ model: OPUS, output_format: schema }).body.output_config).toEqual({
    format: schema,
    effort: 'high',
  });
  const other = { output_format: schema, output_config: { format: { ...schema, schema: {} } } };
  expect(refusalOf(other)).toMatchObject({ status: 400, param: 'output_format' });
});

test('MSG-2 between_tools is sent to the model that has it', () => {
  const thinking = { type: 'between_tools' };
  expect(prepared({ model: 'claude-sonnet-5-5', thinking }).body.thinking).toEqual(thinking);
  const error = refusalOf({ model: SONNET, thinking });
  expect(error).toMatchObject({ status: 400, param: 'thinking.type' });
  expect(error.message).toContain('claude-sonnet-5-5');
});

test('GEN-16 an extra field of the catalog entry is sent and not reported as ignored', () => {
  const knowing = { ...entryOf(HAIKU), extraFields: ['min_p'] };
  const { body, ignored } = prepared({ min_p: 1, foo: 1 }, knowing);
  expect(body).toEqual(bodyOf({ min_p: 1 }));
  expect(ignored).toEqual(['foo']);
});

const turn = { role: 'system', content: [], output_config: { effort: 'low' } };

test.for(['mid-conversation-output-config-2026-07-01', 'per-turn-control-2026-07-01'])(
  'MSG-4 with the beta %s the effort of a turn is sent',
  (beta) => {
    const fields = { messages: [hello, turn] };
    expect(prepared(fields, undefined, beta).body).toEqual(bodyOf(fields));
    expect(prepared(fields).body).toEqual(bodyOf({}));
  },
);

/** Body with nearly every place to which a member can be added. */
const rich = jsonOf({
  model: OPUS,
  max_tokens: 100,
  system: [text({ cache_control: ephemeral })],
  tools: [tool({ input_examples: [{ a: 1 }] })],
  tool_choice: { type: 'auto' },
  thinking: { type: 'adaptive', display: 'omitted' },
  output_config: { effort: 'low', format: schema, task_budget: budget },
  context_management: { edits: [{ type: 'clear_thinking_20251015', keep: { type: 'all' } }] },
  metadata: { user_id: 'u' },
  messages: [
    { role: 'user', content: [text(), inline('image/png'), document({ citations: { enabled: true } }), searchResult] },
    { role: 'assistant', content: [text(), call()] },
    { role: 'user', content: [result({ content: [text(), document()] })] },
    { role: 'system', content: [text()], clear_at: 'never' },
  ],
});

/** Members whose content belongs to the client and has no known fields. */
const theirs = ['input', 'schema', 'input_schema', 'input_examples'];

type Step = string | number;
const objectsIn = (value: unknown, path: readonly Step[] = []): readonly (readonly Step[])[] => {
  if (Array.isArray(value)) return value.flatMap((member, index) => objectsIn(member, [...path, index]));
  if (typeof value !== 'object' || value === null) return [];
  const inside = Object.entries(value).filter(([name]) => !theirs.includes(name));
  return [path, ...inside.flatMap(([name, member]) => objectsIn(member, [...path, name]))];
};

/** Copy with one more member in the object at the path. */
const withMember = (value: unknown, [step, ...rest]: readonly Step[], name: string, member: unknown): unknown => {
  if (Array.isArray(value))
    return value.map((item, index) => (index === step ? withMember(item, rest, name, member) : item));
  if (typeof value !== 'object' || value === null) throw new Error('no object');
  if (step === undefined) return { ...value, [name]: member };
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, key === step ? withMember(item, rest, name, member) : item]),
  );
};

test('GEN-16 a random unknown member at any depth is never sent and changes no hold', () => {
  const model = entryOf(OPUS);
  const held = (json: JsonObject) => {
    const request = ordered(json).validateFor(model);
    return { tokens: promptTokensAtMost(model, request), request };
  };
  const plain = held(rich);
  fc.assert(
    fc.property(
      fc.constantFrom(...objectsIn(rich)),
      // No field name has any of these characters.
      fc.string({ unit: fc.constantFrom('ж', 'Z', '7', '"', '\n', 'Q'), minLength: 3, maxLength: 90 }),
      fc.jsonValue(),
      (path, name, value) => {
        const json = withMember(rich, path, name, value);
        const { request, tokens } = held(jsonOf(json));
        expect(request.body).toEqual(plain.request.body);
        expect(tokens).toBe(plain.tokens);
        expect(request.prompt).toEqual(plain.request.prompt);
        expect(request.headers).toEqual(plain.request.headers);
        for (const entry of request.ignored) expect(entry).toMatch(/^[\w.[\]%-]{1,64}$/);
      },
    ),
  );
});
