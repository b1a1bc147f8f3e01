import Anthropic from '@anthropic-ai/sdk';
import { expect, test } from 'vitest';
import { pdfOf } from '../pdf-samples.ts';
import { startSimulated } from '../simulated.ts';

const { anthropic } = await startSimulated();

const model = 'claude-sonnet-5-5';
const old = 'claude-haiku-4-5';
const user = (content: unknown) => ({ role: 'user', content });
const assistant = (...content: unknown[]) => ({ role: 'assistant', content });
const system = (content: unknown, more: object = {}) => ({ role: 'system', content, ...more });

/** Sends bodies that the SDK's types do not allow, through the SDK. */
const post = (change: object, betas: readonly string[] = [], path = '/v1/messages?beta=true') => {
  const body = { model, max_tokens: 2_000, messages: [user('Hello')], ...change };
  return anthropic.post<Anthropic.Beta.BetaMessage>(path, { body, headers: { 'anthropic-beta': betas.join(',') } });
};
const messageOf = (change: object, betas?: readonly string[]) =>
  post(change, betas).then(
    () => 'accepted',
    (error: unknown) => (error instanceof Anthropic.BadRequestError ? error.apiMessage : String(error)),
  );
const inputTokens = async (change: object) => (await post(change)).usage.input_tokens;

const initial =
  "messages.0: use the top-level 'system' parameter for the initial system prompt; the directive-only form " +
  '(content: [] with output_config) is accepted at any position';
const effort = { output_config: { effort: 'low' } };
const perTurn = 'per-turn-control-2026-07-01';

test.each<[string, object, readonly string[], string]>([
  ['after the user', { messages: [user('Hi'), system('Be brief')] }, [], 'accepted'],
  ['first', { messages: [system('Be brief'), user('Hi')] }, [], initial],
  [
    'to a model that does not support it',
    { model: old, messages: [user('Hi'), system('Be brief')] },
    [],
    "role 'system' is not supported on this model",
  ],
  ['that changes the effort', { messages: [user('Hi'), system([], effort)] }, [perTurn], 'accepted'],
  [
    'that changes the effort without the beta',
    { messages: [user('Hi'), system([], effort)] },
    ['effort-2025-11-24'],
    'messages.1.output_config: Extra inputs are not permitted',
  ],
  [
    'that is empty',
    { messages: [user('Hi'), system([])] },
    [],
    'messages: all messages must have non-empty content except for the optional final assistant message',
  ],
])('a system message %s gets the response of Anthropic', async (_, change, betas, message) => {
  expect(await messageOf(change, betas)).toBe(message);
});

const edits = { context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } };
const budget = { output_config: { task_budget: { type: 'tokens', total: 20_000 } } };
const removal = [user('Hi'), system([{ type: 'tool_removal', tool: { type: 'tool_reference', name: 'look' } }])];

test.each<[string, string, object, string]>([
  ['context-management-2025-06-27', 'context_management', edits, 'context_management: Extra inputs are not permitted'],
  ['task-budgets-2026-03-13', 'a task budget', budget, 'output_config.task_budget: Extra inputs are not permitted'],
  [
    'mid-conversation-system-clear-at-2026-08-21',
    'clear_at',
    { messages: [user('Hi'), system('Now', { clear_at: 'next_user_message' })] },
    'messages.1.clear_at: Extra inputs are not permitted',
  ],
  [
    'mid-conversation-tool-changes-2026-07-01',
    'a change of tools',
    { messages: removal },
    "messages.1.content.0: Input tag 'tool_removal' found using 'type' does not match any of the expected tags",
  ],
])('beta %s allows %s', async (beta, _, change, message) => {
  expect(await messageOf(change)).toBe(message);
  expect(await messageOf(change, ['claude-code-20250219', beta])).toBe('accepted');
});

