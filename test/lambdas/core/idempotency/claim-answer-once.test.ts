import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { ServedHolds } from '../../../../lambdas/core/ledger/served-holds.ts';
import { parseUsd } from '../../../../lambdas/core/money/usd.ts';
import { filtered } from '../../../../lambdas/providers/refusals.ts';
import { createMoment, losesReply, withAnswerFaults, withClaimFaults } from '../../../support/memory/faults.ts';
import { LEASE_MS } from '../../../support/memory/memory-idempotency.ts';
import { ACCOUNT, answered, INPUT_PICOS, OUTPUT_PICOS, used } from '../text/text-world.ts';
import { keyedWorld } from './keyed-world.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;
const answerOf = (id: string, replayed = false) => ({ status: 200, body: `answer of ${id}`, replayed });
const refused = (status: number, body: string) => ({ status, body, replayed: false });
const vendorSays = (code: 'invalid_request_error' | 'upstream_error' | 'content_filter') => async () => {
  throw new GatewayError(code, 'no');
};

test('IDEM-2 a repeated request gets the stored response: one call, one charge', async () => {
  const world = await keyedWorld();
  expect(await world.send('r1')).toEqual(answerOf('r1'));
  expect(world.claim()?.state).toBe('done');
  expect(await world.send('r2')).toEqual(answerOf('r1', true));
  expect(world.sent).toHaveLength(1);
  await world.expectCharges(1);
});

test('IDEM-8 and BILL-1 a request claims, holds, calls, stages, charges, applies and completes', async () => {
  const calls: string[] = [];
  const world = await keyedWorld({}, (deps) => ({
    ...deps,
    claims: withClaimFaults(deps.claims, (method) => {
      calls.push(method);
      return undefined;
    }),
  }));
  await world.send('r1');
  expect(calls).toEqual(['claim', 'stageResponse', 'complete']);
  expect(world.log).toEqual(['hold', 'send', 'putRecord', 'apply']);
  expect(world.records()[0]?.answer).toBe(world.claim()?.prepared?.hash);
});

test('IDEM-3 a different request with the same key is rejected during and after the first', async () => {
  const moment = createMoment();
  const world = await keyedWorld({ play: () => moment.until.then(() => answered()) });
  const first = world.send('r1');
  await world.clock.flush();
  const other = { fingerprint: 'two' };
  expect(await world.send('r2', other)).toEqual(refused(422, 'idempotency_key_mismatch'));
  moment.come();
  await first;
  expect(await world.send('r3', other)).toEqual(refused(422, 'idempotency_key_mismatch'));
  expect(await world.send('r4', { ...other, keyHash: 'key-2' })).toEqual(answerOf('r4'));
  await world.expectCharges(2);
});

test('IDEM-4 one of 100 concurrent requests runs, and the others get its response later', async () => {
  const moment = createMoment();
  const world = await keyedWorld({ play: () => moment.until.then(() => answered()) });
  const all = Array.from({ length: 100 }, (_, index) => world.send(`r${index}`));
  await world.clock.flush();
  moment.come();
  const got = await Promise.all(all);
  expect(got.filter(({ status }) => status === 200)).toEqual([answerOf('r0')]);
  expect(got.filter(({ body }) => body === 'idempotency_in_progress')).toHaveLength(99);
  for (let again = 0; again < 3; again += 1) expect(await world.send(`again-${again}`)).toEqual(answerOf('r0', true));
  expect(world.sent).toHaveLength(1);
  await world.expectCharges(1);
});

test('IDEM-4 a request that takes several leases keeps its claim by renewals', async () => {
  const moment = createMoment();
  const world = await keyedWorld({ play: () => moment.until.then(() => answered()) });
  const first = world.send('r1');
  await world.clock.advance(5 * LEASE_MS);
  expect(await world.send('r2')).toEqual(refused(409, 'idempotency_in_progress'));
  moment.come();
  expect(await first).toEqual(answerOf('r1'));
  expect(world.clock.waiting).toBe(0);
  await world.expectCharges(1);
});

test.for(['invalid_request_error', 'content_filter'] as const)(
  'IDEM-7 a rejection by the provider, %s, is stored and costs nothing',
  async (code) => {
    const world = await keyedWorld({ play: vendorSays(code) });
    expect(await world.send('r1')).toEqual(refused(400, code));
    expect(await world.send('r2')).toEqual({ status: 400, body: `error ${code}`, replayed: true });
    expect(world.sent).toHaveLength(1);
    expect(world.records()).toMatchObject([{ outcome: 'released', answer: world.claim()?.prepared?.hash }]);
    await world.expectCharges(0);
  },
);

