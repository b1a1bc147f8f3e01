import { expect, test } from 'vitest';
import type { TextModel } from '../../../../lambdas/core/catalog/schema.ts';
import {
  bodyOf,
  EVERYTHING,
  entryOf,
  inline,
  ordered,
  pictures,
  prepared,
  refusalOf,
  result,
  saying,
  text,
  tool,
} from './messages-requests.ts';

type Ability = keyof TextModel['capabilities'];

const unable = (...names: readonly Ability[]): TextModel => {
  const model = entryOf(EVERYTHING);
  const missing = Object.fromEntries(names.map((name) => [name, false]));
  return { ...model, capabilities: { ...model.capabilities, ...missing } };
};

const format = { type: 'json_schema', schema: {} };

test.for([
  [{ stop_sequences: ['a'] }, 'stop_sequences', 'stop'],
  [{ tools: [tool()] }, 'tools', 'tools'],
  [{ stream: true }, 'stream', 'streaming'],
  [{ output_config: { format } }, 'output_config.format', 'jsonSchema'],
  [{ output_format: format }, 'output_format', 'jsonSchema'],
  [{ tools: [tool()], tool_choice: { type: 'any' } }, 'tool_choice', 'forcedToolChoice'],
  [{ tools: [tool()], tool_choice: { type: 'tool', name: 'get_weather' } }, 'tool_choice', 'forcedToolChoice'],
] as const)(
  'CHAT-16 %j is 400 with param %s without %s, names models that do, and passes with it',
  ([fields, param, ability]) => {
    const error = refusalOf(fields, unable(ability));
    expect(error).toMatchObject({ code: 'invalid_request_error', status: 400, param });
    expect(error.message).toMatch(/Models without this limit: claude-/);
    expect(() => prepared(fields)).not.toThrow();
  },
);

test.for([{ temperature: 1 }, { top_p: 1 }, { stop_sequences: [] }, { tools: [] }, { stream: false }])(
  'CHAT-16 the default %j is accepted everywhere and sent only where it is supported',
  (fields) => {
    const [name = ''] = Object.keys(fields);
    const { body } = prepared(fields, unable('sampling', 'stop', 'tools', 'streaming'));
    expect(body).not.toHaveProperty(name);
    expect(prepared(fields).body).toEqual(bodyOf(fields));
  },
);

test('CHAT-16 a choice that forces nothing passes if forcing is not supported', () => {
  for (const type of ['auto', 'none']) {
    const fields = { tools: [tool()], tool_choice: { type } };
    expect(prepared(fields, unable('forcedToolChoice')).body).toEqual(bodyOf(fields));
  }
});

const blind: TextModel = { ...entryOf(EVERYTHING), inputTypes: ['text'] };
const linked = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } };

test('GEN-11 an image is 400 for a model without image input, also in a tool result', () => {
  for (const [fields, param] of [
    [saying(text(), inline('image/png')), 'messages[0].content[1]'],
    [saying(linked), 'messages[0].content[0]'],
    [saying(result({ content: [text(), linked] })), 'messages[0].content[0].content[1]'],
  ] as const) {
    const error = refusalOf(fields, blind);
    expect(error).toMatchObject({ code: 'invalid_request_error', status: 400, param });
    expect(error.message).toContain('claude-fable-5-2');
  }
});

test.for(['image/png', 'image/jpeg', 'image/webp'] as const)('CHAT-6 %s passes by its first bytes', (type) => {
  const fields = saying(inline(type), result({ content: [inline(type)] }));
  expect(prepared(fields).body).toEqual(bodyOf(fields));
});

const source = (changes: object) => saying({ type: 'image', source: { type: 'base64', ...changes } });
const data = pictures['image/png'];

