import { expect, test } from 'vitest';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import type { Conversation, Turn } from '../../../../lambdas/core/text/conversation.ts';
import { fromConversation, nestsMedia } from '../../../../lambdas/providers/google/request.ts';
import { conversationOf } from './wire-call.ts';

const levels = ['low', 'medium', 'high'] as const;
const alpha = {
  id: 'alpha-1',
  reasoning: { field: 'reasoning_effort', accepted: [...levels], default: 'low', levelsUi: [] },
} as const;

const bodyOf = (changes: Partial<Conversation>) => fromConversation(conversationOf(changes), alpha).body;
const contentsOf = (...turns: readonly Turn[]) => bodyOf({ turns }).contents;

const refused = (changes: Partial<Conversation>) => {
  try {
    fromConversation(conversationOf(changes), alpha);
    return undefined;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return [error.code, error.status, error.param, error.message.includes(error.param ?? '')];
  }
};

const param = 'messages[0]';
const user = (text: string): Turn => ({ role: 'user', content: [{ kind: 'text', text }], param });
const system = (text: string): Turn => ({ role: 'system', text, param });
const assistant = (
  text: string,
  ...calls: readonly (readonly [id: string, name: string, args?: string, signature?: string])[]
): Turn => ({
  role: 'assistant',
  text,
  toolCalls: calls.map(([id, name, args = '{}', signature]) => ({
    id,
    name,
    arguments: args,
    ...(signature && { signature }),
  })),
  param: 'messages[1]',
});
const tool = (callId: string, text: string): Turn => ({ role: 'tool', callId, text, param: 'messages[2]' });
const turns = [user('Hi')];
const parameters = { type: 'object', properties: { city: { type: 'string' } } };
const named = (name: string, strict?: boolean) => ({ name, description: undefined, parameters: undefined, strict });

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ';

test('CHAT-2 a conversation of one user turn has one content and no settings', () => {
  expect(bodyOf({ turns })).toEqual({ contents: [{ role: 'user', parts: [{ text: 'Hi' }] }], generationConfig: {} });
});

test.for([
  ['none', 'LOW'],
  ['minimal', 'LOW'],
  ['medium', 'MEDIUM'],
  ['xhigh', 'HIGH'],
])('CHAT-9 the effort %s is sent as the nearest level, %s', ([effort, level]) => {
  expect(bodyOf({ turns, effort })).toMatchObject({ generationConfig: { thinkingConfig: { thinkingLevel: level } } });
});

