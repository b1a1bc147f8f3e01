import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../../lambdas/core/json.ts';
import { bodyOf, prepared, refusalOf, shipped } from './responses-requests.ts';

const model = shipped('gpt-5.5-pro');
const INCLUDE = { include: ['reasoning.encrypted_content'] };
const user = (content: unknown, more: object = {}) => ({ role: 'user', content, ...more });
const said = (content: unknown, more: object = {}) => ({ type: 'message', role: 'assistant', content, ...more });
const weather = { type: 'function', name: 'weather', parameters: { type: 'object' }, strict: true };
const text = { type: 'input_text', text: 'a' };

/** Members of the request, the members that are sent, and the fields that are listed. */
type Row = readonly [about: string, sent: object, left: object, ignored?: readonly string[]];

const rows: readonly Row[] = [
  ['an unknown field', { foo: 1, max_tool_calls: 3 }, {}, ['foo', 'max_tool_calls']],
  ['a sampling hint', { temperature: 0.2, top_p: 0.5 }, {}, ['temperature', 'top_p']],
  [
    'a default',
    { temperature: 1, top_p: 1, top_logprobs: 0, parallel_tool_calls: true },
    { parallel_tool_calls: true },
  ],
  ['data of Codex', { client_metadata: { turn_id: 't', session_id: 's' } }, {}],
  [
    'null at any depth',
    {
      ...{ tools: null, text: null, user: null, metadata: null, store: null, foo: null, client_metadata: null },
      reasoning: { effort: 'high', summary: null, context: null, mode: null },
    },
    { reasoning: { effort: 'high' } },
  ],
  [
    'a refused field without an effect',
    {
      ...{ store: false, background: false, previous_response_id: null, conversation: null },
      ...{ prompt: null, context_management: [], moderation: null },
    },
    {},
  ],
  ['an empty list of tools', { tools: [] }, {}],
  ['a cache retention', { prompt_cache_retention: 'in_memory' }, {}, ['prompt_cache_retention']],
  [
    'the default mode of reasoning',
    { reasoning: { mode: 'standard', effort: 'high' } },
    { reasoning: { effort: 'high' } },
  ],
  [
    'an unknown member of reasoning, text and its format',
    {
      reasoning: { effort: 'high', budget: 1 },
      text: { verbosity: 'low', tone: 'x', format: { type: 'json_schema', name: 'a', schema: { x: null }, y: 1 } },
    },
    {
      reasoning: { effort: 'high' },
      text: { verbosity: 'low', format: { type: 'json_schema', name: 'a', schema: { x: null } } },
    },
    ['reasoning.budget', 'text.format.y', 'text.tone'],
  ],
  [
    'an unknown member of stream_options',
    { stream: true, stream_options: { include_usage: true, include_obfuscation: false } },
    { stream: true, stream_options: { include_obfuscation: false } },
    ['stream_options.include_usage'],
  ],
  ['stream_options without a stream', { stream_options: { include_obfuscation: false } }, {}],
  ['the default of a cache', { prompt_cache_options: { mode: 'implicit', ttl: null } }, {}],
  ['other options of a cache', { prompt_cache_options: { ttl: '12h' } }, {}, ['prompt_cache_options']],
  ['explicit marks of a cache', { prompt_cache_options: { mode: 'explicit' } }, {}, ['prompt_cache_options']],
  ['an include for a tool at the provider', { include: ['web_search_call.results', 'x'] }, {}, ['include[]']],
  [
    'one include of two',
    { include: ['file_search_call.results', 'message.input_image.image_url'] },
    { include: ['message.input_image.image_url', ...INCLUDE.include] },
    ['include[]'],
  ],
  [
    'an unknown member of a user message and its parts',
    { input: [user([{ ...text, prompt_cache_breakpoint: { mode: 'explicit' } }], { name: 'n' })] },
    { input: [user([text])] },
    ['input[].content[].prompt_cache_breakpoint', 'input[].name'],
  ],
  [
    'the id and status of a user message',
    { input: [user('a', { id: 'msg_1', status: 'completed', phase: null })] },
    { input: [user('a')] },
  ],
  [
    'an unknown member of a system message',
    { input: [{ role: 'developer', content: 'a', cache: 1 }] },
    { input: [{ role: 'developer', content: 'a' }] },
    ['input[].cache'],
  ],
  [
    'members that clients copy from a response',
    {
      input: [
        user('a'),
        said(
          [
            { type: 'output_text', text: 'b', annotations: [{ type: 'url_citation' }], logprobs: [], parsed: { a: 1 } },
            { type: 'refusal', refusal: 'no', x: 1 },
          ],
          { id: 'msg_1', status: 'completed', phase: 'final_answer', created_by: null, x: { y: 1 } },
        ),
      ],
    },
    {
      input: [
        user('a'),
        said(
          [
            { type: 'output_text', text: 'b' },
            { type: 'refusal', refusal: 'no' },
          ],
          { phase: 'final_answer' },
        ),
      ],
    },
  ],
  [
    'client data in calls and their results',
    {
      input: [
        {
          type: 'function_call',
          id: 'item_1',
          call_id: 'c',
          name: 'n',
          arguments: '{"a":null}',
          status: 'completed',
          parsed_arguments: {},
          caller: null,
          namespace: null,
          created_by: null,
          async_: null,
        },
        {
          type: 'function_call_output',
          id: 'fco_1',
          call_id: 'c',
          output: [{ ...text, x: 1 }],
          status: null,
          name: 'n',
          caller: { type: 'direct' },
        },
        {
          type: 'custom_tool_call',
          id: 'ctc_1',
          call_id: 'd',
          name: 'patch',
          input: 'x',
          status: 'completed',
          caller: { type: 'direct', x: 1 },
          namespace: 'files',
        },
        { type: 'custom_tool_call_output', id: 'ctco_1', call_id: 'd', output: 'done', created_by: 'me' },
      ],
    },
    {
      input: [
        { type: 'function_call', call_id: 'c', name: 'n', arguments: '{"a":null}' },
        { type: 'function_call_output', call_id: 'c', output: [text] },
        { type: 'custom_tool_call', call_id: 'd', name: 'patch', input: 'x', namespace: 'files' },
        { type: 'custom_tool_call_output', call_id: 'd', output: 'done' },
      ],
    },
  ],
];