const pdf = (data: string) => ({ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data } });
const cited = { type: 'char_location', cited_text: 'Rome', document_index: 0, document_title: null };
const result = {
  type: 'search_result',
  source: 'https://example.com',
  title: 'Rome',
  content: [{ type: 'text', text: 'x' }],
};
const use = (id: string) => ({ type: 'tool_use', id, name: 'look', input: {}, caller: { type: 'direct' } });
const toolResult = (id: string, content: unknown) => ({ type: 'tool_result', tool_use_id: id, content });
const content = { type: 'content', content: [{ type: 'text', text: 'Rome is old.' }] };

test.each<[string, unknown[]]>([
  [
    'text with citations',
    [user('Where?'), assistant({ type: 'text', text: 'Rome', citations: [cited] }), user('Why?')],
  ],
  ['a search result', [user([{ ...result, citations: { enabled: true } }])]],
  ['a document of blocks', [user([{ type: 'document', source: content, title: 'Rome', context: 'History' }])]],
  ['documents in a tool result', [user('Hi'), assistant(use('a')), user([toolResult('a', [pdf(pdfOf(1)), result])])]],
  [
    'a reference to a tool',
    [user('Hi'), assistant(use('a')), user([toolResult('a', [{ type: 'tool_reference', tool_name: 'look' }])])],
  ],
])('%s is accepted', async (_, messages) => {
  expect(await messageOf({ messages })).toBe('accepted');
});

const nullFields = ['system', 'tools', 'tool_choice', 'metadata', 'stop_sequences', 'context_management', 'speed'];

test('null in an optional field counts as absent', async () => {
  expect(await messageOf(Object.fromEntries(nullFields.map((name) => [name, null])))).toBe('accepted');
  expect(await messageOf({ model: null })).toBe('model: Input should be a valid string');
});

