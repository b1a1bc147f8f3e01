import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, test } from 'vitest';
import { promptTextTokens } from '../../../../lambdas/core/text/token-estimate.ts';
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
