import { expect, test } from 'vitest';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { toCap } from '../../../../lambdas/core/ledger/caps.ts';
import { type HoldParams, placeHold } from '../../../../lambdas/core/ledger/hold.ts';
import { release } from '../../../../lambdas/core/ledger/release.ts';
import { sweep } from '../../../../lambdas/core/ledger/sweep.ts';
import { createMoment, fails, type LedgerFaults, losesReply } from '../../../support/memory/faults.ts';
import { ID, LIFETIME_MS, ledgerScene } from './ledger-scene.ts';

const AT = Date.UTC(2026, 10, 26, 12);
const DAY_MS = 86_400_000;

/** An account with 1,000 pico-USD and a daily cap of 300. */
const open = async (faults: LedgerFaults = {}, changes: { balance?: bigint; limit?: bigint } = {}) => {
  const scene = await ledgerScene(changes.balance ?? 1_000n, faults);
  await scene.clock.advance(AT - scene.clock.now());
  const setCap = (limitPicos: bigint, kind: 'day' | 'total' = 'day') =>
    scene.memory.setCap(ID, 'k', { limitPicos, kind }, scene.clock.now());
  setCap(changes.limit ?? 300n);
  const epoch = scene.account().version;
  const cap = { keyId: 'k', kind: 'day', epoch } as const;
  const place = (requestId: string, order: Partial<HoldParams> = {}) =>
    scene.clock.until(placeHold(scene.deps, scene.order({ requestId, cap, ...order })));
  const refusal = async (requestId: string, order: Partial<HoldParams> = {}): Promise<GatewayError> => {
    const error: unknown = await place(requestId, order).catch((thrown) => thrown);
    if (error instanceof GatewayError) return error;
    throw new Error('expected the hold to be refused');
  };
  const left = () => scene.account().caps.get('k')?.leftPicos;
  return { ...scene, epoch, setCap, place, refusal, left };
};

test('KEY-9 a hold within the cap takes one store call and returns its cap', async () => {
  const { deps, place, left, epoch } = await open();
  expect(await place('a')).toMatchObject({
    holdId: 'a.0',
    nextId: 1,
    cap: { keyId: 'k', period: `${epoch}:2026-11-26` },
  });
  expect(left()).toBe(200n);
  expect(deps.store.calls).toEqual(['hold']);
});

test('KEY-9 the first hold of a day takes one more call, and the next holds take one', async () => {
  const { clock, deps, place, left, epoch } = await open();
  await place('a');
  await clock.advance(DAY_MS);
  expect(await place('b')).toMatchObject({ holdId: 'b.1', nextId: 2, cap: { period: `${epoch}:2026-11-27` } });
  expect(deps.store.calls).toEqual(['hold', 'hold', 'hold']);
  expect(left()).toBe(200n);
  await place('c');
  expect([deps.store.calls.length, left()]).toEqual([4, 100n]);
});

test('KEY-9 a process whose clock is a day late holds in what is left of its own day', async () => {
  const { clock, place, left, epoch, another, order, ...scene } = await open();
  await place('before');
  await clock.advance(DAY_MS);
  await place('a');
  const late = { ...another({}), clock: { now: () => AT, after: clock.after.bind(clock) } };
  const cap = { keyId: 'k', kind: 'day', epoch } as const;
  expect(await clock.until(placeHold(late, order({ requestId: 'b', cap })))).toMatchObject({
    holdId: 'b.1',
    cap: { period: `${epoch}:2026-11-26` },
  });
  expect([left(), scene.account().holds.size]).toEqual([100n, 3]);
  const rest = order({ requestId: 'c', cap, amountPicos: 101n });
  await expect(clock.until(placeHold(late, rest))).rejects.toMatchObject({ code: 'key_limit_exceeded' });
  expect(await place('d', { amountPicos: 200n })).toMatchObject({ cap: { period: `${epoch}:2026-11-27` } });
  expect(left()).toBe(0n);
});