test.for([
  [saying(inline('image/gif')), 'source.data'],
  [saying(inline('image/png', 'image/jpeg')), 'source.media_type'],
  [source({ media_type: 'image/png', data: '' }), 'source.data'],
  [source({ media_type: 'image/png', data: `data:image/png;base64,${data}` }), 'source.data'],
  [source({ media_type: 'image/png', data: Buffer.from('hello, this is text').toString('base64') }), 'source.data'],
  [saying({ type: 'image', source: { type: 'url', url: `data:image/png;base64,${data}` } }), 'source.url'],
  [saying({ type: 'image', source: { type: 'url', url: 'file:///etc/passwd' } }), 'source.url'],
] as const)('CHAT-6 %j is invalid_image_format', ([fields, member]) => {
  const param = `messages[0].content[0].${member}`;
  expect(refusalOf(fields)).toMatchObject({ code: 'invalid_image_format', status: 400, param });
});

const pdfData = 'JVBERi0xLjQK'.padEnd(12_000, 'A');
const document = (changes: object = {}) => ({
  ...{ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: pdfData } },
  ...changes,
});

test('GEN-11 a PDF document is 400 for a model without image input', () => {
  const error = refusalOf(saying(document()), blind);
  expect(error).toMatchObject({ code: 'invalid_request_error', status: 400, param: 'messages[0].content[0]' });
  expect(error.message).toContain('does not accept PDF documents');
});

test('CHAT-6 an image inside a document is checked', () => {
  const fields = saying(document({ source: { type: 'content', content: [inline('image/gif')] } }));
  const param = 'messages[0].content[0].source.content[0].source.data';
  expect(refusalOf(fields)).toMatchObject({ code: 'invalid_image_format', param });
});

test('BILL-5 PDF documents count by their number, wherever they are, and not by their bytes', () => {
  const fields = saying(text(), document(), inline('image/png'), result({ content: [document(), text()] }));
  const { prompt } = prepared(fields);
  expect([prompt.documents, prompt.images]).toEqual([2, ['auto']]);
  expect(prompt.bytes).toBe(Buffer.byteLength(JSON.stringify(bodyOf(fields))) - 24_000 - data.length);
  expect(prompt.textTokens).toBeLessThan(500);
});

test('BILL-5 documents of plain text and search results count by their text', () => {
  const long = 'word '.repeat(2_000);
  const sources = [
    document({ source: { type: 'text', media_type: 'text/plain', data: long } }),
    document({ source: { type: 'content', content: [text({ text: long })] } }),
    searchResult({ content: [text({ text: long })] }),
  ];
  const { prompt } = prepared(saying(...sources));
  expect(prompt.documents).toBe(0);
  expect(prompt.bytes).toBe(Buffer.byteLength(JSON.stringify(bodyOf(saying(...sources)))));
  expect(prompt.textTokens).toBeGreaterThan(6_000);
});

test('BILL-5 images count by their number, wherever they are, and not by their bytes', () => {
  const long = {
    ...inline('image/png'),
    source: { type: 'base64', media_type: 'image/png', data: data.padEnd(9_000, 'A') },
  };
  const fields = saying(text(), long, linked, result({ content: [long, text()] }));
  const { prompt } = prepared(fields);
  expect(prompt.images).toEqual(['auto', 'auto', 'auto']);
  expect(prompt.bytes).toBe(Buffer.byteLength(JSON.stringify(bodyOf(fields))) - 18_000);
});

const sized = (json: string) => {
  return ordered(JSON.parse(json), undefined, Buffer.byteLength(json)).validateFor(entryOf(EVERYTHING)).prompt.bytes;
};
const around = (extra: string, content = '"a"') =>
  `{"model":"${EVERYTHING}","max_tokens":9,"messages":[{"role":"user","content":${content}}]${extra}}`;

test('BILL-5 the prompt is at least as long as the received body', () => {
  const json = around('', '"\\u0041\\u0041"');
  expect(sized(json)).toBe(json.length);
});

test.for([
  [around(',"tools":[{"name":"f","input_schema":{"maximum":1e20}}]')],
  [around(',"output_config":{"format":{"type":"json_schema","schema":{"maximum":1e20}}}')],
  [around('', '[{"type":"tool_use","id":"t","name":"f","input":{"a":1e20}}]')],
] as const)('BILL-5 numbers that grow when %s is serialized count as they are sent', ([json]) => {
  expect(sized(json)).toBe(json.length + 17);
});

