import Anthropic from '@anthropic-ai/sdk';
import { expect, test } from 'vitest';
import { startSimulated } from '../simulated.ts';

const { simulator, anthropic: current } = await startSimulated();
// This older version still accepts the sampling fields.
const anthropic = current.withOptions({ defaultHeaders: { 'anthropic-version': '2023-06-01' } });

const model = 'claude-opus-5';
const user = (content: unknown) => ({ role: 'user', content });
const assistant = (...content: unknown[]) => ({ role: 'assistant', content });
const text = (words: string, more: object = {}) => ({ type: 'text', text: words, ...more });
const use = (id: string) => ({ type: 'tool_use', id, name: 'look', input: {} });
const result = (id: string) => ({ type: 'tool_result', tool_use_id: id });
const image = (source: object) => ({ type: 'image', source });
const look = { name: 'look', input_schema: { type: 'object' } };
const short = { cache_control: { type: 'ephemeral' } };
const long = { cache_control: { type: 'ephemeral', ttl: '1h' } };

/** Sends bodies that the SDK's types do not allow, through the SDK. */
const post = (change: object, path = '/v1/messages') => {
  const body = { model, max_tokens: 2_000, messages: [user('Hello')], ...change };
  return anthropic.post(path, { body });
};
const messageOf = (change: object, path?: string) =>
  post(change, path).then(
    () => 'accepted',
    (error: unknown) => (error instanceof Anthropic.BadRequestError ? error.apiMessage : String(error)),
  );

test.each<[object, string]>([
  [{ max_tokens: undefined }, 'max_tokens: Field required'],
  [{ messages: 'Hello' }, 'messages: Input should be a valid list'],
  [{ model: 5 }, 'model: Input should be a valid string'],
  [{ n: 2 }, 'n: Extra inputs are not permitted'],
  [{ messages: [{ role: 'user' }] }, 'messages.0.content: Field required'],
  [{ messages: [user([text('Hi', { note: 1 })])] }, 'messages.0.content.0.text.note: Extra inputs are not permitted'],
  [
    { messages: [user([{ type: 'sound' }])] },
    "messages.0.content.0: Input tag 'sound' found using 'type' does not match any of the expected tags",
  ],
  [
    { messages: [user([image({ type: 'base64', media_type: 'image/jpg', data: '' })])] },
    "messages.0.content.0.image.source.base64.media_type: Input should be 'image/jpeg' or 'image/png' or " +
      "'image/gif' or 'image/webp'",
  ],
  [
    { system: [text('Hi', { cache_control: { type: 'ephemeral', scope: 'global' } })] },
    'system.0.cache_control.ephemeral.scope: Extra inputs are not permitted',
  ],
  [
    { thinking: { type: 'enabled', budget_tokens: 512 } },
    'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024',
  ],
  [
    { tools: [{ ...look, name: 'look.around' }] },
    "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
  ],
  [{ tools: [{ ...look, name: 'a'.repeat(129) }] }, 'tools.0.custom.name: String should have at most 128 characters'],
])('a body with an invalid shape is rejected: %j', async (change, message) => {
  expect(await messageOf(change)).toBe(message);
});

const withModel = (name: string, change: object) => ({ model: name, ...change });
const enabled = { thinking: { type: 'enabled', budget_tokens: 1_024 } };
const adaptiveHint = 'Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.';
const forced = 'tool_choice: type "tool" and "any" are not supported for this model.';

test.each<[object, string]>([
  [
    { max_tokens: 128_001 },
    `max_tokens: 128001 > 128000, which is the maximum allowed number of output tokens for ${model}`,
  ],
  [{ temperature: 0.5 }, '`temperature` is deprecated for this model.'],
  [{ top_p: 0.5 }, '`top_p` is deprecated for this model.'],
  [{ temperature: 1, top_p: 1 }, 'accepted'],
  [withModel('claude-haiku-4-5', { temperature: 0.5 }), 'accepted'],
  [
    withModel('claude-haiku-4-5', { temperature: 0.5, top_p: 0.5 }),
    '`temperature` and `top_p` cannot both be specified for this model. Please use only one.',
  ],
  [
    withModel('claude-haiku-4-5', { temperature: 0.5, ...enabled }),
    '`temperature` may only be set to 1 when thinking is enabled.',
  ],
  [
    withModel('claude-haiku-4-5', { top_p: 0.9, ...enabled }),
    '`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.',
  ],
  [withModel('claude-haiku-4-5', { top_k: 5, ...enabled }), '`top_k` must be unset when thinking is enabled.'],
  [enabled, `"thinking.type.enabled" is not supported for this model. ${adaptiveHint}`],
  [
    withModel('claude-opus-5-5', { thinking: { type: 'disabled' } }),
    `"thinking.type.disabled" is not supported for this model. ${adaptiveHint}`,
  ],
  [
    withModel('claude-haiku-4-5', { thinking: { type: 'adaptive' } }),
    'adaptive thinking is not supported on this model',
  ],
  [
    withModel('claude-haiku-4-5', { ...enabled, max_tokens: 1_024 }),
    '`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at ' +
      'https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size',
  ],
  [
    withModel('claude-haiku-4-5', { output_config: { effort: 'low' } }),
    'This model does not support the effort parameter.',
  ],
  [
    { thinking: { type: 'disabled' }, output_config: { effort: 'max' } },
    "output_config.effort 'max' is not supported when thinking is disabled on this model. " +
      "Use effort 'high' or below, or enable thinking.",
  ],
  [withModel('claude-sonnet-5-5', { tools: [look], tool_choice: { type: 'any' } }), forced],
  [
    { tools: [look], tool_choice: { type: 'any' }, thinking: { type: 'adaptive' } },
    'Thinking may not be enabled when tool_choice forces tool use.',
  ],
  [{ stop_sequences: ['\n'] }, 'stop_sequences: each stop sequence must contain non-whitespace'],
  [withModel('claude-haiku-4-5', { messages: [user('Hi'), assistant(text('I'))] }), 'accepted'],
  [
    { messages: [user('Hi'), assistant(text('I'))] },
    'This model does not support assistant message prefill. The conversation must end with a user message.',
  ],
])('a body that the model does not support is rejected: %j', async (change, message) => {
  expect(await messageOf(change)).toBe(message);
});

