import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { type HoldParams, placeHold } from '../../../../lambdas/core/ledger/hold.ts';
import { HOLDS_MAX } from '../../../../lambdas/core/ledger/ledger.ts';
import { sweep } from '../../../../lambdas/core/ledger/sweep.ts';
import { PICOS_PER_USD } from '../../../../lambdas/core/money/usd.ts';
import { conflict, fails, losesReply, throttled } from '../../../support/memory/faults.ts';
import { ID, LIFETIME_MS, ledgerScene } from './ledger-scene.ts';

type Scene = Awaited<ReturnType<typeof ledgerScene>>;

const refusal = async (scene: Scene, changes: Partial<HoldParams> = {}): Promise<GatewayError> => {
  const error: unknown = await scene.clock.until(placeHold(scene.deps, scene.order(changes))).catch((thrown) => thrown);
  if (error instanceof GatewayError) return error;
  throw new Error('expected the hold to be refused');
};
const place = (scene: Scene, changes: Partial<HoldParams> = {}) =>
  scene.clock.until(placeHold(scene.deps, scene.order(changes)));
const openHolds = (scene: Scene) => [...scene.account().holds.keys()];
const records = (scene: Scene) =>
  scene.memory.recordsOf(ID).map(({ holdId, outcome, reason }) => [holdId, outcome, reason]);
const released = (...holdIds: string[]) => holdIds.map((holdId) => [holdId, 'released', 'given_up']);

test("BILL-1 the first try holds the amount under the request's first id", async () => {
  const scene = await ledgerScene(1_000n);
  expect(await place(scene)).toEqual({
    accountId: ID,
    requestId: 'r',
    expiresAtMs: scene.clock.now() + LIFETIME_MS,
    holdId: 'r.0',
    amountPicos: 100n,
    nextId: 1,
    availablePicos: 1_000n,
    account: { spentPicos: 0n, month: '1970-01' },
  });
  expect(scene.account()).toMatchObject({
    availablePicos: 900n,
    holds: new Map([['r.0', { amountPicos: 100n, expiresAtMs: scene.clock.now() + LIFETIME_MS }]]),
  });
  expect(scene.memory.sweepAtOf(ID)).toBe(scene.clock.now() + LIFETIME_MS);
  expect(scene.deps.store.calls).toEqual(['hold']);
});

describe('one store call per hold id', () => {
  test.each([
    ['no connection', fails, released('r.0')],
    ['throttling', throttled, []],
    ['a conflict', conflict, []],
  ])(
    'BILL-13 after %s the next id is tried, and only an id whose write may still land is closed',
    async (_name, fault, closed) => {
      const scene = await ledgerScene(1_000n, { hold: [fault] });
      expect(await place(scene)).toMatchObject({ holdId: 'r.1' });
      expect(openHolds(scene)).toEqual(['r.1']);
      expect(records(scene)).toEqual(closed);
    },
  );

  test('BILL-13 a hold whose reply was lost is adopted with its own amount and not closed', async () => {
    const scene = await ledgerScene(1_000n, { hold: [losesReply] });
    expect(await place(scene)).toMatchObject({ holdId: 'r.0', amountPicos: 100n });
    expect(openHolds(scene)).toEqual(['r.0']);
    expect(records(scene)).toEqual([]);
    expect(scene.deps.store.calls).toEqual(['hold', 'hold']);
  });

  test('BILL-13 a further hold of the request uses no id that was sent before', async () => {
    const scene = await ledgerScene(150n, { hold: [losesReply, fails] });
    expect(await place(scene)).toMatchObject({ holdId: 'r.0', nextId: 3 });
  });

  test('BILL-13 each of four tries has its own id, and the last one can still place the hold', async () => {
    const scene = await ledgerScene(1_000n, { hold: [fails, throttled, fails] });
    expect(await place(scene)).toMatchObject({ holdId: 'r.3' });
    expect(openHolds(scene)).toEqual(['r.3']);
    expect(records(scene)).toEqual(released('r.0', 'r.2'));
  });
});