test('IDEM-7 a failure frees the claim, and after six calls the idempotency key is exhausted', async () => {
  const world = await keyedWorld({ play: vendorSays('upstream_error') });
  for (let number = 0; number < 6; number += 1) {
    expect(await world.send(`r${number}`)).toEqual(refused(502, 'upstream_error'));
    expect(world.claim()).toMatchObject({ state: 'free', dispatches: number + 1, prepared: undefined });
  }
  expect(await world.send('r7')).toEqual(refused(409, 'idempotency_exhausted'));
  expect(await world.send('r8', { fingerprint: 'two' })).toEqual(refused(422, 'idempotency_key_mismatch'));
  expect(world.sent).toHaveLength(6);
  await world.expectCharges(0);
});

test('IDEM-7 a request that never reached a provider leaves no claim', async () => {
  const world = await keyedWorld({ usd: '0' });
  for (let number = 0; number < 8; number += 1) {
    expect(await world.send(`r${number}`)).toEqual(refused(402, 'insufficient_balance'));
  }
  expect(world.claim()).toBeUndefined();
  await world.memory.credit({ accountId: ACCOUNT, ref: 'more', amountPicos: parseUsd('1'), reason: 'test', at: 0 });
  expect(await world.send('r9', { fingerprint: 'two' })).toEqual(answerOf('r9'));
});

test('IDEM-7 after 24 hours the idempotency key is new, even if its item still exists', async () => {
  const world = await keyedWorld();
  await world.send('r1');
  await world.clock.advance(DAY_MS - 1);
  expect(await world.send('r2')).toEqual(answerOf('r1', true));
  await world.clock.advance(1);
  expect(await world.send('r3', { fingerprint: 'two' })).toEqual(answerOf('r3'));
  await world.expectCharges(2);
});

test('IDEM-7 a response above 256 KB is stored outside the claim and replayed byte for byte', async () => {
  const long = 'é€😀'.repeat(40_000);
  const world = await keyedWorld({ play: async () => answered() });
  const { send, answers } = world;
  const original = world.deps.wires;
  expect(original.size).toBe(1);
  expect(await send('r1', { keyHash: 'short' })).toEqual(answerOf('r1'));
  expect(answers.answers().size).toBe(0);
  const first = await send(long);
  expect(first).toEqual(answerOf(long));
  expect([...answers.answers().keys()]).toEqual([`${long}.0`]);
  expect(await send('r3')).toEqual({ ...first, replayed: true });
});

test('IDEM-8 a large response that cannot be stored is not charged', async () => {
  const world = await keyedWorld({}, (deps) => ({
    ...deps,
    answers: withAnswerFaults(deps.answers, { put: { kind: 'fails' } }),
  }));
  const long = 'x'.repeat(300_000);
  expect(await world.clock.until(world.send(long))).toEqual(refused(503, 'service_unavailable'));
  await world.expectCharges(0);
});

test('IDEM-8 an owner whose lease expired returns the response of the request that took over', async () => {
  const moment = createMoment();
  let calls = 0;
  const play = async () => {
    calls += 1;
    if (calls === 1) await moment.until;
    return answered();
  };
  const world = await keyedWorld({ play }, (deps) => ({
    ...deps,
    claims: withClaimFaults(deps.claims, { renew: { kind: 'fails' } }),
  }));
  const owner = world.send('r1');
  await world.clock.advance(LEASE_MS);
  expect(await world.send('r2')).toEqual(answerOf('r2'));
  moment.come();
  expect(await owner).toEqual(answerOf('r2', true));
  expect(world.records()).toMatchObject([
    { holdId: 'r1.0', outcome: 'released', reason: 'taken_over' },
    { holdId: 'r1.1', outcome: 'released' },
    { holdId: 'r1.2', outcome: 'released' },
    { holdId: 'r1.3', outcome: 'released' },
    { holdId: 'r2.0', outcome: 'settled' },
  ]);
  await world.expectCharges(1);
});

test('IDEM-8 the staged response of an owner that died after its charge is replayed', async () => {
  const world = await keyedWorld({ fault: (method) => (method === 'apply' ? asleep : undefined) });
  void world.send('r1');
  await world.clock.flush();
  expect(world.claim()?.state).toBe('done');
  expect(await world.send('r2')).toEqual(answerOf('r1', true));
  await world.clock.advance(LEASE_MS);
  expect(world.sent).toHaveLength(1);
});

const never = new Promise<void>(() => undefined);
const asleep = { kind: 'delayed', until: never } as const;

test.for(['stageResponse', 'complete'] as const)(
  'IDEM-8 the claim of an owner that dies at its %s is taken over',
  async (at) => {
    const world = await keyedWorld({}, (deps) => ({
      ...deps,
      claims: withClaimFaults(deps.claims, (method, turn) => {
        if (method === 'renew') return { kind: 'fails' };
        return method === at && turn === 0 ? asleep : undefined;
      }),
    }));
    void world.send('r1');
    await world.clock.advance(LEASE_MS - 1);
    if (at === 'stageResponse') expect(await world.send('r2')).toEqual(refused(409, 'idempotency_in_progress'));
    else expect(await world.send('r2')).toEqual(answerOf('r1', true));
    await world.clock.advance(1);
    expect(await world.send('r3')).toEqual(at === 'stageResponse' ? answerOf('r3') : answerOf('r1', true));
    await world.expectCharges(1);
  },
);

