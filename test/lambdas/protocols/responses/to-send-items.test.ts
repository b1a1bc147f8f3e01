import { expect, test } from 'vitest';
import { prepared } from './responses-requests.ts';

const user = (content: string) => ({ role: 'user', content });
const reasoning = (id: string | undefined, more: object = {}) => ({
  type: 'reasoning',
  ...(id === undefined ? {} : { id }),
  summary: [],
  encrypted_content: 'sealed',
  ...more,
});
const call = { type: 'function_call', call_id: 'c', name: 'n', arguments: '{}' };
const result = { type: 'function_call_output', call_id: 'c', output: 'x' };
const said = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] };
const sentFor = (input: readonly object[]) => prepared({ input }).body.input;

/** Output as `model_dump()` of the SDK for Python writes it, with every member. */
const dumped = [
  { id: 'rs_1', summary: [], type: 'reasoning', content: null, encrypted_content: 'sealed', status: null },
  {
    ...{ arguments: '{}', call_id: 'c', name: 'n', type: 'function_call', id: 'fc_1', async_: null, caller: null },
    ...{ namespace: null, status: 'completed', created_by: null, parsed_arguments: null },
  },
  {
    ...{ id: 'msg_1', role: 'assistant', status: 'completed', type: 'message', phase: null },
    content: [{ annotations: [], text: 'Hi', type: 'output_text', logprobs: null, parsed: null }],
  },
];

test('RESP-7 an output that the Python SDK dumps is sent back without its null members', () => {
  expect(sentFor([user('a'), ...dumped, result])).toEqual([user('a'), reasoning('rs_1'), call, said, result]);
});

test.each<[string, object, object]>([
  ['its id', reasoning('rs_1'), reasoning('rs_1')],
  ['no id', reasoning(undefined), reasoning(undefined)],
  ['the id of another kind of item', reasoning('item_1'), reasoning(undefined)],
  ['an id of more than 64 characters', reasoning(`rs_${'1'.repeat(62)}`), reasoning(undefined)],
  [
    'a status and a creator',
    reasoning('rs_1', { status: 'completed', created_by: 'x', content: null }),
    reasoning('rs_1'),
  ],
  [
    'a summary and a text',
    reasoning('rs_1', {
      summary: [{ type: 'summary_text', text: 's', x: 1 }],
      content: [{ type: 'reasoning_text', text: 't' }],
    }),
    reasoning('rs_1', { summary: [{ type: 'summary_text', text: 's' }] }),
  ],
])('RESP-7 reasoning with %s is sent back', (_about, item, sent) => {
  expect(sentFor([user('a'), item, call, result])).toEqual([user('a'), sent, call, result]);
});

test.each<[string, object]>([
  [
    'without encrypted content',
    reasoning('rs_1', { encrypted_content: null, summary: [{ type: 'summary_text', text: 's' }] }),
  ],
  ['with empty encrypted content', reasoning('rs_1', { encrypted_content: '' })],
])('RESP-7 reasoning %s is not sent', (_about, item) => {
  expect(sentFor([user('a'), item, call, result])).toEqual([user('a'), call, result]);
});

test('RESP-7 the reasoning of an incomplete response without other items is not sent', () => {
  const { body, ignored } = prepared({ input: [user('a'), reasoning('rs_1'), user('go on')] });
  expect(body.input).toEqual([user('a'), user('go on')]);
  expect(ignored).toEqual([]);
});

test('RESP-7 reasoning before a custom call or a search stays before it', () => {
  const items = [
    user('a'),
    reasoning('rs_1'),
    { type: 'custom_tool_call', call_id: 'd', name: 'patch', input: 'x' },
    { type: 'custom_tool_call_output', call_id: 'd', output: 'done' },
    reasoning('rs_2'),
    { type: 'tool_search_call', call_id: 's', execution: 'client', arguments: {} },
    { type: 'tool_search_output', call_id: 's', execution: 'client', tools: [] },
  ];
  expect(sentFor(items)).toEqual(items);
});
