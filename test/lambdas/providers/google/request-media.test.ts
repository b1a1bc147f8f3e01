import { expect, test } from 'vitest';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { unlimitedMemory } from '../../../../lambdas/core/limits/request-memory.ts';
import type { ContentPart } from '../../../../lambdas/core/text/conversation.ts';
import type { ImageFetch } from '../../../../lambdas/providers/image-fetch.ts';
import { generatedContent } from '../../../fixtures/google/generated-content.ts';
import { conversationOf, dispatch, sentBody, wireCall, wireTo } from './wire-call.ts';

const place = (index: number) => `messages[0].content[${index}].image_url.url`;

const callWith = (...urls: readonly string[]) => {
  const content = urls.map<ContentPart>((url, index) => ({ kind: 'image', url, detail: 'auto', param: place(index) }));
  return wireCall({ conversation: conversationOf({ turns: [{ role: 'user', content, param: 'messages[0]' }] }) });
};

const [first, second] = ['https://a.test/1', 'http://b.test/2'] as const;

test('CHAT-6 images by URL are fetched once each before the call, and sent as bytes', async () => {
  const asked: string[] = [];
  const fetchImage: ImageFetch = async (url, { param }) => {
    asked.push(`${url} ${param}`);
    return { mediaType: 'image/jpeg', bytes: Buffer.from(url) };
  };
  const { wire, seen } = wireTo({ fetchImage, body: JSON.stringify(generatedContent) });
  const prepared = wire.buildCall(callWith(first, second, first));
  expect(asked).toEqual([]);
  await prepared.gather?.({ byUrl: new Map(), memory: unlimitedMemory });
  expect([asked, seen.requests]).toEqual([[`${first} ${place(0)}`, `${second} ${place(1)}`], []]);
  await prepared.send(dispatch());
  const parts = [first, second, first].map((url) => ({
    inlineData: { mimeType: 'image/jpeg', data: Buffer.from(url).toString('base64') },
  }));
  expect(sentBody(seen)).toMatchObject({ contents: [{ role: 'user', parts }] });
});

test('CHAT-6 an image that cannot be fetched is reported before anything is sent', async () => {
  const failure = new GatewayError('invalid_image_format', 'gone', { param: place(0) });
  const { wire, seen } = wireTo({ fetchImage: () => Promise.reject(failure) });
  await expect(wire.buildCall(callWith(first)).gather?.({ byUrl: new Map(), memory: unlimitedMemory })).rejects.toBe(
    failure,
  );
  expect(seen.requests).toEqual([]);
});