test.each<[string, object, string]>([
  [
    'a file that is not a PDF',
    { messages: [user([pdf('bm8gcGRm')])] },
    'messages.0.content.0.pdf.source.base64.data: The PDF specified was not valid.',
  ],
  [
    'more pages than the model takes',
    { model: old, messages: [user([pdf(pdfOf(60)), pdf(pdfOf(41))])] },
    'messages.0.content.1.pdf.source.base64.data: A maximum of 100 PDF pages may be provided.',
  ],
  [
    'a long user id',
    { metadata: { user_id: 'a'.repeat(257) } },
    'metadata.user_id: String should have at most 256 characters',
  ],
  [
    'an email address as a user id',
    { metadata: { user_id: 'someone@example.com' } },
    'metadata.user_id: user_id appears to contain an email address',
  ],
  [
    'a tool that runs at the provider',
    { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
    "tools.0: Input tag 'web_search_20250305' found using 'type' does not match any of the expected tags",
  ],
])('%s is rejected', async (_, change, message) => {
  expect(await messageOf(change)).toBe(message);
});

test.each([
  [model, 7_784],
  [old, 4_568],
])('on %s a PDF page costs the tokens of its text and its image', async (name, perPage) => {
  const tokens = (pages: number) => inputTokens({ model: name, messages: [user([pdf(pdfOf(pages))])] });
  expect((await tokens(3)) - (await tokens(1))).toBe(2 * perPage);
});

test.each([
  [model, 'bash_20250124', 'bash', 325],
  [old, 'bash_20250124', 'bash', 244],
  [model, 'text_editor_20250728', 'str_replace_based_edit_tool', 700],
  [model, 'memory_20250818', 'memory', 1_000],
])('on %s the tool %s counts %s tokens and is called', async (name, type, tool, tokens) => {
  const more = { tools: [{ type, name: tool }], thinking: { type: name === old ? 'disabled' : 'adaptive' } };
  const answer = await post({ model: name, ...more });
  expect(answer.usage.input_tokens - (await inputTokens({ model: name }))).toBe(tokens);
  expect(answer.content.at(-1)).toMatchObject({ type: 'tool_use', name: tool });
});

const editing = ['context-management-2025-06-27'];
const history = Array.from({ length: 5 }, (_, at) => [
  assistant(use(`t${at}`)),
  user([toolResult(`t${at}`, 'word '.repeat(1_000))]),
]).flat();
const clearing = (more: object) => ({
  messages: [user('Hi'), ...history],
  context_management: { edits: [{ type: 'clear_tool_uses_20250919', keep: { type: 'tool_uses', value: 2 }, ...more }] },
});

test('cleared tool results are not counted as input, and are reported', async () => {
  const whole = await inputTokens({ messages: [user('Hi'), ...history] });
  const trigger = { type: 'tool_uses', value: 3 };
  const answer = await post(clearing({ trigger }), editing);
  const cleared = whole - answer.usage.input_tokens;
  expect(cleared).toBeGreaterThan(2_900);
  expect(answer.context_management).toEqual({
    applied_edits: [{ type: 'clear_tool_uses_20250919', cleared_tool_uses: 3, cleared_input_tokens: cleared }],
  });
  const stream = await anthropic
    .post('/v1/messages?beta=true', {
      body: { model, max_tokens: 2_000, stream: true, ...clearing({ trigger }) },
      headers: { 'anthropic-beta': editing.join(',') },
    })
    .asResponse();
  expect(await stream.text()).toContain(`"context_management":${JSON.stringify(answer.context_management)}`);
  const path = '/v1/messages/count_tokens?beta=true';
  expect(await post({ ...clearing({ trigger }), max_tokens: undefined }, editing, path)).toEqual({
    input_tokens: answer.usage.input_tokens,
    context_management: { original_input_tokens: whole },
  });
});

test('an edit below its trigger changes nothing', async () => {
  const answer = await post(clearing({}), editing);
  expect(answer.context_management).toEqual({ applied_edits: [] });
});

test("a coding agent's request with many tools, many betas and a high cap is streamed", async () => {
  const tools = Array.from({ length: 90 }, (_, at) => ({
    name: `mcp__server__tool_${at}`,
    description: 'Does something. '.repeat(40),
    input_schema: { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', properties: {} },
    eager_input_streaming: true,
  }));
  const cached = { cache_control: { type: 'ephemeral', ttl: '1h' } };
  const body = {
    ...{ model, max_tokens: 128_000, stream: true, tools, thinking: { type: 'adaptive', display: 'updates' } },
    system: [{ type: 'text', text: 'You are an agent.', ...cached }],
    messages: [
      user([{ type: 'text', text: 'Hi [[call mcp__server__tool_7 {}]]', ...cached }]),
      system([{ type: 'text', text: 'Today is Friday.' }]),
    ],
    metadata: { user_id: JSON.stringify({ device_id: 'a'.repeat(64), session_id: 'b'.repeat(36) }) },
    output_config: { effort: 'high' },
    context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
  };
  const betas = [
    ...['claude-code-20250219', 'interleaved-thinking-2025-05-14', 'thinking-token-count-2026-05-13', perTurn],
    ...['context-management-2025-06-27', 'effort-2025-11-24', 'mid-conversation-system-2026-04-07'],
  ];
  const headers = { 'anthropic-beta': betas.join(',') };
  const stream = await anthropic.post('/v1/messages?beta=true', { body, headers }).asResponse();
  const text = await stream.text();
  expect(text).toContain('"type":"tool_use"');
  expect(text.trimEnd()).toMatch(/event: message_stop\ndata: \{"type":"message_stop"\}$/);
});

test('the simulated Claude returns JSON if the system prompt asks for it', async () => {
  const { content } = await anthropic.messages.create({
    model: 'claude-haiku-4-5',
    max_tokens: 100,
    system: 'Be brief. Respond with one valid JSON object and nothing else.',
    messages: [{ role: 'user', content: 'Hello' }],
  });
  expect(content).toMatchObject([{ type: 'text', text: '{"answer":"Hello"}' }]);
});
