import fc from 'fast-check';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, test } from 'vitest';
import { tokensOfText } from '../../../../lambdas/core/text/token-estimate.ts';
import { randomRuns } from '../../../support/random-runs.ts';

const countOf = (text: string): number => encode(text, { disallowedSpecial: new Set() }).length;
const { seed, numRuns } = randomRuns(import.meta.filename, { quick: 200, long: 20_000 });

const texts = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 200 }),
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.string({ unit: fc.constantFrom(...'ab Z09.\n\té\u4e2d\ud83d\ude00'), maxLength: 60 }),
);

test.for([
  ['English', 'The quick brown fox jumps over the lazy dog, and the dog does not mind.'],
  ['German', 'Könntest du mir bitte erklären, warum das so lange gedauert hat?'],
  ['code', 'const total = items.reduce((sum, { price }) => sum + price, 0);\n\treturn total;\n'],
  ['JSON', '{"id":"5f0c","tags":["a","b"],"nested":{"count":12345,"ok":true}}'],
  ['base64', 'aGVsbG8gd29ybGQsIHRoaXMgaXMgYmFzZTY0IG9mIHNvbWUgdGV4dA=='],
  ['hexadecimal', 'd41d8cd98f00b204e9800998ecf8427ee3b0c44298fc1c149afbf4c8996fb924'],
  ['digits', '3141592653589793238462643383279502884197169399375105820974944592'],
  ['capitals', 'WARNING: THE REQUEST FAILED BECAUSE THE MANUAL WAS NOT READ'],
  ['random letters', 'xqzjvkwpbmgfh qqxzkjvw wvutzyx kjhgfdsq pqzmxncb'],
  ['marks', '@#$%^&*()_+{}|:"<>?~`-=[];\',./\\'],
  ['Russian', 'Не могли бы вы объяснить, почему эта функция вызывается дважды?'],
  ['Arabic', 'هل يمكنك أن تشرح لي لماذا تُستدعى هذه الدالة مرتين؟'],
  ['Hindi', 'क्या आप बता सकते हैं कि यह फ़ंक्शन दो बार क्यों बुलाया जाता है?'],
  ['Thai', 'ช่วยอธิบายหน่อยได้ไหมว่าทำไมฟังก์ชันนี้ถูกเรียกสองครั้ง'],
  ['Korean', '이 함수가 왜 두 번 호출되는지 설명해 주시겠어요?'],
  ['Japanese', 'この関数がなぜ二回呼び出されるのか説明してもらえますか'],
  ['Chinese', '你能解释一下为什么这个函数会被调用两次吗？'],
  ['emoji', '😀👨‍👩‍👧‍👦🇩🇪👍🏽🏳️‍🌈❤️‍🔥'],
  ['Amharic', 'ይህ ተግባር ለምን ሁለት ጊዜ እንደሚጠራ ማብራራት ይችላሉ?'],
  ['rare ideographs', '𠀀𠀁𠀂𠀃𠀄'],
  ['halves of characters', '\ud800a\udc00b\ud83d'],
  ['control characters', '\u0000\u0001\u001f\u007f\u0000\u0002'],
] as const)('BILL-5 the estimate of %s is at least its token count and below three times that', ([, text]) => {
  const count = countOf(text);
  expect(tokensOfText(text)).toBeGreaterThanOrEqual(count);
  expect(tokensOfText(text)).toBeLessThan(3 * count);
});

test('BILL-5 the estimate is at most the bytes of a text, and 0 only for the empty text', () => {
  expect(tokensOfText('')).toBe(0);
  fc.assert(
    fc.property(texts, (text) => {
      expect(tokensOfText(text)).toBeLessThanOrEqual(Buffer.byteLength(text));
      expect(tokensOfText(text)).toBeGreaterThanOrEqual(Math.min(1, text.length));
    }),
    { seed, numRuns },
  );
});

/**
 * Largest difference, in tokens, between the estimate of a joined text and the sum of the estimates of its two parts.
 * Two characters get a new neighbor, which changes their estimate, and every text has a base cost.
 */
const SEAM = 8;
/**
 * Text with few tokens per byte. It keeps both estimates below their limit of one token per byte, which would distort
 * the sum.
 */
const cheap = 'hello '.repeat(200);
const meeting = fc.oneof(texts, fc.stringMatching(/^([a-z]{1,40}| {1,40}|-{1,40}|[a-cA-C -]{1,60})$/));

test('BILL-5 the estimate of two joined texts is the sum of both, except at the joint', () => {
  fc.assert(
    fc.property(meeting, meeting, (left, right) => {
      expect(tokensOfText(left + right)).toBeGreaterThanOrEqual(tokensOfText(left));
      const [one, other] = [cheap + left, right + cheap];
      const apart = tokensOfText(one) + tokensOfText(other);
      expect(Math.abs(tokensOfText(one + other) - apart)).toBeLessThanOrEqual(SEAM);
    }),
    { seed, numRuns },
  );
});

test('BILL-5 a repeated word fragment is estimated at its token count or more', () => {
  const text = 'ineration'.repeat(200);
  expect(tokensOfText(text)).toBeGreaterThanOrEqual(countOf(text));
});

test('BILL-5 counting stops at the given number of tokens', () => {
  const text = 'hello '.repeat(1_000);
  expect(tokensOfText(text, 100)).toBeGreaterThanOrEqual(100);
  expect(tokensOfText(text, 100)).toBeLessThan(110);
});
