import { expect, test } from 'vitest';
import { text } from '../catalog/sample-data.ts';
import { ACCOUNT, createWorld, heldFor } from './text-world.ts';

/** A world whose API key has a cap in total, with this rest. */
const capped = async (limitPicos: bigint) => {
  const model = text({ limits: { contextTokens: 4_000, outputTokensMax: 3_000, outputTokensDefault: 1_000 } });
  const cap = { keyId: 'k', kind: 'total', epoch: 2 } as const;
  const world = await createWorld({ models: [model], cap });
  world.memory.setCap(ACCOUNT, 'k', { limitPicos, kind: 'total' }, 0);
  return { ...world, left: async () => (await world.account()).caps.get('k')?.leftPicos };
};

test('KEY-9 a request takes the same store calls with a cap as without one, and its charge counts', async () => {
  const { ask, log, left, records } = await capped(heldFor(1_000));
  await ask();
  const [record] = records();
  expect(log).toEqual(['hold', 'send', 'putRecord', 'apply']);
  expect(record?.cap).toEqual({ keyId: 'k', period: '2:total' });
  expect(await left()).toBe(heldFor(1_000) - (record?.amountPicos ?? 0n));
});

test('KEY-9 and BILL-6 the rest of the cap limits the output that the gateway chooses', async () => {
  const { ask, sent } = await capped(heldFor(999));
  expect([(await ask()).chosenCap, sent[0]?.outputTokensMax]).toEqual([999, 999]);
});

test('KEY-9, BILL-6 the error has the output tokens that the rest of the cap pays for, also with the new field', async () => {
  const { ask, left } = await capped(heldFor(255));
  await expect(ask()).rejects.toMatchObject({
    code: 'key_limit_exceeded',
    message: expect.stringMatching(
      /left of the cap.*The available amount pays for 255 output tokens\. The cap never resets\. Raise the cap, or set max_tokens to at most 242\.$/,
    ),
  });
  expect(await left()).toBe(heldFor(255));
});

test('KEY-9 and BILL-16 a dry run shows the hold without the cap and does not read it', async () => {
  const { generate, log } = await capped(heldFor(255));
  expect(await generate({ dryRun: true })).toMatchObject({ holdPicos: heldFor(1_000), outputTokensMax: 1_000 });
  expect(log).toEqual([]);
});
