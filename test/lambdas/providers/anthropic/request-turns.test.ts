import { expect, test } from 'vitest';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import type { ToolCall, Turn } from '../../../../lambdas/core/text/conversation.ts';
import { toVendorTurns } from '../../../../lambdas/providers/anthropic/request.ts';
import { sentFor, turns } from './messages-call.ts';

const at = (index: number): string => `messages[${index}]`;
const system = (text: string, index: number): Turn => ({ role: 'system', text, param: at(index) });
const user = (text: string, index: number): Turn => ({
  role: 'user',
  content: [{ kind: 'text', text }],
  param: at(index),
});
const assistant = (text: string, index: number, ...toolCalls: ToolCall[]): Turn => ({
  role: 'assistant',
  text,
  toolCalls,
  param: at(index),
});
const tool = (callId: string, text: string, index: number): Turn => ({ role: 'tool', callId, text, param: at(index) });
const call = (id: string, text = '{}'): ToolCall => ({ id, name: 'find', arguments: text });
const said = (text: string) => ({ type: 'text', text });
const use = (id: string, input: object = {}) => ({ type: 'tool_use', id, name: 'find', input });
const result = (id: string, content?: string) => ({
  type: 'tool_result',
  tool_use_id: id,
  ...(content && { content }),
});

test.for([
  ['one turn', [user('Hi', 0)], undefined, [['user', said('Hi')]]],
  [
    'instructions wherever they are',
    [system('Be brief.', 0), user('Hi', 1), assistant('Yes?', 2), system('Be kind.', 3), user('Go', 4)],
    'Be brief.\nBe kind.',
    [
      ['user', said('Hi')],
      ['assistant', said('Yes?')],
      ['user', said('Go')],
    ],
  ],
  ['instructions without text', [system(' \n', 0), user('Hi', 1)], undefined, [['user', said('Hi')]]],
  [
    'adjacent turns of one role',
    [user('a', 0), system('x', 1), user('b', 2), assistant('c', 3), assistant('d', 4)],
    'x',
    [
      ['user', said('a'), said('b')],
      ['assistant', said('c'), said('d')],
    ],
  ],
  [
    'an assistant first',
    [assistant('Yes?', 0), user('Hi', 1)],
    undefined,
    [
      ['assistant', said('Yes?')],
      ['user', said('Hi')],
    ],
  ],
  [
    'calls with their results and a following user turn in one message',
    [
      user('a', 0),
      assistant('b', 1, call('1'), call('2', '{"x":1}')),
      tool('1', 'r1', 2),
      tool('2', 'r2', 3),
      user('c', 4),
    ],
    undefined,
    [
      ['user', said('a')],
      ['assistant', said('b'), use('1'), use('2', { x: 1 })],
      ['user', result('1', 'r1'), result('2', 'r2'), said('c')],
    ],
  ],
  [
    'results that a user turn interrupts',
    [assistant('', 0, call('1'), call('2')), tool('2', 'r2', 1), user('c', 2), tool('1', '', 3)],
    undefined,
    [
      ['assistant', use('1'), use('2')],
      ['user', result('2', 'r2'), result('1'), said('c')],
    ],
  ],
  [
    'calls of two assistant turns in a row',
    [assistant('', 0, call('1')), assistant('', 1, call('2')), tool('1', 'a', 2), tool('2', 'b', 3)],
    undefined,
    [
      ['assistant', use('1'), use('2')],
      ['user', result('1', 'a'), result('2', 'b')],
    ],
  ],
  [
    'blank text with calls',
    [user('a', 0), assistant(' \n', 1, call('1')), tool('1', 'r', 2)],
    undefined,
    [
      ['user', said('a')],
      ['assistant', use('1')],
      ['user', result('1', 'r')],
    ],
  ],
  [
    'an assistant turn that was cut off while the model was thinking',
    [user('a', 0), assistant('', 1), user('b', 2), assistant(' \n', 3)],
    undefined,
    [['user', said('a'), said('b')]],
  ],
  [
    'such a turn after the result of a call',
    [assistant('', 0, call('1')), tool('1', 'r', 1), assistant('', 2), user('b', 3)],
    undefined,
    [
      ['assistant', use('1')],
      ['user', result('1', 'r'), said('b')],
    ],
  ],
  [
    'an assistant turn to continue',
    [user('a', 0), assistant('{ \n', 1)],
    undefined,
    [
      ['user', said('a')],
      ['assistant', said('{')],
    ],
  ],
] as const)('CHAT-5 %s', async ([, list, instructions, messages]) => {
  const body = await sentFor(turns(...list));
  expect([body.system, body.messages]).toEqual([
    instructions,
    messages.map(([role, ...content]) => ({ role, content })),
  ]);
});