test.for<readonly [string, Partial<Conversation>, object]>([
  ['temperature', { temperature: 0 }, { generationConfig: { temperature: 0 } }],
  ['top_p', { topP: 0.5 }, { generationConfig: { topP: 0.5 } }],
  ['seed', { seed: 0 }, { generationConfig: { seed: 0 } }],
  ['stop', { stop: ['a', 'b'] }, { generationConfig: { stopSequences: ['a', 'b'] } }],
  [
    'more stops than the provider accepts',
    { stop: ['a', 'b', 'c', 'd', 'e', 'f'] },
    { generationConfig: { stopSequences: ['a', 'b', 'c', 'd', 'e', 'f'] } },
  ],
  ['effort', { effort: 'high' }, { generationConfig: { thinkingConfig: { thinkingLevel: 'HIGH' } } }],
  ['user', { endUser: 'someone' }, { generationConfig: {} }],
  [
    'penalties',
    { extras: { presence_penalty: 1, frequency_penalty: -1 } },
    { generationConfig: { presencePenalty: 1, frequencyPenalty: -1 } },
  ],
  ['json_object', { format: { kind: 'json_object' } }, { generationConfig: { responseMimeType: 'application/json' } }],
  [
    'json_schema',
    { format: { kind: 'json_schema', name: 'n', description: undefined, schema: parameters, strict: true } },
    { generationConfig: { responseMimeType: 'application/json', responseJsonSchema: parameters } },
  ],
  [
    'tools',
    { tools: [{ name: 'f', description: 'does', parameters, strict: undefined }, named('g')] },
    {
      tools: [
        { functionDeclarations: [{ name: 'f', description: 'does', parametersJsonSchema: parameters }, { name: 'g' }] },
      ],
    },
  ],
  ['auto', { tools: [named('f')], toolChoice: 'auto' }, { toolConfig: { functionCallingConfig: { mode: 'AUTO' } } }],
  ['none', { tools: [named('f')], toolChoice: 'none' }, { toolConfig: { functionCallingConfig: { mode: 'NONE' } } }],
  [
    'required',
    { tools: [named('f')], toolChoice: 'required' },
    { toolConfig: { functionCallingConfig: { mode: 'ANY' } } },
  ],
  [
    'one function',
    { tools: [named('f')], toolChoice: { name: 'f' } },
    { toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f'] } } },
  ],
  [
    'strict',
    { tools: [named('f'), named('g', true)], toolChoice: 'auto' },
    { toolConfig: { functionCallingConfig: { mode: 'VALIDATED' } } },
  ],
  [
    'strict with the choice none',
    { tools: [named('f', true)], toolChoice: 'none' },
    { toolConfig: { functionCallingConfig: { mode: 'NONE' } } },
  ],
  ['parallel calls', { tools: [named('f')], parallelToolCalls: true }, {}],
])('CHAT-16 %s is sent in its field', ([, changes, expected]) => {
  const { contents, generationConfig, tools, ...others } = bodyOf({ turns, ...changes });
  const asked: Record<string, unknown> = { generationConfig: {}, ...expected };
  const rest = 'tools' in asked ? { ...others, tools } : others;
  expect({ generationConfig, ...rest }).toEqual(asked);
  expect(contents).toEqual([{ role: 'user', parts: [{ text: 'Hi' }] }]);
});

test.for<readonly [string, Partial<Conversation>, string, string]>([
  [
    'a result without its call',
    { turns: [user('Hi'), tool('c9', 'x')] },
    'invalid_messages',
    'messages[2].tool_call_id',
  ],
  [
    'a result before its call',
    { turns: [tool('c1', 'x'), assistant('', ['c1', 'f'])] },
    'invalid_messages',
    'messages[2].tool_call_id',
  ],
  [
    'a second result of a call',
    { turns: [user('Hi'), assistant('', ['c1', 'f']), tool('c1', 'x'), user('And?'), tool('c1', 'y')] },
    'invalid_messages',
    'messages[2].tool_call_id',
  ],
  ['only system messages', { turns: [system('Be brief.')] }, 'invalid_messages', 'messages'],
  [
    'bytes that are not an image',
    {
      turns: [
        {
          role: 'user',
          param,
          content: [
            {
              kind: 'image',
              url: 'data:image/png;base64,R0lGODlhAQABAAAAACw=',
              detail: 'auto',
              param: 'messages[0].content[0].image_url.url',
            },
          ],
        },
      ],
    },
    'invalid_image_format',
    'messages[0].content[0].image_url.url',
  ],
])('CHAT-16 %s gets an error that names it', ([, changes, code, field]) => {
  expect(refused({ turns, ...changes })).toEqual([code, 400, field, true]);
});

test('CHAT-2 system messages become the instruction, wherever they are', () => {
  const { contents, systemInstruction } = bodyOf({ turns: [system('Be brief.'), user('Hi'), system('Be kind.')] });
  expect(systemInstruction).toEqual({ parts: [{ text: 'Be brief.' }, { text: 'Be kind.' }] });
  expect(contents).toEqual([{ role: 'user', parts: [{ text: 'Hi' }] }]);
});

test('CHAT-2 adjacent turns of one role become one content', () => {
  expect(contentsOf(user('a'), system('s'), user('b'), assistant('c'), assistant('d'), user('e'))).toEqual([
    { role: 'user', parts: [{ text: 'a' }, { text: 'b' }] },
    { role: 'model', parts: [{ text: 'c' }, { text: 'd' }] },
    { role: 'user', parts: [{ text: 'e' }] },
  ]);
});

test('CHAT-5 calls are sent with ids and signatures, and their results together with names', () => {
  const contents = contentsOf(
    user('Hi'),
    assistant('Both.', ['k1', 'weather', '{"city":"Paris"}', 'sig=='], ['k2', 'time', '']),
    tool('k2', 'noon'),
    tool('k1', '{"sun":true}'),
    user('And?'),
  );
  // Arguments and results are parsed only when the body is serialized.
  expect(JSON.parse(JSON.stringify(contents))).toEqual([
    { role: 'user', parts: [{ text: 'Hi' }] },
    {
      role: 'model',
      parts: [
        { text: 'Both.' },
        { functionCall: { id: 'k1', name: 'weather', args: { city: 'Paris' } }, thoughtSignature: 'sig==' },
        { functionCall: { id: 'k2', name: 'time', args: {} } },
      ],
    },
    {
      role: 'user',
      parts: [
        { functionResponse: { id: 'k2', name: 'time', response: { result: 'noon' } } },
        { functionResponse: { id: 'k1', name: 'weather', response: { sun: true } } },
      ],
    },
    { role: 'user', parts: [{ text: 'And?' }] },
  ]);
});

test.for(['noon', '', '[1]', '"x"', '5', 'null'])('CHAT-5 a result %j that is not an object is wrapped', (text) => {
  const [, , result] = [contentsOf(user('Hi'), assistant('', ['c', 'f']), tool('c', text))].flat();
  expect(result).toMatchObject({ parts: [{ functionResponse: { response: { result: text } } }] });
});

test('CHAT-5 the first call of a turn without a signature gets the provider’s placeholder', () => {
  const contents = contentsOf(
    user('Hi'),
    assistant('', ['a', 'f'], ['b', 'f']),
    tool('a', '1'),
    tool('b', '2'),
    assistant('', ['c', 'f', '{}', 'real']),
    tool('c', '3'),
  );
  const signatures = JSON.stringify(contents).match(/"thoughtSignature":"[^"]+"/g);
  expect(signatures).toEqual(['"thoughtSignature":"skip_thought_signature_validator"', '"thoughtSignature":"real"']);
});

test('CHAT-5 ids that the gateway created are not sent to the provider', () => {
  const text = JSON.stringify(contentsOf(user('Hi'), assistant('', ['call_gw_r_0', 'f']), tool('call_gw_r_0', 'x')));
  expect(text).not.toContain('"id"');
  expect(text).toContain('"functionResponse":{"name":"f"');
});

test('CHAT-5 the arguments of a call keep a member named __proto__', () => {
  const text = JSON.stringify(contentsOf(user('Hi'), assistant('', ['a', 'f', '{"__proto__":{"x":1}}'])));
  expect(text).toContain('"args":{"__proto__":{"x":1}}');
});

test('CHAT-6 inline images have the type of their bytes, CHAT-7 videos the declared type', () => {
  const content = [
    { kind: 'image', url: `data:image/jpeg;base64,${PNG}`, detail: 'auto', param },
    { kind: 'video', url: 'data:video/MP4;codecs=avc1;base64,AAAA', param },
    { kind: 'video', url: 'https://youtu.be/abc', param },
    { kind: 'text', text: 'What?' },
  ] as const;
  expect(contentsOf({ role: 'user', content, param })).toEqual([
    {
      role: 'user',
      parts: [
        { inlineData: { mimeType: 'image/png', data: PNG } },
        { inlineData: { mimeType: 'video/mp4', data: 'AAAA' } },
        { fileData: { fileUri: 'https://youtu.be/abc' } },
        { text: 'What?' },
      ],
    },
  ]);
});

test('CHAT-8 a format without a schema is 400', () => {
  const format = { kind: 'json_schema', name: 'a', description: undefined, schema: undefined, strict: true } as const;
  expect(refused({ turns, format })?.[2]).toBe('response_format.json_schema.schema');
});

const shot = { kind: 'image', url: `data:image/png;base64,${PNG}`, detail: 'auto', param } as const;
const clip = { kind: 'video', url: 'https://youtu.be/a', param } as const;
const shown: readonly Turn[] = [
  user('Look'),
  assistant('', ['c1', 'look'], ['c2', 'look']),
  {
    role: 'tool',
    callId: 'c1',
    text: 'left',
    content: [{ kind: 'text', text: 'left' }, shot, clip],
    param: 'messages[2]',
  },
  tool('c2', 'right'),
  user('And?'),
];
const inlineData = { inlineData: { mimeType: 'image/png', data: PNG } };
const linked = { fileData: { fileUri: clip.url } };

test('CHAT-5 a function response has its images as parts; a video follows as content of the user', () => {
  const [, , results, beside, ...more] = fromConversation(conversationOf({ turns: shown }), alpha).body
    .contents as readonly object[];
  expect(results).toEqual({
    role: 'user',
    parts: [
      { functionResponse: { id: 'c1', name: 'look', response: { result: 'left' }, parts: [inlineData] } },
      { functionResponse: { id: 'c2', name: 'look', response: { result: 'right' } } },
    ],
  });
  expect([beside, more]).toEqual([{ role: 'user', parts: [linked, { text: 'And?' }] }, []]);
});

test('CHAT-5 for a model before Gemini 3 the images of results follow them as content of the user', () => {
  expect(['gemini-2.5-flash', 'gemini-3-flash', 'gemini-4-argon', 'gemini-10'].map(nestsMedia)).toEqual([
    false,
    true,
    true,
    true,
  ]);
  const { contents } = fromConversation(conversationOf({ turns: shown.slice(0, -1) }), alpha, {
    nestsMedia: false,
  }).body;
  expect(contents).toMatchObject([{}, {}, {}, { role: 'user', parts: [inlineData, linked] }]);
  expect(JSON.stringify(contents).match(/inlineData/g)).toHaveLength(1);
});
