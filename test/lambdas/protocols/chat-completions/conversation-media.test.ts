import { expect, test } from 'vitest';
import { promptTokensAtMost } from '../../../../lambdas/core/text/token-estimate.ts';
import { bodyOf, prepared, refusalOf, showing, versatile } from './chat-requests.ts';

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
