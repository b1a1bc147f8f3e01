import { expect, test } from 'vitest';
import { type IdempotencyDependencies, toKnownClaim } from '../../../../lambdas/core/idempotency/claim-store.ts';
import { toOutcome } from '../../../../lambdas/core/ledger/ledger.ts';
import { resolveHoldById } from '../../../../lambdas/core/ledger/release.ts';
import { sweep } from '../../../../lambdas/core/ledger/sweep.ts';
import {
  createMoment,
  type FaultScript,
  fails,
  losesReply,
  throttled,
  withClaimFaults,
} from '../../../support/memory/faults.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { LEASE_MS } from '../../../support/memory/memory-idempotency.ts';
import { ACCOUNT, answered } from '../text/text-world.ts';
import { keyedWorld } from './keyed-world.ts';

const answerOf = (id: string, replayed = false) => ({ status: 200, body: `answer of ${id}`, replayed });
const refused = (status: number, body: string) => ({ status, body, replayed: false });
const asleep = { kind: 'delayed', until: new Promise<void>(() => undefined) } as const;

const withClaims =
  (faults: FaultScript<keyof IdempotencyDependencies['claims']>) =>
  (deps: IdempotencyDependencies): IdempotencyDependencies => ({
    ...deps,
    claims: withClaimFaults(deps.claims, faults),
  });

test('IDEM-8 a staged response that was never charged is not replayed', async () => {
  const world = await keyedWorld(
    { fault: (method, turn) => (method === 'putRecord' && turn === 0 ? asleep : undefined) },
    withClaims({ renew: fails }),
  );
  void world.send('r1');
  await world.clock.flush();
  expect(world.claim()?.state).toBe('prepared');
  expect(await world.send('r2')).toEqual(refused(409, 'idempotency_in_progress'));
  // The process of `r1` is suspended, so its timers do not run.
  world.clock.skip(LEASE_MS);
  expect(await world.send('r3')).toEqual(answerOf('r3'));
  await world.expectCharges(1);
});

test('IDEM-8 a takeover releases the hold of the previous owner without the sweeper', async () => {
  const world = await keyedWorld({ play: () => new Promise(() => undefined) }, withClaims({ renew: fails }));
  void world.send('r1');
  await world.clock.advance(LEASE_MS);
  void world.send('r2');
  await world.clock.flush();
  expect([...(await world.account()).holds.keys()]).toEqual(['r2.0']);
});

test('IDEM-8 a charged request that died and lost its response is not dispatched again', async () => {
  const world = await keyedWorld({}, (deps) => ({
    ...withClaims({ renew: fails, complete: [asleep] })(deps),
    answers: { put: async () => undefined, get: async () => undefined },
  }));
  void world.send('x'.repeat(300_000));
  await world.clock.advance(LEASE_MS);
  expect(world.claim()?.state).toBe('prepared');
  expect(await world.send('r2')).toEqual(refused(409, 'idempotency_exhausted'));
  expect(world.sent).toHaveLength(1);
  await world.expectCharges(1);
});

test('IDEM-8 a charged request whose claim was not completed is replayed', async () => {
  const world = await keyedWorld({}, withClaims({ complete: fails }));
  expect(await world.clock.until(world.send('r1'))).toEqual(answerOf('r1'));
  expect(await world.clock.until(world.send('r2'))).toEqual(answerOf('r1', true));
  expect(world.sent).toHaveLength(1);
  await world.expectCharges(1);
});

test('IDEM-8 and BILL-14 a claim whose charge may be committed is kept', async () => {
  const world = await keyedWorld({
    // The charge is written but its reply is lost. Both the check for the charge and the release fail.
    fault: (method, turn) => {
      if (method !== 'putRecord' || turn >= 12) return undefined;
      return turn < 4 ? losesReply : fails;
    },
    outboxFaults: { put: fails },
  });
  expect(await world.clock.until(world.send('r1'))).toEqual(refused(503, 'service_unavailable'));
  expect(await world.send('r2')).toEqual(answerOf('r1', true));
  expect(world.sent).toHaveLength(1);
  await world.expectCharges(1);
});

