import { expect, test } from 'vitest';
import { allEvents, postChat, saying } from '../support/gateway-chat.ts';
import { asking, postGoogle } from '../support/google-client.ts';
import { postMessages } from '../support/messages-client.ts';
import { postResponses } from '../support/responses-client.ts';
import { allElements } from './google-array.ts';
import { startSimulated } from './simulated-gateway.ts';

const { gateway } = await startSimulated();
const words = '[[heartbeats]] Say hello';
const tools = [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }];

test.each([
  ['gpt-5.4-mini', {}],
  ['gpt-5.6-sol', { tools, tool_choice: 'none' }],
  ['claude-haiku-4-5', {}],
  ['gemini-3.8-flash', {}],
])('CHAT-11 a chat over the protocol of %s skips events without data', async (model, rest) => {
  const events = await allEvents(await postChat(gateway, { ...rest, model, messages: saying(words), stream: true }));
  const pieces = events.slice(0, -1).map((event) => JSON.parse(event).choices[0].delta.content ?? '');
  expect([pieces.join(''), events.at(-1)]).toEqual([expect.stringContaining('Say hello'), '[DONE]']);
});

test.each([
  ['messages', () => postMessages(gateway, { messages: saying(words), stream: true }), 'event: message_stop'],
  ['responses', () => postResponses(gateway, { input: words, stream: true }), 'event: response.completed'],
  ['generateContent', () => postGoogle(gateway, 'streamGenerateContent', asking(words), { query: 'alt=sse' }), 'STOP'],
])('CHAT-11 a native stream of %s skips events without data', async (_protocol, post, end) => {
  const text = await (await post()).text();
  expect(text).toContain(end);
  expect(text).not.toMatch(/^data: ?$/m);
});

test('CHAT-11, GEM-2 an array of generateContent skips events without data', async () => {
  const { elements, end } = await allElements(await postGoogle(gateway, 'streamGenerateContent', asking(words)));
  expect([elements.length > 1, end]).toEqual([true, 'closed']);
});
