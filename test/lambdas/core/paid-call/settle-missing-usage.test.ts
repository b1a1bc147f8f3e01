import { expect, test } from 'vitest';
import type { TokenUsage } from '../../../../lambdas/core/pricing/charge.ts';
import type { WireEvent } from '../../../../lambdas/core/text/text-wire.ts';
import { price, text } from '../catalog/sample-data.ts';
import { answeredIn, loggingSink, streamed } from '../text/sink.ts';
import { answered, createWorld, INPUT_PICOS, OUTPUT_PICOS, raw, streamOf, used } from '../text/text-world.ts';

const endOf = (usage: TokenUsage | undefined): WireEvent => ({
  kind: 'end',
  ending: { kind: 'deferred', event: { id: 'last' }, reportedUsage: undefined },
  usage,
});

test('BILL-10 a usage that is all zeros is missing usage, plain and in a stream', async () => {
  for (const usage of [used(0, 0), undefined]) {
    const plain = await createWorld({ play: async () => ({ ...answered(), usage }) });
    await plain.ask();
    const stream = await createWorld({ play: async () => streamOf(raw('a'), endOf(usage)) });
    await streamed(await stream.ask({ stream: true })).pump(loggingSink(stream.log).sink);
    for (const { notices, records } of [plain, stream]) {
      expect(notices).toEqual(['usage_missing']);
      expect(records()).toMatchObject([{ outcome: 'settled', amountPicos: 0n, reason: 'usage_missing' }]);
    }
  }
});

test('BILL-10 zeros of tokens that are free, or of a provider without usage, are not reported', async () => {
  const free = price({ rates: { input: '0', output: '0' } });
  for (const model of [text({ reportsUsage: false }), text({ prices: [free] })]) {
    const world = await createWorld({ models: [model], play: async () => answered(used(0, 0)) });
    await world.ask();
    expect(world.notices).toEqual([]);
    expect(world.records()[0]).not.toHaveProperty('reason');
  }
});

test('BILL-10 a count above 0 is a usage', async () => {
  for (const usage of [used(1, 0), used(0, 1)]) {
    const world = await createWorld({ play: async () => answered(usage) });
    await world.ask();
    expect(world.notices).toEqual([]);
    expect(world.records()[0]).not.toHaveProperty('reason');
  }
});

test('BILL-11 a total that differs from its parts is reported, and the record does not count it', async () => {
  const world = await createWorld({ play: async () => answered({ ...used(40, 10), totalDiffers: true }) });
  const { receipt } = answeredIn(await world.ask());
  expect([receipt.costPicos, world.notices]).toEqual([40n * INPUT_PICOS + 10n * OUTPUT_PICOS, ['usage_total_differs']]);
  expect(world.records()[0]?.usage).toEqual({ ...used(40, 10) });
});
