import fc from 'fast-check';
import { expect, test } from 'vitest';
import { StopMatcher, toStopSequences } from '../../../../lambdas/protocols/chat-completions/stop-matcher.ts';

/** The text before the sequence that starts earliest. */
const cutAt = (text: string, sequences: readonly string[]): string => {
  const starts = sequences.map((sequence) => text.indexOf(sequence)).filter((start) => start >= 0);
  return starts.length > 0 ? text.slice(0, Math.min(...starts)) : text;
};

/** Length of the longest prefix of a sequence with which the text ends. */
const prefixAtEnd = (text: string, sequences: readonly string[]): number => {
  const isPrefix = (length: number) => sequences.some((sequence) => sequence.startsWith(text.slice(-length)));
  return Array.from({ length: text.length }, (_, at) => text.length - at).find(isPrefix) ?? 0;
};

/** Few letters, so that sequences overlap each other and themselves. */
const letters = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom('a', 'b', '\n', '😀'), minLength, maxLength });

test('CHAT-17 a text in any pieces ends before the stop sequence that starts earliest', () => {
  const pieces = fc.array(letters(0, 4), { maxLength: 12 });
  fc.assert(
    fc.property(pieces, fc.array(letters(1, 5), { minLength: 1, maxLength: 4 }), (arriving, sequences) => {
      const matcher = new StopMatcher(toStopSequences(sequences));
      const whole = arriving.join('');
      const expected = cutAt(whole, sequences);
      let sent = '';
      let arrived = '';
      for (const piece of arriving) {
        arrived += piece;
        sent += matcher.take(piece);
        expect(expected.startsWith(sent)).toBe(true);
        // The text held back is at most the start of a sequence.
        if (!matcher.isCut) expect(arrived.length - sent.length).toBeLessThanOrEqual(prefixAtEnd(arrived, sequences));
      }
      expect(sent + matcher.rest()).toBe(expected);
      expect(matcher.isCut).toBe(expected !== whole);
    }),
    { numRuns: 3_000 },
  );
});

test.for([
  [['END'], ['abE', 'N', 'Dx'], ['ab', '', ''], ''],
  [['END'], ['abE', 'N', 'x'], ['ab', '', 'ENx'], ''],
  [['END'], ['abEN'], ['ab'], 'EN'],
  [['abc', 'b'], ['xab'], ['x'], 'a'],
  [['aab'], ['aaab'], ['a'], ''],
  [[''], ['abc'], ['abc'], ''],
] as const)('CHAT-17 the stop sequences %j cut the pieces %j to %j and the rest %j', ([stop, pieces, sent, rest]) => {
  const matcher = new StopMatcher(toStopSequences(stop));
  expect(pieces.map((piece) => matcher.take(piece))).toEqual(sent);
  expect(matcher.rest()).toBe(rest);
});
