import { expect, test } from 'vitest';
import { toTextParams } from '../../../../lambdas/protocols/chat-completions/request.ts';
import { bodyOf, gif, hello, jpeg, png, prepared, refusalOf, showing, versatile, webp } from './chat-requests.ts';

const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } };
const called = { role: 'assistant', content: null, tool_calls: [call] };
const named = (length: number) => ({
  role: 'assistant',
  tool_calls: [{ ...call, function: { name: 'f'.repeat(length), arguments: '{}' } }],
});

const good: readonly (readonly object[])[] = [
  [hello],
  [{ role: 'system', content: 's' }, hello],
  [{ role: 'developer', content: [{ type: 'text', text: 'd' }] }, hello],
  [hello, { role: 'assistant', content: [{ type: 'text', text: 'a' }] }],
  [hello, { role: 'assistant', content: [{ type: 'refusal', refusal: 'no' }] }],
  [hello, { role: 'assistant', refusal: 'no', content: null }],
  [hello, called, { role: 'tool', tool_call_id: 'call_1', content: 'sunny' }],
  [hello, { role: 'assistant', tool_calls: [call, { ...call, id: 'call_2' }] }],
  [hello, named(64)],
  [{ role: 'user', name: 'Ann', content: '' }],
];

for (const messages of good) {
  test(`CHAT-2 ${JSON.stringify(messages)} is accepted and sent unchanged`, () => {
    expect(prepared({ messages }).body.messages).toEqual(messages);
  });
}

const bad: readonly (readonly [messages: unknown, param: string])[] = [
  [undefined, 'messages'],
  [[], 'messages'],
  [['Hello'], 'messages[0]'],
  [[hello, {}], 'messages[1].role'],
  [[{ role: 'robot', content: 'x' }], 'messages[0].role'],
  [[{ role: 'function', name: 'f', content: 'x' }], 'messages[0].role'],
  [[{ role: 'user' }], 'messages[0].content'],
  [[{ role: 'user', content: null }], 'messages[0].content'],
  [[{ role: 'user', content: [] }], 'messages[0].content'],
  [[{ role: 'user', content: [{ type: 'text', text: 'a' }, { type: 'sound' }] }], 'messages[0].content[1].type'],
  [[{ role: 'user', content: [{ type: 'image_url', image_url: 'x' }] }], 'messages[0].content[0].image_url'],
  [[{ role: 'system', content: [{ type: 'image_url', image_url: { url: png } }] }], 'messages[0].content[0].type'],
  [[hello, { role: 'assistant', content: null }], 'messages[1].content'],
  [[{ role: 'assistant', tool_calls: [] }], 'messages[0].content'],
  [[{ role: 'assistant', tool_calls: [{ ...call, id: 5 }] }], 'messages[0].tool_calls[0].id'],
  [
    [{ role: 'assistant', tool_calls: [{ ...call, function: { name: 'f', arguments: {} } }] }],
    'messages[0].tool_calls[0].function.arguments',
  ],
  [[hello, named(129)], 'messages[1].tool_calls[0].function.name'],
  [[hello, { role: 'tool', content: 'x' }], 'messages[1].tool_call_id'],
];

test.for(bad)('CHAT-2 %j is 400 invalid_messages with param %s', ([messages, param]) => {
  const error = refusalOf({ messages });
  expect(error).toMatchObject({ code: 'invalid_messages', status: 400, param });
  expect(error.message).toContain(param);
});

test.for([png, jpeg, webp, 'https://example.com/a.png?b=c', 'http://example.com/a'])('CHAT-6 %s is an image', (url) => {
  const { prompt, body } = prepared({ messages: showing(url) });
  expect(prompt.images).toEqual(['auto']);
  expect(body.messages).toEqual(showing(url));
});

test.for([gif, 'data:image/png;base64,AAAA', 'data:image/png,raw', 'ftp://example.com/a.png', 'https://[bad', 'a.png'])(
  'CHAT-6 %s is 400 invalid_image_format',
  (url) => {
    const param = 'messages[0].content[1].image_url.url';
    const error = refusalOf({ messages: showing(url) });
    expect(error).toMatchObject({ code: 'invalid_image_format', status: 400, param });
    expect(error.message).toContain(param);
  },
);

test('BILL-5 an inline image counts as an image and not as text', () => {
  const long = `${png}${'A'.repeat(40_000)}`;
  const { prompt } = prepared({ messages: [...showing(long), ...showing('https://example.com/a.png')] });
  expect(prompt.images).toEqual(['auto', 'auto']);
  expect(prompt.bytes).toBeLessThan(500);
  expect(prompt.bytes).toBeGreaterThan(150);
});

test('BILL-5 a number that gets longer when serialized counts at its new length', () => {
  const schema = { enum: Array.from({ length: 100 }, () => 1e20) };
  const format = { type: 'json_schema', json_schema: { name: 'a', schema } };
  const body = bodyOf({ messages: [hello], response_format: format });
  const asItCame = Buffer.byteLength(JSON.stringify(body).replaceAll('100000000000000000000', '1e20'));
  const { prompt } = toTextParams(body, asItCame, () => '').validateFor(versatile());
  expect(prompt.bytes).toBeGreaterThanOrEqual(asItCame + 100 * 17);
});

test('BILL-5 images count by the detail they are sent with', () => {
  const image = (detail?: string) => ({ type: 'image_url', image_url: { url: 'https://a.test/b', detail } });
  const { prompt } = prepared({ messages: [{ role: 'user', content: [image('low'), image(), image('original')] }] });
  expect(prompt.images).toEqual(['low', 'auto', 'original']);
});
