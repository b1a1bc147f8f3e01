import { expect, test } from 'vitest';
import type { Turn } from '../../../../lambdas/core/text/conversation.ts';
import { generatedContent } from '../../../fixtures/google/generated-content.ts';
import { conversationOf, dispatch, wireCall, wireTo } from './wire-call.ts';

const user: Turn = { role: 'user', content: [{ kind: 'text', text: 'Hi' }], param: 'messages[0]' };
const calling = (name: string, args: string): Turn => ({
  role: 'assistant',
  text: '',
  toolCalls: [{ id: 'c', name, arguments: args }],
  param: 'messages[1]',
});
const result = (text: string): Turn => ({ role: 'tool', callId: 'c', text, param: 'messages[2]' });

/** Returns the sent body as text, in which numbers keep their digits. */
const sentWith = async (...turns: readonly Turn[]): Promise<string> => {
  const { wire, seen } = wireTo({ body: JSON.stringify(generatedContent) });
  await wire.buildCall(wireCall({ conversation: conversationOf({ turns }) })).send(dispatch());
  return seen.requests[0]?.body ?? '';
};

const digits = '{"a":1e20,"b":12345678901234567890,"c":1.10,"d":-0,"e":[7,{"f":1E-400}]}';

test('BILL-6 the numbers of calls and of their results keep their digits', async () => {
  const sent = await sentWith(user, calling('f', digits), result(` ${digits}`));
  expect(sent).toContain(`"args":${digits}`);
  expect(sent).toContain(`"response":${digits}`);
});

test.for(['{"x"', '[1]'])('CHAT-5 arguments %s are sent as a member of an object', async (text) => {
  const sent = await sentWith(user, calling('f', text), result('x'));
  expect(sent).toContain(`"args":{"INVALID_JSON":${JSON.stringify(text)}}`);
});

test('CHAT-5 a result that only starts like an object is text', async () => {
  for (const text of ['{"a":1', '{a}', `${'{"a":'.repeat(80)}1${'}'.repeat(80)}`]) {
    expect(await sentWith(user, calling('f', '{}'), result(text))).toContain(
      `"response":{"result":${JSON.stringify(text)}}`,
    );
  }
});

test.for(['{"a":[{"$ref":"#/$defs/A"}]}', '{"\\u0024ref" : "x"}'])(
  'CHAT-5 a result with a reference is text: %s',
  async (text) => {
    expect(await sentWith(user, calling('f', '{}'), result(text))).toContain(
      `"response":{"result":${JSON.stringify(text)}}`,
    );
  },
);

test('CHAT-5 a second call can reuse an id after the first call has its result', async () => {
  const sent = await sentWith(user, calling('f', '{}'), result('x'), calling('g', '{}'), result('y'));
  expect(sent.match(/"functionResponse":\{"id":"c","name":"."/g)).toEqual([
    '"functionResponse":{"id":"c","name":"f"',
    '"functionResponse":{"id":"c","name":"g"',
  ]);
});

const saying = (role: 'user' | 'assistant', text: string): Turn =>
  role === 'user'
    ? { role, content: [{ kind: 'text', text }], param: 'messages[0]' }
    : { role, text, toolCalls: [], param: 'messages[1]' };

test('CHAT-2 an assistant turn cut off while the model was thinking is dropped', async () => {
  const sent = JSON.parse(await sentWith(saying('user', 'a'), saying('assistant', ''), saying('user', 'b')));
  expect(sent.contents).toEqual([{ role: 'user', parts: [{ text: 'a' }, { text: 'b' }] }]);
  await expect(sentWith(saying('assistant', ''))).rejects.toMatchObject({
    code: 'invalid_messages',
    param: 'messages[1].content',
  });
});
