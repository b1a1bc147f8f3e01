import { beforeAll, describe, expect, test } from 'vitest';
import { type CircuitSubject, circuitSubjects } from './circuit-subjects.ts';

const NOW = Date.UTC(2026, 10, 1);
const DAY_MS = 86_400_000;
const opening = { openUntilMs: NOW + 30_000, openings: 1, goodProbes: 0 };
const AFTER = NOW + 30_000;

describe.each(circuitSubjects)('the store of circuits $name', ({ open }) => {
  let subject: CircuitSubject;
  beforeAll(async () => {
    subject = await open();
  });

  const keyOf = (modelId: string) => ({ providerId: 'vendor', modelId });
  const stateOf = async (modelId: string, nowMs = NOW) => {
    const { state } = await subject.store.read(keyOf(modelId), [NOW], nowMs);
    return state.known ? state.value : 'unknown';
  };
  const openModel = (modelId: string, nowMs = NOW) =>
    subject.store.open(keyOf(modelId), opening, nowMs, nowMs + DAY_MS);
  const lease = (modelId: string, owner: string, nowMs = AFTER) =>
    subject.store.lease(keyOf(modelId), { owner, leaseUntilMs: nowMs + 30_000 }, nowMs);

  test('FALL-1 a circuit without items is closed, without calls and not quarantined', async () => {
    expect(await subject.store.read(keyOf('none'), [NOW, NOW - 15_000], NOW)).toEqual({
      state: { known: true, value: undefined },
      buckets: [NOW, NOW - 15_000].map((startMs) => ({ startMs, failures: 0, successes: 0, accounts: [] })),
      quarantinedUntilMs: { known: true, value: 0 },
    });
  });

  test('FALL-1 calls of all processes add up in their bucket, with their set of accounts', async () => {
    const count = (startMs: number, failures: number, successes: number, accounts: string[]) =>
      subject.store.count(keyOf('counted'), { startMs, failures, successes, accounts }, NOW + 120_000);
    await Promise.all([
      ...Array.from({ length: 20 }, (_, index) => count(NOW, 1, 2, [index % 2 === 0 ? 'a' : 'b'])),
      count(NOW, 0, 7, []),
      count(NOW - 15_000, 3, 0, ['c']),
    ]);
    const { buckets } = await subject.store.read(keyOf('counted'), [NOW, NOW - 15_000], NOW);
    expect(buckets.map((bucket) => ({ ...bucket, accounts: bucket.accounts.toSorted() }))).toEqual([
      { startMs: NOW, failures: 20, successes: 47, accounts: ['a', 'b'] },
      { startMs: NOW - 15_000, failures: 3, successes: 0, accounts: ['c'] },
    ]);
    expect([undefined, (NOW + 120_000) / 1_000]).toContain(await subject.expiryOf(`circuit#vendor#counted#${NOW}`));
  });

  test('FALL-1 one of many concurrent openings succeeds, and none while a state exists', async () => {
    const replies = await Promise.all(Array.from({ length: 10 }, () => openModel('opened')));
    expect(replies.filter((opened) => opened)).toHaveLength(1);
    expect(await stateOf('opened')).toEqual({ ...opening, probe: undefined });
    expect(await openModel('opened', AFTER + 1)).toBe(false);
    expect([undefined, (NOW + DAY_MS) / 1_000]).toContain(await subject.expiryOf('circuit#vendor#opened'));
  });

  test('FALL-1 an expired state is ignored although its item still exists', async () => {
    await openModel('old');
    expect(await stateOf('old', NOW + DAY_MS - 1)).toBeDefined();
    expect(await stateOf('old', NOW + DAY_MS)).toBeUndefined();
    expect(await openModel('old', NOW + DAY_MS - 1)).toBe(false);
    expect(await openModel('old', NOW + DAY_MS)).toBe(true);
  });

  test('FALL-1 a lease is taken once after the circuit is half open, and again after it expires', async () => {
    await openModel('leased');
    expect(await lease('leased', 'early', AFTER - 1)).toEqual({ refused: { ...opening, probe: undefined } });
    const replies = await Promise.all(Array.from({ length: 10 }, (_, index) => lease('leased', `p${index}`)));
    const had = replies.filter((reply) => 'leased' in reply);
    expect(had).toHaveLength(1);
    const state = had[0] && 'leased' in had[0] ? had[0].leased : undefined;
    expect(state).toEqual({
      ...opening,
      probe: { owner: expect.stringMatching(/^p\d$/), leaseUntilMs: AFTER + 30_000 },
    });
    expect(await lease('leased', 'late', AFTER + 29_999)).toEqual({ refused: state });
    expect(await lease('leased', 'next', AFTER + 30_000)).toMatchObject({ leased: { probe: { owner: 'next' } } });
    expect(await lease('nothing', 'p')).toEqual({ refused: undefined });
  });

  test('FALL-1 only the owner of the lease renews, releases, judges and closes', async () => {
    const key = keyOf('owned');
    const { store } = subject;
    const judged = { openUntilMs: AFTER + 60_000, openings: 2, goodProbes: 1 };
    const others = async (owner: string) => [
      await store.renew(key, owner, AFTER + 99_000),
      await store.releaseProbe(key, owner),
      await store.judge(key, owner, judged, NOW + DAY_MS),
      await store.close(key, owner),
    ];
    await openModel('owned');
    expect(await others('nobody')).toEqual([false, false, false, false]);
    await lease('owned', 'owner');
    expect(await others('other')).toEqual([false, false, false, false]);
    expect(await store.renew(key, 'owner', AFTER + 40_000)).toBe(true);
    expect(await stateOf('owned')).toEqual({ ...opening, probe: { owner: 'owner', leaseUntilMs: AFTER + 40_000 } });
    expect(await store.releaseProbe(key, 'owner')).toBe(true);
    expect(await stateOf('owned')).toEqual({ ...opening, probe: undefined });
    expect(await others('owner')).toEqual([false, false, false, false]);
    await lease('owned', 'second');
    expect(await store.judge(key, 'second', judged, AFTER + DAY_MS)).toBe(true);
    expect(await stateOf('owned')).toEqual({ ...judged, probe: undefined });
    expect(await others('second')).toEqual([false, false, false, false]);
    await lease('owned', 'third', AFTER + 60_000);
    expect(await store.close(key, 'third')).toBe(true);
    expect(await stateOf('owned')).toBeUndefined();
    expect(await others('third')).toEqual([false, false, false, false]);
  });

  test('BILL-10 each response without usage is counted once in its bucket', async () => {
    const { store } = subject;
    const counts = await Promise.all(
      Array.from({ length: 20 }, (_, index) => store.countMissing('m', `h${index % 2}`, NOW, NOW + 600_000)),
    );
    expect(counts.map(({ count }) => count).toSorted((one, other) => one - other)).toEqual(
      Array.from({ length: 20 }, (_, index) => index + 1),
    );
    const before = { count: 1, accounts: ['h2'] };
    expect(await store.countMissing('m', 'h2', NOW - 60_000, NOW + 540_000)).toEqual(before);
    const sum = await store.readMissing('m', [NOW, NOW - 60_000, NOW - 120_000]);
    expect([sum.count, sum.accounts.toSorted()]).toEqual([21, ['h0', 'h1', 'h2']]);
    expect(await store.readMissing('other', [NOW])).toEqual({ count: 0, accounts: [] });
    expect([undefined, NOW / 1_000 + 600]).toContain(await subject.expiryOf(`quarantine#m#${NOW}`));
  });

  test('BILL-10 a quarantine applies at every provider, and is not replaced before it ends', async () => {
    const { store } = subject;
    const shutUntil = async (providerId: string) =>
      (await store.read({ providerId, modelId: 'shut' }, [NOW], NOW)).quarantinedUntilMs;
    const replies = await Promise.all(Array.from({ length: 5 }, () => store.quarantine('shut', NOW + 900_000, NOW)));
    expect(replies.filter((shut) => shut)).toHaveLength(1);
    expect(await shutUntil('one')).toEqual({ known: true, value: NOW + 900_000 });
    expect(await shutUntil('two')).toEqual({ known: true, value: NOW + 900_000 });
    expect(await store.quarantine('shut', NOW + 1_800_000, NOW + 899_999)).toBe(false);
    expect(await store.quarantine('shut', NOW + 1_800_000, NOW + 900_000)).toBe(true);
    expect([undefined, NOW / 1_000 + 1_800]).toContain(await subject.expiryOf('quarantine#shut'));
    await subject.liftQuarantine('shut');
    expect(await shutUntil('one')).toEqual({ known: true, value: 0 });
  });
});