describe('refusals', () => {
  test('BILL-14 if the store stays down, the hold fails with 503 and every tried id is closed', async () => {
    const scene = await ledgerScene(1_000n, { hold: fails });
    const error = await refusal(scene);
    expect([error.code, error.status, error.retryAfterSeconds]).toEqual(['service_unavailable', 503, 30]);
    expect(openHolds(scene)).toEqual([]);
    expect(records(scene)).toEqual(released('r.0', 'r.1', 'r.2', 'r.3'));
  });

  test('BILL-14 if no write is confirmed, the hold fails with 503 and a landed hold is swept', async () => {
    const scene = await ledgerScene(1_000n, { hold: losesReply, putRecord: fails });
    expect((await refusal(scene)).code).toBe('service_unavailable');
    expect(openHolds(scene)).toHaveLength(1 + 1);
    await scene.clock.advance(LIFETIME_MS);
    await sweep(scene.another({}));
    expect(scene.account()).toMatchObject({ availablePicos: 1_000n, spentPicos: 0n, holds: new Map() });
  });

  test('AUTH-4 a balance of 0 is rejected with 402 and named in the message', async () => {
    const scene = await ledgerScene(0n);
    const error = await refusal(scene, { amountPicos: 0n });
    expect([error.code, error.status]).toEqual(['insufficient_balance', 402]);
    expect(error.message).toContain('balance is 0 USD');
    expect(records(scene)).toEqual([]);
  });

  test('GEN-4 too little money is rejected with 402 and the required and available amounts', async () => {
    const scene = await ledgerScene(PICOS_PER_USD / 4n);
    const error = await refusal(scene, { amountPicos: 3n * PICOS_PER_USD + 1n });
    expect(error.code).toBe('insufficient_balance');
    expect(error.message).toContain('3.000000000001 USD');
    expect(error.message).toContain('0.25 USD');
    expect(scene.deps.store.calls).toEqual(['hold']);
  });

  test('BILL-13 a rejected hold closes the id of an earlier try without a reply', async () => {
    const scene = await ledgerScene(50n, { hold: [fails] });
    expect((await refusal(scene)).code).toBe('insufficient_balance');
    expect(records(scene)).toEqual(released('r.0'));
  });

  test('AUTH-4 a blocked account is reported before the number of holds and the balance', async () => {
    const scene = await ledgerScene(BigInt(HOLDS_MAX));
    for (let index = 0; index < HOLDS_MAX; index += 1) await place(scene, { requestId: `q${index}`, amountPicos: 1n });
    const full = await refusal(scene);
    expect([full.code, full.status, full.retryAfterSeconds]).toEqual(['rate_limit_exceeded', 429, 1]);
    expect(full.message).toContain('200');
    scene.memory.setStatus(ID, 'blocked');
    expect(await refusal(scene)).toMatchObject({ code: 'account_blocked', status: 403 });
  });

  test('BILL-14 a missing account is an internal error', async () => {
    const scene = await ledgerScene(1n);
    expect(await refusal(scene, { accountId: 'unknown' })).toMatchObject({ code: 'internal_error' });
  });
});

describe('smaller holds', () => {
  const smaller = (availablePicos: bigint) => (availablePicos >= 60n ? 60n : undefined);

  test('BILL-6 when money is short, a smaller amount is held under the next id', async () => {
    const scene = await ledgerScene(80n);
    expect(await place(scene, { smaller })).toMatchObject({ holdId: 'r.1', amountPicos: 60n });
    expect(scene.account().availablePicos).toBe(20n);
    expect(records(scene)).toEqual([]);
  });

  test('BILL-6 `smaller` is called once, and the 402 names the original amount', async () => {
    const scene = await ledgerScene(80n);
    const asked: bigint[] = [];
    const error = await refusal(scene, {
      amountPicos: 1_000_000_000_000n,
      smaller: (availablePicos) => {
        asked.push(availablePicos);
        return 81n;
      },
    });
    expect(asked).toEqual([80n]);
    expect(error.message).toContain('up to 1 USD');
    expect(scene.deps.store.calls).toEqual(['hold', 'hold']);
  });

  test('BILL-6 a balance too small for the smaller hold is rejected with 402 after one try', async () => {
    const scene = await ledgerScene(50n);
    expect((await refusal(scene, { smaller })).code).toBe('insufficient_balance');
    expect(scene.deps.store.calls).toEqual(['hold']);
  });

  test('BILL-6 a smaller hold whose reply was lost is adopted with the smaller amount', async () => {
    const scene = await ledgerScene(80n, { hold: [undefined, losesReply] });
    expect(await place(scene, { smaller })).toMatchObject({ holdId: 'r.1', amountPicos: 60n });
    expect(openHolds(scene)).toEqual(['r.1']);
  });
});
