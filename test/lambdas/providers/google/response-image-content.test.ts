import { expect, test } from 'vitest';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { StoreError } from '../../../../lambdas/core/errors/store-error.ts';
import type { WireEvent } from '../../../../lambdas/core/text/text-wire.ts';
import { createGenerateContentWire } from '../../../../lambdas/providers/google/generate-content-wire.ts';
import {
  decodeBytes,
  LinkedContent,
  type LinkImage,
  type Part,
} from '../../../../lambdas/providers/google/response.ts';
import { nativeReader, neutralReader } from '../../../../lambdas/providers/google/stream.ts';
import { readStream } from '../../../../lambdas/providers/read-stream.ts';
import { inPieces, textIn, toSse } from './stream-reading.ts';
import { conversationOf, dispatch, playedOptions, wireCall } from './wire-call.ts';

const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').toString('base64');
const drawn: Part = { inlineData: { data: png } };

const linked = (stored: () => Promise<void> = () => Promise.resolve()) => {
  const types: string[] = [];
  const linkImage: LinkImage = (_bytes, mediaType) => {
    types.push(mediaType);
    return { url: `https://m.test/${types.length}`, store: stored };
  };
  return { linkImage, types };
};

const contentOf = (parts: readonly Part[], linkImage: LinkImage | undefined = linked().linkImage): string => {
  const content = new LinkedContent(linkImage);
  return parts.map((part) => content.take(part)).join('');
};

test('CHAT-12 blank lines separate an image from the text around it', () => {
  expect(contentOf([drawn])).toBe('![image](https://m.test/1)');
  expect(contentOf([{ text: 'A ' }, { text: 'fox' }, drawn, { text: 'Well' }, { text: ' done' }])).toBe(
    'A fox\n\n![image](https://m.test/1)\n\nWell done',
  );
  expect(contentOf([drawn, drawn])).toBe('![image](https://m.test/1)\n\n![image](https://m.test/2)');
});

test('CHAT-12 CHAT-14 an image is stored once, after the response ended successfully', async () => {
  const stored: string[] = [];
  const { linkImage } = linked(async () => void stored.push('stored'));
  const content = new LinkedContent(linkImage);
  expect(content.take(drawn)).toContain('https://m.test/1');
  expect(stored).toEqual([]);
  await content.store();
  await content.store();
  expect(stored).toEqual(['stored']);
});

test('CHAT-12 thoughts are dropped, including drafts', () => {
  const { linkImage, types } = linked();
  const thoughts = [
    { text: 'Hm', thought: true },
    { ...drawn, thought: true },
  ];
  expect(contentOf([...thoughts, { text: 'A fox' }], linkImage)).toBe('A fox');
  expect(types).toEqual([]);
});

test.for([
  ['AAAA', 3],
  ['AAA=', 2],
  ['AA==', 1],
  ['AAA', 2],
  ['_-A=', 2],
  ['', 0],
] as const)('IMG-1 base64 is read in either alphabet, padded or not: %s', ([text, length]) => {
  expect(decodeBytes(text)).toHaveLength(length);
});

test.for(['A', 'AAAAA', 'AA*A', 'AA A', 'AAAA\n', 'AA=A', 'A===', 'AA=', 'AAAA==', '=', 'data:image/png;base64,AAAA'])(
  'IMG-7 invalid base64 is rejected: %j',
  (text) => {
    expect(() => decodeBytes(text)).toThrow(GatewayError);
  },
);

const refusalContext = { retryAfterSeconds: 1, secret: 's', notice: () => undefined };
const event = (parts: readonly object[], more: object = {}) =>
  JSON.stringify({ candidates: [{ content: { parts }, index: 0, ...more }], responseId: 'r' });
const last = JSON.stringify({
  candidates: [{ content: { role: 'model' }, finishReason: 'STOP', index: 0 }],
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 1_130 },
});

const eventsOf = (linkImage: LinkImage, ...events: readonly string[]) =>
  readStream(
    inPieces(...events.map((data) => toSse([data]))),
    neutralReader({ refusalContext, protocol: 'chat_completions', linkImage }),
  );

test('CHAT-12 a stream sends the link immediately, and its end waits for the image', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { linkImage } = linked(() => promise);
  const events = eventsOf(linkImage, event([{ text: 'A fox' }]), event([drawn]), last);
  const seen: WireEvent[] = [];
  for (const _ of [1, 2]) {
    const next = await events.next();
    if (!next.done) seen.push(next.value);
  }
  expect(textIn(seen.flatMap((each) => (each.kind === 'neutral' ? each.deltas : [])))).toBe(
    'A fox\n\n![image](https://m.test/1)',
  );
  const end = events.next();
  const first = await Promise.race([end.then(() => 'end'), new Promise((done) => setImmediate(() => done('waits')))]);
  expect(first).toBe('waits');
  resolve();
  expect((await end).value).toMatchObject({
    kind: 'end',
    ending: { finishReason: 'stop' },
    usage: { output: 0, imageOutput: 1_130 },
  });
});

test('CHAT-12, BILL-14 an image that cannot be stored ends the stream with an error', async () => {
  const { linkImage } = linked(() => Promise.reject(new StoreError('unavailable', 'no bucket')));
  const events = eventsOf(linkImage, event([drawn]), last);
  await events.next();
  await expect(events.next()).rejects.toMatchObject({ code: 'service_unavailable', retryAfterSeconds: 30 });
});

test('BILL-9 a stream that stops after its image is incomplete, even if storing would fail', async () => {
  const { linkImage } = linked(() => Promise.reject(new StoreError('unavailable', 'no bucket')));
  const events = eventsOf(linkImage, event([drawn]));
  await events.next();
  await expect(events.next()).rejects.toMatchObject({ code: 'upstream_error' });
});

test('CHAT-14 no image of a response that ends blocked is stored', async () => {
  const { linkImage, types } = linked();
  const events = eventsOf(linkImage, event([drawn], { finishReason: 'IMAGE_SAFETY' }));
  await expect(events.next()).rejects.toMatchObject({ code: 'content_filter' });
  expect(types).toEqual([]);
});

test('CHAT-14 if a response without a stream is blocked, none of its images are stored', async () => {
  const { linkImage, types } = linked();
  const { options } = playedOptions({ body: event([drawn], { finishReason: 'IMAGE_SAFETY' }) });
  const fetchImage = () => Promise.reject(new Error('unexpected image fetch'));
  const wire = createGenerateContentWire({ ...options, fetchImage, linkImage });
  const sent = wire.buildCall(wireCall({ conversation: conversationOf() })).send(dispatch());
  await expect(sent).rejects.toMatchObject({ code: 'content_filter' });
  expect(types).toEqual([]);
});

test('BILL-11 a native stream counts the tokens of an image that it has already passed on', async () => {
  const reader = nativeReader(1, { refusalContext, protocol: 'generate_content', linkImage: linked().linkImage });
  const events = [event([{ text: 'A fox' }]), event([drawn]), last];
  let usage: unknown;
  for await (const each of readStream(inPieces(toSse(events)), reader)) if (each.kind === 'end') usage = each.usage;
  expect(usage).toMatchObject({ output: 0, imageOutput: 1_130 });
});

test('BILL-11 an image of a model without image prices changes no count', async () => {
  const reader = nativeReader(1, { refusalContext, protocol: 'generate_content' });
  let usage: unknown;
  for await (const each of readStream(inPieces(toSse([event([drawn]), last])), reader))
    if (each.kind === 'end') usage = each.usage;
  expect(usage).toMatchObject({ output: 1_130 });
  expect(usage).not.toHaveProperty('imageOutput');
});