test('KEY-9 two processes whose clocks are a second apart at midnight do not move the cap to and fro', async () => {
  const { clock, place, deps, epoch, another, order } = await open();
  await place('before');
  await clock.advance(DAY_MS / 2);
  await place('a');
  const late = { ...another({}), clock: { now: () => clock.now() - 1_000, after: clock.after.bind(clock) } };
  const cap = { keyId: 'k', kind: 'day', epoch } as const;
  expect(await clock.until(placeHold(late, order({ requestId: 'b', cap })))).toMatchObject({
    cap: { period: `${epoch}:2026-11-27` },
  });
  const calls = deps.store.calls.length;
  await place('c');
  expect(deps.store.calls.length - calls).toBe(1);
});

test('KEY-9 a hold above the cap is 402 with the cap and its reset, and nothing is held', async () => {
  const { place, refusal, left, deps, account } = await open();
  await place('a', { amountPicos: 250n });
  const error = await refusal('b');
  expect([error.code, error.status, error.type]).toEqual(['key_limit_exceeded', 402, 'insufficient_balance']);
  expect(error.message).toContain('only 0.00000000005 USD is left of the cap of this API key');
  expect(error.message).toContain('The cap resets at 2026-11-27T00:00:00Z.');
  expect([left(), account().holds.size, deps.store.calls.length]).toEqual([50n, 1, 2]);
});

test('KEY-9 a new day does not cover a hold above the limit', async () => {
  const { clock, refusal } = await open();
  await clock.advance(DAY_MS);
  const error = await refusal('a', { amountPicos: 301n });
  expect(error.code).toBe('key_limit_exceeded');
  expect(error.message).toContain('only 0.0000000003 USD is left');
  expect(error.message).toContain('The cap resets at 2026-11-28T00:00:00Z.');
});

test.each([
  ['the balance is lower than the cap', { balance: 100n }, 150n],
  ['the balance does not cover it either', { balance: 200n, limit: 150n }, 250n],
])('KEY-9 a hold is 402 insufficient_balance if %s', async (_name, changes, amountPicos) => {
  const { refusal } = await open({}, changes);
  expect((await refusal('a', { amountPicos })).code).toBe('insufficient_balance');
});

test('KEY-9 a blocked account is 403, whatever is left of the cap', async () => {
  const { memory, refusal } = await open({}, { limit: 10n });
  memory.setStatus(ID, 'blocked');
  expect((await refusal('a')).code).toBe('account_blocked');
});

test('KEY-9 and BILL-6 the rest of the cap limits the smaller hold, if it is less than the balance', async () => {
  const { place, left } = await open();
  await place('a', { amountPicos: 250n });
  const seen: bigint[] = [];
  const smaller = (usablePicos: bigint) => {
    seen.push(usablePicos);
    return usablePicos - 1n;
  };
  expect(await place('b', { smaller })).toMatchObject({ holdId: 'b.1', amountPicos: 49n });
  expect([seen, left()]).toEqual([[50n], 1n]);
});

test('KEY-9 and BILL-6 a new day and a smaller hold take one more call together', async () => {
  const { clock, place, left } = await open();
  await place('a');
  await clock.advance(DAY_MS);
  expect(await place('b', { amountPicos: 400n, smaller: (usablePicos) => usablePicos })).toMatchObject({
    holdId: 'b.1',
    amountPicos: 300n,
  });
  expect(left()).toBe(0n);
});

test('KEY-9 and BILL-6 the cap is the reason only if the balance pays for a smaller hold', async () => {
  const { refusal } = await open({}, { balance: 150n, limit: 100n });
  const above = (minPicos: bigint) => (usablePicos: bigint) => (usablePicos > minPicos ? usablePicos : undefined);
  const withAdvice = { amountPicos: 500n, advice: (usablePicos: bigint) => `It pays for ${usablePicos}.` };
  const byCap = await refusal('a', { ...withAdvice, smaller: above(120n) });
  expect([byCap.code, byCap.message.includes('It pays for 100.')]).toEqual(['key_limit_exceeded', true]);
  const byBalance = await refusal('b', { ...withAdvice, smaller: above(200n) });
  expect([byBalance.code, byBalance.message.includes('It pays for 150.')]).toEqual(['insufficient_balance', true]);
});

test('KEY-9 a stored key that names an earlier cap holds in the present one', async () => {
  const { place, setCap, left, memory } = await open();
  memory.setCap(ID, 'k', undefined, AT);
  setCap(150n, 'total');
  const { version } = (await memory.readAccount(ID)) ?? {};
  expect(await place('a')).toMatchObject({ holdId: 'a.1', cap: { period: `${version}:total` } });
  expect(left()).toBe(50n);
});