const unanswered = (ids: string) =>
  `messages.1: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids}. ` +
  'Each `tool_use` block must have a corresponding `tool_result` block in the next message.';
const unexpected = (field: string, id: string) =>
  `${field}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a ` +
  'corresponding `tool_use` block in the previous message.';

test.each<[string, unknown[], string]>([
  ['none', [], 'messages: at least one message is required'],
  ['the assistant first', [assistant(text('Hi'))], 'messages: first message must use the "user" role'],
  ['users in a row', [user('a'), user('b')], 'accepted'],
  [
    'an empty message',
    [user([]), user('Hi')],
    'messages: all messages must have non-empty content except for the optional final assistant message',
  ],
  ['empty text', [user('')], 'messages: text content blocks must be non-empty'],
  [
    'empty text with a marker',
    [user([text('Hi'), text('', short)])],
    'messages.0.content.1.text: cache_control cannot be set for empty text blocks',
  ],
  ['a call by the user', [user([use('a')])], 'messages.0: `tool_use` blocks can only be in `assistant` messages'],
  ['calls and results', [user('Hi'), assistant(use('a'), use('b')), user([result('b'), result('a')])], 'accepted'],
  [
    'results in two messages',
    [user('Hi'), assistant(use('a'), use('b')), user([result('a')]), user([result('b'), text('?')])],
    'accepted',
  ],
  ['no result', [user('Hi'), assistant(use('a'), use('b')), user([result('b')])], unanswered('a')],
  ['words before the result', [user('Hi'), assistant(use('a')), user([text('So'), result('a')])], unanswered('a')],
  ['a result without a call', [user([result('x')])], unexpected('messages.0.content.0', 'x')],
  [
    'a result too late',
    [user('Hi'), assistant(use('a')), user([result('a')]), assistant(text('ok')), user([result('a')])],
    unexpected('messages.4.content.0', 'a'),
  ],
  [
    'two results',
    [user('Hi'), assistant(use('a')), user([result('a'), result('a')])],
    'messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: a',
  ],
  [
    'an id twice',
    [user('Hi'), assistant(use('a'), use('a')), user([result('a')])],
    'messages.1.content.1: `tool_use` ids must be unique',
  ],
  [
    'an image of another kind',
    [user([image({ type: 'base64', media_type: 'image/png', data: '/9j/4AAQSkZJRg==' })])],
    'messages.0.content.0.image.source.base64: The image was specified using the image/png media type, ' +
      'but the image appears to be a image/jpeg image',
  ],
  [
    'a file that is not an image',
    [user([image({ type: 'base64', media_type: 'image/png', data: 'bm9uZQ==' })])],
    'Could not process image',
  ],
  [
    'an image out of reach',
    [user([image({ type: 'url', url: 'https://gone.invalid/a.png' })])],
    'Unable to download the file. Please verify the URL and try again.',
  ],
])('the simulator checks messages as Anthropic does: %s', async (_, messages, message) => {
  expect(await messageOf({ messages, tools: [look] })).toBe(message);
  const count = { max_tokens: undefined, messages, tools: [look] };
  expect(await messageOf(count, '/v1/messages/count_tokens')).toBe(message);
});

