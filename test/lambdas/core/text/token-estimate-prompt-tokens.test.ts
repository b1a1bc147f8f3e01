import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, test } from 'vitest';
import {
  hasOpaqueParts,
  promptTextTokens,
  promptTokensPlausible,
} from '../../../../lambdas/core/text/token-estimate.ts';
import { textModel } from './text-models.ts';

const limits = { contextTokens: 100_000, outputTokensMax: 1_000, outputTokensDefault: 1_000 };
const roomy = { limits };
const countOf = (text: string): number => encode(text).length;
const prose = 'It rained all day, and so we stayed at home. '.repeat(20);

test.for([
  { messages: [{ role: 'user', content: prose }] },
  {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'short' },
          { type: 'text', text: prose },
        ],
      },
    ],
  },
  {
    tools: [
      { name: 'weather', description: prose, parameters: { type: 'object', properties: { city: { type: 'string' } } } },
    ],
  },
  { values: [1, -1, 999, 1_000, 123_456_789, 1e20, -1.7976931348623157e308, 1e-7, 0.1, true, false, null] },
  { [prose]: prose },
  Array.from({ length: 300 }, (_, index) => index * 7_919),
])('BILL-5 the estimate of a prompt is at least the token count of its JSON: %#', (value) => {
  expect(promptTextTokens(value, [], roomy)).toBeGreaterThanOrEqual(countOf(JSON.stringify(value)));
});

test('BILL-5 each listed inline image is left out once, and every other string counts', () => {
  const image = `data:image/png;base64,${'QUJD'.repeat(1_000)}`;
  const other = `data:image/png;base64,${'REVG'.repeat(1_000)}`;
  const body = [{ url: image }, 'hello', { url: other }];
  expect(promptTextTokens(body, [image, other], roomy)).toBeLessThan(40);
  expect(promptTextTokens([...body, image], [image, other], roomy)).toBeGreaterThan(1_000);
  expect(promptTextTokens([image, ...body], [image, other], roomy)).toBeGreaterThan(1_000);
});

test('BILL-5 counting stops only above the context, at every token factor', () => {
  const body = Array.from({ length: 50 }, () => 'Wörter '.repeat(10_000));
  const counted = promptTextTokens(body, [], roomy);
  expect(counted).toBeGreaterThanOrEqual(100_000);
  expect(counted).toBeLessThan(101_000);
  expect(promptTextTokens(body, [], { limits, inputTokenFactor: 0.5 })).toBeGreaterThanOrEqual(200_000);
  expect(promptTextTokens(body, [], { limits, inputTokenFactor: 2 })).toBeGreaterThanOrEqual(100_000);
});

test('BILL-5 an undefined member costs nothing', () => {
  const model = textModel();
  expect(promptTextTokens({ a: 'b', unsent: undefined }, [], model)).toBe(promptTextTokens({ a: 'b' }, [], model));
});

const plausible = (prompt: object, body = {}, model: Parameters<typeof textModel>[0] = {}) =>
  promptTokensPlausible(textModel({ limits, ...model }), { prompt: { bytes: 100, images: [], ...prompt }, body });

test('BILL-7 a prompt has at most one token per byte and what the provider can add', () => {
  expect(plausible({})).toBe(2_100);
  expect(plausible({ addedTokens: 700 })).toBe(2_800);
  expect(plausible({}, { tools: [{}, {}] })).toBe(4_100);
  expect(plausible({}, { tools: [{ functionDeclarations: [{}, {}, {}] }] })).toBe(5_100);
  expect(plausible({}, {}, { inputTokenFactor: 1.5 })).toBe(300 + 3_000);
  expect(plausible({}, {}, { inputTokenFactor: 4 })).toBe(8_400);
  expect(plausible({}, {}, { inputTokenFactor: 0.5 })).toBe(2_100);
  expect(plausible({ images: ['high', 'low'] })).toBe(
    2_100 + textModel().imageTokensMax.high + textModel().imageTokensMax.low,
  );
});

test('BILL-7 a text that grows in its normalization stays plausible with the factor of Claude', () => {
  const sizes = Array.from({ length: 0x3_0000 }, (_, code) => code)
    .filter((code) => code < 0xd800 || code > 0xdfff)
    .map((code) => String.fromCodePoint(code))
    .map((text) => Buffer.byteLength(text.normalize('NFC')) / Buffer.byteLength(text));
  const growth = sizes.reduce((most, size) => Math.max(most, size));
  expect(growth).toBe(3);
  expect(plausible({ bytes: 10_000 }, {}, { inputTokenFactor: 1.8 })).toBeGreaterThan(10_000 * growth);
});

test.for([{ recordings: 1 }, { documents: 1 }, { hasOpaqueParts: true }, { bytes: 1_000_000 }])(
  'BILL-7 a prompt of unknown size can fill the context: %j',
  (prompt) => {
    expect(plausible(prompt)).toBe(limits.contextTokens);
  },
);

test.for([
  [{ input: [{ type: 'reasoning', encrypted_content: 'x' }] }, true],
  [{ messages: [{ content: [{ type: 'thinking', thinking: '', signature: 'x' }] }] }, true],
  [{ messages: [{ content: [{ type: 'redacted_thinking', data: 'x' }] }] }, true],
  [{ contents: [{ parts: [{ thoughtSignature: 'x' }] }] }, true],
  [{ previous_response_id: 'resp_1' }, true],
  [{ messages: [{ role: 'user', content: 'signature' }], signature: null }, false],
] as const)('BILL-7 the size of encrypted parts and of continued responses is unknown: %j', ([body, isOpaque]) => {
  expect(hasOpaqueParts(structuredClone(body) as never)).toBe(isOpaque);
});
