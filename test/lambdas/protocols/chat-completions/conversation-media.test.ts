import { expect, test } from 'vitest';
import { promptTokensAtMost } from '../../../../lambdas/core/text/token-estimate.ts';
import { bodyOf, hello, jpeg, png, prepared, refusalOf, showing, versatile } from './chat-requests.ts';

const watching = {
  inputTypes: ['text', 'image', 'video'],
  capabilities: { ...versatile().capabilities, videoInput: true },
  videoLinkHosts: ['www.youtube.com', 'youtu.be'],
};
const mp4 = `data:video/mp4;base64,${Buffer.alloc(3_000).toString('base64')}`;
const PARAM = 'messages[0].content[1].image_url.url';

test.for(['https://www.youtube.com/watch?v=abc', 'https://youtu.be/abc', 'http://youtu.be/abc', mp4])(
  'CHAT-7 a model with video input accepts %s, which is not an image',
  (url) => {
    const { prompt, toConversation } = prepared({ messages: showing(url) }, watching);
    expect(prompt.images).toEqual([]);
    expect(prompt.recordings).toBe(1);
    expect(toConversation?.().turns).toMatchObject([
      { content: [{ kind: 'text' }, { kind: 'video', url, param: PARAM }] },
    ]);
  },
);

test('CHAT-7 an inline video of 20,000,000 characters passes, one more is rejected', () => {
  const head = 'data:video/mp4;base64,';
  const video = (length: number) => showing(head + 'A'.repeat(length - head.length));
  expect(prepared({ messages: video(20_000_000) }, watching).prompt.recordings).toBe(1);
  expect(refusalOf({ messages: video(20_000_001) }, watching)).toMatchObject({
    code: 'invalid_request_error',
    param: PARAM,
  });
});

test.for(['https://example.com/a.mp4', 'https://example.com/a.MP4?x=1', 'http://www.youtube.com/a.mp4#t'])(
  'CHAT-7 a link to a file is rejected on any model: %s',
  (url) => {
    for (const model of [{}, { inputTypes: ['text', 'image', 'video'], capabilities: watching.capabilities }]) {
      expect(refusalOf({ messages: showing(url) }, model)).toMatchObject({
        code: 'invalid_request_error',
        status: 400,
        param: PARAM,
      });
    }
  },
);

test('CHAT-7 a video for a model without video input is rejected', () => {
  expect(refusalOf({ messages: showing(mp4) })).toMatchObject({ code: 'invalid_request_error', param: PARAM });
});

test.for([
  'https://www.youtube.com\\@youtu.be/a',
  'https://youtu.be/a\\b',
  'https://someone@youtu.be/a',
  'https://youtu.be@example.com/a',
])('CHAT-7 %s, which parsers read as different hosts, is not a platform link', (url) => {
  const { prompt } = prepared({ messages: showing(url) }, watching);
  expect([prompt.images, prompt.recordings]).toEqual([['auto'], 0]);
});

test('BILL-5 a recording counts as the whole context, and its characters are not text', () => {
  const limits = { contextTokens: 1_000_000, outputTokensMax: 1_000, outputTokensDefault: 1_000 };
  const model = versatile({ ...watching, limits });
  for (const [url, inlined] of [[mp4, mp4.length] as const, ['https://youtu.be/abc', 0] as const]) {
    const request = prepared({ messages: showing(url) }, { ...watching, limits });
    const bodyBytes = Buffer.byteLength(JSON.stringify(bodyOf({ messages: showing(url) })));
    expect(request.prompt.bytes).toBe(bodyBytes - inlined);
    expect(promptTokensAtMost(model, request)).toBe(1_000_000);
  }
});

const shows = (url: string, detail?: string) => ({ type: 'image_url', image_url: { url, detail } });
const text = (words: string) => ({ type: 'text', text: words });
const call = (id: string) => ({ id, type: 'function', function: { name: 'look', arguments: '{}' } });
const called = [hello, { role: 'assistant', content: null, tool_calls: [call('a'), call('b')] }];
const result = (tool_call_id: string, ...content: readonly object[]) => ({ role: 'tool', tool_call_id, content });
const looked = [...called, result('a', shows(png), text('left')), result('b', shows(jpeg, 'low')), hello];

test('CHAT-5 images of tool results follow the results in a user message of a chat body', () => {
  const { body } = prepared({ messages: looked });
  expect(body.messages).toEqual([
    ...called,
    result('a', text('left')),
    { role: 'tool', tool_call_id: 'b', content: expect.any(String) },
    {
      role: 'user',
      content: [
        { type: 'text', text: expect.stringContaining('a:') },
        shows(png),
        { type: 'text', text: expect.stringContaining('b:') },
        shows(jpeg, 'low'),
      ],
    },
    hello,
  ]);
});

test('CHAT-5 a tool turn with images has its parts in their order, and its text alone', () => {
  const param = 'messages[2].content[0].image_url.url';
  const image = { kind: 'image', url: png, detail: 'auto', param };
  const { turns = [] } = prepared({ messages: looked }).toConversation?.() ?? {};
  expect(turns[2]).toEqual({
    role: 'tool',
    callId: 'a',
    text: 'left',
    content: [image, { kind: 'text', text: 'left' }],
    param: 'messages[2]',
  });
  expect(turns[3]).toMatchObject({ callId: 'b', text: '', content: [{ kind: 'image', detail: 'low' }] });
});

test('BILL-5 the hold counts the images of tool results as those of a user message', () => {
  const { prompt } = prepared({ messages: looked });
  expect(prompt.images).toEqual(['auto', 'low']);
  const sent = Buffer.byteLength(JSON.stringify(prepared({ messages: looked }).body));
  expect(prompt.bytes).toBe(sent - png.length - jpeg.length);
});

test('CHAT-6 images of tool results are checked like those of a user message', () => {
  const param = 'messages[2].content[0].image_url.url';
  const showingOne = (url: string) => ({ messages: [...called, result('a', shows(url))] });
  expect(refusalOf(showingOne('data:image/png;base64,AAAA'))).toMatchObject({ code: 'invalid_image_format', param });
  expect(
    refusalOf(showingOne(png), { inputTypes: ['text'], capabilities: { ...versatile().capabilities, vision: false } }),
  ).toMatchObject({ param });
});