const short = { cache_control: { type: 'ephemeral' } };
const five = { cache_control: { type: 'ephemeral', ttl: '5m' } };
const hour = { cache_control: { type: 'ephemeral', ttl: '1h' } };
const searchResult = (changes: object = {}) => ({
  ...{ type: 'search_result', source: 'https://a.b', title: 'a', content: [text()] },
  ...changes,
});
const callOf = (changes: object) => ({ type: 'tool_use', id: 't', name: 'f', input: {}, ...changes });

test.for([
  [{}, 'cache-rates'],
  [saying(text({ cache_control: null })), 'cache-rates'],
  [saying(callOf({ input: hour })), 'cache-rates'],
  [{ system: [text()], tools: [tool()] }, 'cache-rates'],
  [short, 'cache-rates-5m'],
  [five, 'cache-rates-5m'],
  [hour, 'cache-rates-1h'],
  [{ system: [text(), text(short)] }, 'cache-rates-5m'],
  [{ tools: [tool(), tool(five)] }, 'cache-rates-5m'],
  [saying(text(), text(short)), 'cache-rates-5m'],
  [saying({ ...linked, ...hour }), 'cache-rates-1h'],
  [saying(callOf(hour)), 'cache-rates-1h'],
  [saying(result(five)), 'cache-rates-5m'],
  [saying(result({ content: [text(), text(hour)] })), 'cache-rates-1h'],
  [saying(document(hour)), 'cache-rates-1h'],
  [saying(document({ source: { type: 'content', content: [text(five)] } })), 'cache-rates-5m'],
  [saying(result({ content: [document(hour)] })), 'cache-rates-1h'],
  [saying(searchResult(five)), 'cache-rates-5m'],
  [saying(searchResult({ content: [text(hour)] })), 'cache-rates-1h'],
  [saying(result({ content: [{ type: 'tool_reference', tool_name: 'f', ...hour }] })), 'cache-rates-1h'],
  [{ tools: [{ type: 'bash_20250124', name: 'bash', ...hour }] }, 'cache-rates-1h'],
  [
    {
      messages: [
        { role: 'user', content: 'a' },
        { role: 'system', content: [text(hour)] },
      ],
    },
    'cache-rates-1h',
  ],
  [{ ...short, ...saying(text(five), text(hour)) }, 'cache-rates-1h'],
  [{ ...hour, ...saying(text(five)) }, 'cache-rates-1h'],
] as const)('BILL-12 the prompt of %j can cost at most %s', ([fields, pricing]) => {
  expect(prepared(fields).promptPricing).toBe(pricing);
});

test('MSG-5 cache_control is sent unchanged on every block that supports it', () => {
  const fields = {
    ...hour,
    system: [text(hour)],
    tools: [tool(five)],
    ...saying(text(short), { ...linked, ...five }, callOf(hour), result({ ...five, content: [text(five)] })),
  };
  expect(prepared(fields).body).toEqual(bodyOf(fields));
});

test('MSG-1 a request is converted to the terms of the core', () => {
  const fields = { max_tokens: 321, stream: true, tools: [tool()] };
  const { validateFor: _, ...order } = ordered(bodyOf(fields));
  expect(order).toEqual({
    protocol: 'messages',
    modelId: EVERYTHING,
    endUser: undefined,
    params: { prompt: 'messages', cap: 'max_tokens' },
  });
  const request = prepared(fields);
  expect(request).toMatchObject({ stream: true, choices: 1, outputTokensMax: 321, usesTools: true, effort: undefined });
  expect(request).not.toHaveProperty('toConversation');
  expect(prepared({})).toMatchObject({ stream: false, usesTools: false });
});

test('CHAT-15 the end user is read from metadata, and sent', () => {
  const fields = { metadata: { user_id: 'me' } };
  expect(ordered(bodyOf(fields)).endUser).toBe('me');
  expect(prepared(fields).body).toEqual(bodyOf(fields));
});

test('MSG-1 an empty system is not sent, any other one unchanged', () => {
  expect(prepared({ system: '' }).body).toEqual(bodyOf({}));
  for (const system of [' ', [], [{ type: 'text', text: '' }]]) {
    expect(prepared({ system }).body).toEqual(bodyOf({ system }));
  }
});