test('KEY-9 a stored key whose cap was removed holds without one', async () => {
  const { place, memory, account } = await open();
  memory.setCap(ID, 'k', undefined, AT);
  const placed = await place('a', { amountPicos: 900n });
  expect([placed.holdId, placed.cap, account().holds.get('a.1')?.cap]).toEqual(['a.1', undefined, undefined]);
});

test('KEY-9 and BILL-13 a hold whose reply was lost is adopted with its cap', async () => {
  const { clock, place, left, epoch } = await open({ hold: [undefined, undefined, losesReply] });
  await place('a');
  await clock.advance(DAY_MS);
  // The first id is refused by the day, the reply of the second is lost, and the third finds it.
  const placed = await place('b');
  expect(placed).toMatchObject({ holdId: 'b.1', cap: { keyId: 'k', period: `${epoch}:2026-11-27` } });
  expect(left()).toBe(200n);
});

test('KEY-9 and BILL-14 the first hold of a day is placed although two replies before it are lost', async () => {
  const { clock, place, left, epoch } = await open({ hold: [undefined, losesReply, losesReply] });
  await place('a');
  await clock.advance(DAY_MS);
  // The store refuses the first three ids, because the day has ended. Only the third reply arrives.
  const placed = await place('b');
  expect(placed).toMatchObject({ holdId: 'b.3', cap: { keyId: 'k', period: `${epoch}:2026-11-27` } });
  expect(left()).toBe(200n);
});

test('KEY-9 and BILL-13 a hold that was given up restores its cap', async () => {
  const { memory, place, left, account } = await open({ hold: [losesReply, fails, fails, fails] });
  await expect(place('a')).rejects.toMatchObject({ code: 'service_unavailable' });
  expect([left(), account().holds.size, memory.recordsOf(ID).length]).toEqual([300n, 0, 4]);
});

test('KEY-9 and BILL-14 holds that land after they were given up are closed 5 s later with their cap', async () => {
  const { until, come } = createMoment();
  const { clock, deps, place, left, account } = await open({ hold: { kind: 'lands-late', until } });
  await expect(place('a')).rejects.toMatchObject({ code: 'service_unavailable' });
  come();
  await deps.store.landed();
  // Each id needs only the one before it to be free, so the first and the third one are held.
  expect([left(), account().holds.size]).toEqual([100n, 2]);
  await clock.advance(5_000);
  expect([left(), account().holds.size]).toEqual([300n, 0]);
});

test('KEY-9 a release restores the cap and names it in its record', async () => {
  const { deps, memory, place, left } = await open();
  const placed = await place('a');
  await release(deps, placed, { reason: 'upstream_error' });
  expect([left(), memory.recordsOf(ID)[0]?.cap]).toEqual([300n, placed.cap]);
});

test('KEY-9 and BILL-13 the sweeper restores the cap of an expired hold, in its day only', async () => {
  const { clock, deps, place, left, memory } = await open();
  const placed = await place('a');
  await clock.advance(LIFETIME_MS);
  await sweep(deps);
  expect([left(), memory.recordsOf(ID)[0]?.cap]).toEqual([300n, placed.cap]);
  await place('b');
  await clock.advance(DAY_MS);
  await place('c', { expiresAtMs: clock.now() + DAY_MS });
  await sweep(deps);
  expect([left(), (await memory.readAccount(ID))?.holds.size]).toEqual([200n, 1]);
});

test('OPS-11 a cap of a newer release takes no hold, whatever kind its stored key names', async () => {
  const { memory, place, refusal, epoch, ...scene } = await open();
  const newer = toCap(300n, 300n, `${epoch}:2026-W48`);
  memory.replaceCaps(ID, new Map([['k', newer]]));
  for (const kind of ['day', 'month', 'total'] as const)
    expect((await refusal(kind, { cap: { keyId: 'k', kind, epoch } })).code).toBe('key_limit_exceeded');
  expect([scene.account().holds.size, scene.account().caps.get('k')]).toEqual([0, newer]);
});