test.for(['claim', 'stageResponse', 'complete'] as const)(
  'IDEM-8 a lost reply of %s changes nothing for the client',
  async (method) => {
    const world = await keyedWorld({}, (deps) => ({
      ...deps,
      claims: withClaimFaults(deps.claims, { [method]: [losesReply, losesReply] }),
    }));
    expect(await world.clock.until(world.send('r1'))).toEqual(answerOf('r1'));
    expect(await world.send('r2')).toEqual(answerOf('r1', true));
    await world.expectCharges(1);
  },
);

test.for(['claim', 'stageResponse'] as const)(
  'IDEM-8 and BILL-14 a store that fails at %s causes 503 without a charge',
  async (method) => {
    const world = await keyedWorld({}, (deps) => ({
      ...deps,
      claims: withClaimFaults(deps.claims, { [method]: { kind: 'fails' } }),
    }));
    expect(await world.clock.until(world.send('r1'))).toEqual(refused(503, 'service_unavailable'));
    expect(world.sent).toHaveLength(method === 'claim' ? 0 : 1);
    await world.expectCharges(0);
  },
);

test('IDEM-8 a charged request with a lost response is never dispatched again', async () => {
  const world = await keyedWorld({}, (deps) => ({
    ...deps,
    answers: { put: async () => undefined, get: async () => undefined },
  }));
  const long = 'x'.repeat(300_000);
  expect((await world.send(long)).status).toBe(200);
  expect(await world.send('r2')).toEqual(refused(409, 'idempotency_exhausted'));
  expect(world.sent).toHaveLength(1);
  await world.expectCharges(1);
});

test('BILL-21, IDEM-7 blocked output counts once, and a replay of its error does not count', async () => {
  const world = await keyedWorld({ play: () => Promise.reject(filtered(used(7, 3))) });
  const first = await world.send('request-1');
  expect(first).toMatchObject({ status: 400, replayed: false });
  const counter = (await world.account()).uncollected;
  expect(counter?.picos).toBe(7n * INPUT_PICOS + 3n * OUTPUT_PICOS);
  expect(await world.send('request-2')).toMatchObject({ status: 400, replayed: true });
  expect((await world.account()).uncollected).toEqual(counter);
  expect(world.sent).toHaveLength(1);
});

describe('a lease that was taken while the clock was an hour ahead', () => {
  const HOUR_MS = 3_600_000;
  const begin = async (served?: ServedHolds) => {
    const moment = createMoment();
    const plays = [() => moment.until.then(() => answered())];
    const world = await keyedWorld({ play: () => (plays.shift() ?? (async () => answered()))() });
    Object.assign(world.deps.ledger, { served });
    world.clock.skip(HOUR_MS);
    const first = world.send('r1');
    await world.clock.flush();
    world.clock.skip(-HOUR_MS);
    return { ...world, first, end: moment.come };
  };

  test('IDEM-8 it is over after the correction, and one request is charged', async () => {
    const world = await begin();
    expect(await world.send('r2')).toEqual(answerOf('r2'));
    world.end();
    expect(await world.first).toEqual(answerOf('r2', true));
    await world.expectCharges(1);
  });

  test('IDEM-4 it counts while the own process serves its owner', async () => {
    const world = await begin(new ServedHolds(() => 0));
    expect(await world.send('r2')).toEqual(refused(409, 'idempotency_in_progress'));
    world.end();
    expect(await world.first).toEqual(answerOf('r1'));
    expect(await world.send('r3')).toEqual(answerOf('r1', true));
  });
});

test('IDEM-4 a lease that is younger than the reply of a slow store counts', async () => {
  const [provider, reply] = [createMoment(), createMoment()];
  const slow = { kind: 'delayed', until: reply.until } as const;
  const plays = [() => provider.until.then(() => answered())];
  const world = await keyedWorld({ play: () => (plays.shift() ?? (async () => answered()))() }, (deps) => ({
    ...deps,
    claims: withClaimFaults(deps.claims, { claim: [slow] }),
  }));
  const late = world.send('r1');
  await world.clock.flush();
  world.clock.skip(10 * LEASE_MS);
  const first = world.send('r2');
  await world.clock.flush();
  reply.come();
  expect(await late).toEqual(refused(409, 'idempotency_in_progress'));
  provider.come();
  expect(await first).toEqual(answerOf('r2'));
  await world.expectCharges(1);
});