test('with a thinking budget, a turn with tool calls must start with its thinking', async () => {
  const messages = [user('Hi'), assistant(use('a')), user([result('a')])];
  const change = withModel('claude-haiku-4-5', { messages, tools: [look] });
  expect(await messageOf({ ...change, ...enabled })).toMatch(
    /^messages\.1\.content\.0\.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`\./,
  );
  expect(await messageOf(change)).toBe('accepted');
});

test.each<[string, object, string]>([
  [
    'five markers',
    { messages: [user(['a', 'b', 'c', 'd'].map((word) => text(word, short)))], system: [text('Hi', short)] },
    'A maximum of 4 blocks with cache_control may be provided. Found 5.',
  ],
  [
    'a long lifetime after a short one',
    { tools: [{ ...look, ...short }], messages: [user([text('Hi', long)])] },
    "messages.0.content.0.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' " +
      'cache_control block. Note that blocks are processed in the following order: tools, system, messages.',
  ],
  [
    'two lifetimes for one block',
    { ...short, messages: [user([text('Hi', long)])] },
    "Top-level cache_control has ttl='5m' but the target block already has cache_control with ttl='1h'",
  ],
])('invalid cache markers are rejected: %s', async (_, change, message) => {
  expect(await messageOf(change)).toBe(message);
});

test('a token count rejects max_tokens', async () => {
  expect(await messageOf({}, '/v1/messages/count_tokens')).toBe('max_tokens: Extra inputs are not permitted');
});

test('the newer version rejects sampling fields for every model', async () => {
  const current = anthropic.withOptions({ defaultHeaders: { 'anthropic-version': '2026-10-21' } });
  const body = { model: 'claude-haiku-4-5', max_tokens: 10, messages: [user('Hello')], temperature: 1 };
  await expect(current.post('/v1/messages', { body })).rejects.toMatchObject({
    apiMessage: 'temperature: Extra inputs are not permitted',
  });
});

const hello = { model: 'claude-opus-4-8', max_tokens: 1_000, messages: [{ role: 'user' as const, content: 'Hello' }] };

/**
 * Replaces the ids, which differ between two responses, and sets the member that the SDK adds to a streamed message.
 */
const comparable = ({ content, ...rest }: Anthropic.Message) => ({
  ...{ ...rest, id: 'any', parsed_output: null },
  content: content.map((block) => ({ ...block, id: 'any' })),
});

test('a stream adds up to the same message as a plain response', async () => {
  const content = 'Weather in Paris and Rome?';
  const tool: Anthropic.Tool = { name: 'look', input_schema: { type: 'object' } };
  const params = { ...hello, messages: [{ role: 'user' as const, content }], tools: [tool] };
  const plain = await anthropic.messages.create({ ...params, thinking: { type: 'adaptive' } });
  const streamed = await anthropic.messages.stream({ ...params, thinking: { type: 'adaptive' } }).finalMessage();
  expect(plain.content.map(({ type }) => type)).toEqual(['thinking', 'tool_use', 'tool_use']);
  expect(comparable(streamed)).toEqual(comparable(plain));
});

test('thinking that the client changed is rejected', async () => {
  const first = await anthropic.messages.create({ ...hello, thinking: { type: 'adaptive', display: 'summarized' } });
  const again = (content: Anthropic.ContentBlockParam[]) =>
    messageOf({ model: hello.model, messages: [user('Hello'), assistant(...content), user('And?')] });
  expect(await again(first.content)).toBe('accepted');
  const touched = first.content.map((block) => (block.type === 'thinking' ? { ...block, thinking: 'Other' } : block));
  expect(await again(touched)).toContain('messages.1.content.0: Invalid `signature` in `thinking` block');
});

test.each<[Record<string, string>, number, string, string]>([
  [{}, 401, 'authentication_error', 'x-api-key header is required'],
  [{ authorization: 'Basic abc' }, 401, 'authentication_error', 'invalid x-api-key'],
  [{ authorization: 'Bearer k' }, 400, 'invalid_request_error', 'anthropic-version: header is required'],
  [{ 'x-api-key': 'k' }, 400, 'invalid_request_error', 'anthropic-version: header is required'],
  [
    { 'x-api-key': 'k', 'anthropic-version': '2024-01-01' },
    400,
    'invalid_request_error',
    'anthropic-version: "2024-01-01" is not a valid version',
  ],
])('a request with the headers %j is rejected', async (headers, status, type, message) => {
  for (const path of ['/v1/messages', '/v1/messages/count_tokens']) {
    const response = await fetch(simulator.url + path, { method: 'POST', headers, body: '{}' });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ type: 'error', error: { type, message } });
  }
});

test('a prompt beyond the context window of its model is rejected', async () => {
  const messages = [{ role: 'user' as const, content: 'word '.repeat(200_000) }];
  const params = { model: 'claude-haiku-4-5', max_tokens: 1_000, messages };
  await expect(anthropic.messages.create(params)).rejects.toMatchObject({
    apiMessage: 'prompt is too long: 200003 tokens > 200000 maximum',
  });
  expect((await anthropic.messages.create({ ...params, model: 'claude-opus-4-8' })).usage.input_tokens).toBe(200_003);
});

test('a body that is not JSON and an unknown model are rejected', async () => {
  const headers = { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' };
  const response = await fetch(`${simulator.url}/v1/messages`, { method: 'POST', headers, body: 'no json' });
  expect(await response.json()).toMatchObject({ error: { message: 'The request body is not valid JSON.' } });
  const unknown = anthropic.messages.create({ ...hello, model: 'claude-1' });
  await expect(unknown).rejects.toMatchObject({ status: 404, apiMessage: 'model: claude-1' });
});