test.for(rows)('GEN-16 %s is not sent', ([, sent, left, ignored = []]) => {
  const request = prepared(sent);
  expect(request.body).toEqual(bodyOf({ ...INCLUDE, ...left }));
  expect(request.ignored).toEqual(ignored);
  expect(request.prompt).toEqual({ ...prepared(left).prompt, bytes: expect.any(Number) });
});

test.each<[object, string, string]>([
  [{ max_output_token: 5 }, 'max_output_token', 'Did you mean max_output_tokens?'],
  [{ maxOutputTokens: 5 }, 'maxOutputTokens', 'Did you mean max_output_tokens?'],
  [{ inputs: 'a' }, 'inputs', 'Did you mean input?'],
  [{ tool: [] }, 'tool', 'Did you mean tools?'],
  [{ toolChoice: 'auto' }, 'toolChoice', 'Did you mean tool_choice?'],
  [{ messages: [] }, 'messages', 'Did you mean input?'],
  [{ contents: [] }, 'contents', 'Did you mean input?'],
  [{ response_format: { type: 'json_object' } }, 'response_format', 'Did you mean text.format?'],
  [{ responseFormat: { type: 'json_object' } }, 'responseFormat', 'Did you mean text.format?'],
  [{ reasoning_effort: 'low' }, 'reasoning_effort', 'Did you mean reasoning.effort?'],
  [{ max_tokens: 5 }, 'max_tokens', 'Did you mean max_output_tokens?'],
  [{ max_completion_tokens: 5 }, 'max_completion_tokens', 'Did you mean max_output_tokens?'],
])('GEN-16 %j is rejected at %s', (sent, param, message) => {
  expect(refusalOf(sent)).toMatchObject({ status: 400, param, message: expect.stringContaining(message) });
});

