import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Frame } from '../../../lambdas/providers/read-stream.ts';
import { allFrames, bytesOf, cutAt, eventsOf, parsedAlone } from '../../fixtures/sse/pieces.ts';
import { randomRuns } from '../../support/random-runs.ts';

const runs = randomRuns(import.meta.filename, { quick: 300, long: 20_000 });

const word = fc.oneof(
  fc.constantFrom('', ' ', ':', 'x', 'data: x', '[DONE]', '{"a":"Привет 🌍"}', '\u2028', '\uFEFF', '\u0000'),
  fc.string({ unit: 'binary', maxLength: 12 }).map((text) => text.replaceAll(/[\r\n]/g, '')),
);
const lineEnd = fc.constantFrom('\n', '\r', '\r\n');

const usual = fc
  .tuple(fc.option(word), word)
  .map(([name, data]) => `${name === null ? '' : `event: ${name}\n`}data: ${data}\n\n`);

const line = fc
  .tuple(
    fc.constantFrom(
      'data: ',
      'data:',
      'data',
      'event: ',
      'event:',
      'event',
      'id: ',
      'retry: ',
      ':',
      '',
      '\uFEFF',
      'd',
      ' ',
    ),
    word,
    fc.oneof(lineEnd, fc.constant('\n')),
  )
  .map((parts) => parts.join(''));

const inUsualForm = ({ event, data }: Frame): string =>
  [...(event === '' ? [] : [`event: ${event}`]), ...data.split('\n').map((part) => `data: ${part}`), '', ''].join('\n');

/** Usual events, then a random mix of usual events, unusual lines and line ends; sometimes only the mix. */
const streams = fc
  .tuple(
    fc.constantFrom('', '', '\uFEFF', '\n'),
    fc.array(usual, { maxLength: 12 }),
    fc.array(fc.oneof(usual, line, lineEnd), { maxLength: 20 }),
  )
  .map(([before, first, rest]) => before + first.join('') + rest.join(''));

const shares = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 20 });

const readCut = (bytes: Uint8Array, at: readonly number[]): Promise<Frame[]> =>
  allFrames(
    cutAt(
      bytes,
      at.map((share) => Math.floor(share * bytes.length)),
    ),
  );

test('CHAT-11 any input, however it is cut, has the events that eventsource-parser finds', async () => {
  await fc.assert(
    fc.asyncProperty(streams, shares, async (text, at) => {
      const frames = await readCut(bytesOf(text), at);
      expect(eventsOf(frames)).toEqual(parsedAlone(text));
      expect(frames.map((frame) => frame.text)).toEqual(frames.map(inUsualForm));
    }),
    runs,
  );
});

test('CHAT-11 bytes that are not UTF-8 have the same text wherever they are cut', async () => {
  const byte = fc.oneof(
    fc.constantFrom(0xc3, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0xed, 0xa0, 0xff),
    fc.integer({ min: 32, max: 255 }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(byte, { maxLength: 30 }), shares, async (noise, at) => {
      const bytes = Uint8Array.from([...bytesOf('data: '), ...noise, ...bytesOf('\n\ndata: 2\n\n')]);
      const frames = await readCut(bytes, at);
      expect(eventsOf(frames)).toEqual(parsedAlone(new TextDecoder().decode(bytes)));
    }),
    runs,
  );
});

test('CHAT-11 events in the usual form are sent on byte for byte', async () => {
  const events = fc.array(
    fc
      .tuple(
        fc.option(fc.constantFrom('e', ' e', 'дельта')),
        word.filter((data) => data.trim() !== ''),
      )
      .map(([name, data]) => `${name === null ? '' : `event: ${name}\n`}data: ${data}\n\n`),
    { maxLength: 20 },
  );
  await fc.assert(
    fc.asyncProperty(events, shares, fc.constantFrom('', ':\n\n', '\r\n'), async (texts, at, before) => {
      const frames = await readCut(bytesOf(before + texts.join('')), at);
      expect(frames.map(({ text }) => text)).toEqual(texts);
    }),
    runs,
  );
});
