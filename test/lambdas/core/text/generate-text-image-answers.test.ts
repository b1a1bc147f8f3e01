import { expect, test } from 'vitest';
import { limits, price, text } from '../catalog/sample-data.ts';
import { answeredIn } from './sink.ts';
import { answered, createWorld, INPUT_PICOS, OUTPUT_PICOS, used } from './text-world.ts';

/** Pico-USD per image output token: 160 USD per million. */
const IMAGE_PICOS = 160_000_000n;
const draws = text({
  imageTiers: ['1K', '4K'],
  prices: [
    price({
      rates: { input: '8', output: '40', imageOutput: '160' },
      imageTokensByTier: { '1K': 120, '4K': 400 },
    }),
  ],
});
const prompt = 100n * INPUT_PICOS;

test.for([
  ['of unknown size', undefined, 200, 200n],
  ['of known size', '4K', 500, 500n],
  ['larger than the cap', '4K', 100, 400n],
] as const)(
  'BILL-5 the hold for a response with an image %s uses the image price for all tokens',
  async ([, imageTier, cap, held]) => {
    const world = await createWorld({ models: [draws] });
    const dry = await world.generate({ dryRun: true }, { imageTier, outputTokensMax: cap });
    if (dry.kind !== 'dry_run') throw new Error('expected a dry run');
    expect(dry.holdPicos).toBe(prompt + held * IMAGE_PICOS);
    const every = { input: INPUT_PICOS, cacheRead: INPUT_PICOS, cacheWrite: INPUT_PICOS, cacheWrite1h: INPUT_PICOS };
    const output = { output: OUTPUT_PICOS, reasoning: OUTPUT_PICOS, imageOutput: IMAGE_PICOS };
    expect(dry.prices).toEqual({ ...every, ...output });
  },
);

test('BILL-7 an image above the cap is charged in full', async () => {
  const play = async () => answered({ ...used(40, 0), imageOutput: 120 });
  const world = await createWorld({ models: [draws], play });
  const { receipt } = answeredIn(await world.ask({ outputTokensMax: 50 }));
  expect(receipt.costPicos).toBe(40n * INPUT_PICOS + 120n * IMAGE_PICOS);
  expect(world.notices).toEqual([]);
  expect(world.records()).toMatchObject([{ prices: { imageOutput: IMAGE_PICOS }, usage: { imageOutput: 120 } }]);
});

test("BILL-7 usage above the model's output limit is charged at that limit", async () => {
  const most = limits.outputTokensMax;
  const play = async () => answered({ ...used(40, 0), imageOutput: most + 1 });
  const world = await createWorld({ models: [draws], play });
  const { receipt } = answeredIn(await world.ask({ outputTokensMax: 50 }));
  expect(receipt.costPicos).toBe(40n * INPUT_PICOS + BigInt(most) * IMAGE_PICOS);
  expect(world.notices).toContain('usage_implausible');
});

test('BILL-6 a smaller cap still covers the image, or the request is rejected', async () => {
  // Cost of the prompt and of 256 tokens in addition to those of an image.
  const enough = '0.06096';
  const large = await createWorld({
    models: [{ ...draws, limits: { contextTokens: 1_000, outputTokensMax: 800, outputTokensDefault: 700 } }],
    usd: enough,
  });
  await large.ask();
  expect(large.sent[0]?.outputTokensMax).toBe(376);
  const poor = await createWorld({
    models: [{ ...draws, limits: { contextTokens: 1_000, outputTokensMax: 800, outputTokensDefault: 700 } }],
    usd: '0.060959999999',
  });
  await expect(poor.ask()).rejects.toMatchObject({ code: 'insufficient_balance' });
});