test('GEN-16 a client’s field that `extraFields` lists is sent and not reported as ignored', () => {
  const request = prepared({ seed: 1, foo: null, bar: 2 }, { ...model, extraFields: ['seed', 'foo'] });
  expect(request.body).toEqual(bodyOf({ ...INCLUDE, seed: 1, foo: null }));
  expect(request.ignored).toEqual(['bar']);
});

test.each(['user', 'prompt_cache_key', 'safety_identifier'])('CHAT-16 a %s above 64 characters is ignored', (name) => {
  const order = (text: string) => {
    const { body, ignored } = prepared({ [name]: text });
    return [body[name], ignored];
  };
  expect(order('😀'.repeat(64))).toEqual(['😀'.repeat(64), []]);
  expect(order('x'.repeat(65))).toEqual([undefined, [name]]);
});

/** Request whose objects all accept unknown members, except the objects in `ownShapes`, which the client defines. */
const crowded = {
  input: [
    user([text, { type: 'input_image', image_url: 'https://example.com/a.png' }]),
    { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 's' }], encrypted_content: 'x' },
    said([{ type: 'output_text', text: 'b' }]),
    { type: 'function_call', call_id: 'c', name: 'n', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c', output: [text] },
    { type: 'tool_search_call', call_id: 's', execution: 'client', arguments: { query: 'q' } },
    { type: 'tool_search_output', call_id: 's', execution: 'client', tools: [{ ...weather, defer_loading: true }] },
  ],
  tools: [
    weather,
    { type: 'custom', name: 'patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' } },
    { type: 'namespace', name: 'files', description: 'd', tools: [{ ...weather, defer_loading: true }] },
    { type: 'tool_search', execution: 'client', parameters: { type: 'object' } },
  ],
  tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'weather' }] },
  reasoning: { effort: 'high', context: 'all_turns' },
  text: { format: { type: 'json_schema', name: 'a', schema: { type: 'object' } } },
  metadata: { a: 'b' },
  stream: true,
  stream_options: { include_obfuscation: false },
};

const ownShapes: ReadonlySet<string> = new Set(['parameters', 'schema', 'arguments', 'metadata']);

/** Calls `change` with every object that the gateway's schema describes. */
const inObjects = (value: JsonValue, change: (object: JsonObject) => JsonObject): JsonValue => {
  if (Array.isArray(value)) return value.map((member: JsonValue) => inObjects(member, change));
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([name, member]): [string, JsonValue] => [
    name,
    ownShapes.has(name) || member === undefined ? (member ?? null) : inObjects(member, change),
  ]);
  return change(Object.fromEntries(members));
};

const objectsIn = (value: JsonValue): number => {
  let count = 0;
  inObjects(value, (object) => {
    count += 1;
    return object;
  });
  return count;
};

test.each<[string, object]>([
  ['a text', {}],
  ['a whole conversation with tools', crowded],
])('GEN-16 unknown members of %s never reach the provider, and change no hold', (_about, base) => {
  const plain = prepared(base);
  const places = objectsIn(bodyOf(base));
  const unknown = fc.record({
    at: fc.nat(places - 1),
    name: fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('temperature', 'web_search', 'type_', 'id_', 'seed')),
    value: fc.jsonValue({ maxDepth: 1 }),
  });
  fc.assert(
    fc.property(fc.array(unknown, { minLength: 1, maxLength: 30 }), (added) => {
      let at = -1;
      const crowd = (object: JsonObject): JsonObject => {
        at += 1;
        const here = added.filter((entry) => entry.at === at);
        const members = here.map(({ name, value }) => [`x-${name}`, JSON.parse(JSON.stringify(value))]);
        return { ...Object.fromEntries(members), ...object };
      };
      const request = prepared(Object(inObjects(bodyOf(base), crowd)));
      expect(request.body).toEqual(plain.body);
      expect(request.prompt).toEqual(plain.prompt);
      expect(request.usesTools).toBe(plain.usesTools);
      expect(request.ignored.length).toBeLessThanOrEqual(20);
      for (const name of request.ignored) expect(name).toMatch(/^[\w.[\]%-]{1,64}$/);
    }),
    { numRuns: 60 },
  );
});