test.for(['', ' \n'])('CHAT-5 a text of %j together with other parts is dropped', async (blank) => {
  const content = [
    { kind: 'text', text: blank },
    { kind: 'text', text: 'Hi' },
  ] as const;
  const body = await sentFor(turns({ role: 'user', content, param: at(0) }));
  expect(body.messages).toEqual([{ role: 'user', content: [said('Hi')] }]);
});

test('CHAT-5 arguments keep the digits of their numbers', () => {
  const text = '{"id":12345678901234567890,"price":1.10,"far":1e400,"list":[-0,{"n":0.1}],"__proto__":{"a":1}}';
  const { messages } = toVendorTurns([assistant('', 0, call('1', ` ${text}`))], 'm');
  const [block] = messages[0]?.content ?? [];
  expect(JSON.stringify(block?.value.input)).toBe(text);
});

const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

test.for(['', '  ', '{}'])('CHAT-5 empty arguments of %j become an empty object', async (text) => {
  const body = await sentFor(turns(assistant('', 0, call('1', text)), tool('1', 'r', 1)));
  expect(body.messages).toMatchObject([{ content: [use('1')] }, {}]);
});

const refusalOf = (list: readonly Turn[]): readonly (string | null)[] => {
  try {
    toVendorTurns(list, 'alpha-1');
  } catch (error) {
    if (error instanceof GatewayError) {
      expect(error.message).toContain(error.param);
      return [error.code, error.param];
    }
    throw error;
  }
  return ['nothing'];
};

test.for([
  ['only instructions', [system('x', 0)], 'messages'],
  ['an empty user turn', [user('', 0)], 'messages[0].content'],
  ['nothing but an empty assistant turn', [system('x', 0), assistant('', 1)], 'messages[1].content'],
  ['a result without any call', [user('a', 0), tool('1', 'r', 1)], 'messages[1].tool_call_id'],
  ['a result with another id', [assistant('', 0, call('1')), tool('2', 'r', 1)], 'messages[1].tool_call_id'],
  [
    'a result of a call before the latest assistant message',
    [assistant('', 0, call('1')), tool('1', 'r', 1), assistant('x', 2), tool('1', 'r', 3)],
    'messages[3].tool_call_id',
  ],
] as const)('CHAT-2 %s gets an error that names it', ([, list, param]) => {
  expect(refusalOf(list)).toEqual(['invalid_messages', param]);
});

test('CHAT-5 arguments nested as deep as the limit of a body are sent as they are', async () => {
  const { messages } = toVendorTurns([assistant('', 0, call('1', deep(64)))], 'm');
  expect(JSON.stringify(messages[0]?.content[0]?.value.input)).toBe(deep(64));
});

test.for(['{"a":', '[1]', '12345678901234567890', deep(65), deep(200_000)])(
  'CHAT-5 arguments that are not an object are sent as a member of one: %.20s',
  async (text) => {
    const { messages } = toVendorTurns([assistant('', 0, call('1'), call('2', text))], 'm');
    expect(messages[0]?.content[1]?.value.input).toEqual({ INVALID_JSON: text });
  },
);
