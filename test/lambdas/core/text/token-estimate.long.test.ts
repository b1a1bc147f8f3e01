import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, test } from 'vitest';
import { corpusOf } from '../../../../bench/token-corpus.ts';
import { tokensOfText } from '../../../../lambdas/core/text/token-estimate.ts';

/** docs/internals/token-estimate.md reports these ratios for more than ten times as many samples. */
test("BILL-5 the estimate is at least OpenAI's count and on average at most 1.6 times it", () => {
  const samples = corpusOf({ seed: 2, samplesPerKind: 20, charactersMax: 3_000 }).filter(({ heldOut }) => heldOut);
  expect(samples.length).toBeGreaterThan(500);
  const ratios = samples.map(({ text }) => tokensOfText(text) / encode(text, { disallowedSpecial: new Set() }).length);
  expect(samples.filter((_, index) => (ratios[index] ?? 0) < 1)).toEqual([]);
  expect(ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length).toBeLessThanOrEqual(1.6);
});