test('IDEM-8 and BILL-14 an outbox entry written after the lease does not charge the request', async () => {
  const slow = createMoment();
  const world = await keyedWorld(
    {
      fault: (method, turn) => (method === 'putRecord' && turn < 4 ? fails : undefined),
      outboxFaults: { put: [{ kind: 'delayed', until: slow.until }] },
    },
    withClaims({ renew: fails }),
  );
  const owner = world.send('r1');
  await world.clock.advance(LEASE_MS);
  expect(await world.send('r2')).toEqual(answerOf('r2'));
  slow.come();
  expect(await world.clock.until(owner)).toEqual(refused(503, 'service_unavailable'));
  await world.expectCharges(1);
});

test('IDEM-8 a response whose hold was released is withheld, and its claim is free again', async () => {
  let calls = 0;
  const play = async () => {
    calls += 1;
    if (calls === 1) await sweep({ ...world.deps.ledger, clock: new ManualClock(world.clock.now() + 901_000) });
    return answered();
  };
  const world = await keyedWorld({ play });
  expect(await world.send('r1')).toEqual(refused(409, 'idempotency_in_progress'));
  expect(await world.send('r2')).toEqual(answerOf('r2'));
  await world.expectCharges(1);
});

test('IDEM-8 a request that takes several leases keeps its claim and its hold', async () => {
  const play = () =>
    new Promise<ReturnType<typeof answered>>((resolve) => {
      world.clock.after(5 * LEASE_MS, () => resolve(answered()));
    });
  const world = await keyedWorld({ play });
  const first = world.send('r1');
  await world.clock.advance(4 * LEASE_MS);
  expect(await world.clock.until(world.send('r2'))).toEqual(refused(409, 'idempotency_in_progress'));
  expect(await world.clock.until(first)).toEqual(answerOf('r1'));
  expect(world.sent).toHaveLength(1);
  await world.expectCharges(1);
});

test('IDEM-8 and BILL-14 an owner that regained an expired lease writes no outbox entry', async () => {
  const called = createMoment();
  const world = await keyedWorld(
    {
      play: () => called.until.then(() => answered()),
      // The ledger rejects the first eight record writes of the owner, so that the owner ends with an error.
      fault: (method, turn) => (method === 'putRecord' && turn < 8 ? throttled : undefined),
    },
    (deps) => ({
      ...deps,
      claims: withClaimFaults(deps.claims, (method, turn) => (method === 'renew' && turn < 3 ? fails : undefined)),
    }),
  );
  const owner = world.send('r1');
  await world.clock.advance(LEASE_MS);
  const ledger = { ...world.deps.ledger, store: world.memory };
  await resolveHoldById(ledger, { accountId: ACCOUNT, holdId: 'r1.0', reason: 'taken_over' });
  await world.clock.advance(LEASE_MS / 3);
  expect(world.claim()).toMatchObject({ owner: 'r1', leaseUntilMs: world.clock.now() + LEASE_MS });
  called.come();
  expect((await world.clock.until(owner)).status).toBe(503);
  expect(world.notes.notes()).toEqual([]);
  await world.expectCharges(0);
});

test('OPS-11 a key whose claim is in a newer state is in progress, whatever is stored with it', async () => {
  let isNewer = false;
  const world = await keyedWorld({}, (deps) => ({
    ...deps,
    claims: {
      ...withClaimFaults(deps.claims, {}),
      claim: async (request) => {
        const reply = await deps.claims.claim(request);
        if (!isNewer || reply.kind === 'claimed') return reply;
        return { ...reply, claim: toKnownClaim(reply.claim, 'streaming') };
      },
    },
  }));
  expect(await world.send('r1')).toEqual(answerOf('r1'));
  isNewer = true;
  await world.clock.advance(LEASE_MS);
  expect(await world.send('r2')).toEqual(refused(409, 'idempotency_in_progress'));
  await world.expectCharges(1);
});

test('OPS-11 a request that ended with a newer outcome without a charge is not dispatched again', async () => {
  const world = await keyedWorld({ play: () => new Promise(() => undefined) }, withClaims({ renew: fails }));
  void world.send('r1');
  await world.clock.flush();
  const record = { accountId: ACCOUNT, holdId: 'r1.0', requestId: 'r1', amountPicos: 0n, at: 1 };
  await world.memory.putRecord({ ...record, ...toOutcome('voided') });
  await world.clock.advance(LEASE_MS);
  expect(await world.send('r2')).toEqual(refused(409, 'idempotency_exhausted'));
  expect((await world.account()).holds.size).toBe(0);
});
