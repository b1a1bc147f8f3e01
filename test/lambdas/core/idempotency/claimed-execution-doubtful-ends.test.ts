import { expect, test } from 'vitest';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import type { IdempotencyDependencies } from '../../../../lambdas/core/idempotency/claim-store.ts';
import { resolveHoldById } from '../../../../lambdas/core/ledger/release.ts';
import { createMoment, type FaultScript, fails, withClaimFaults } from '../../../support/memory/faults.ts';
import { freePassage } from '../../../support/memory/free-permit.ts';
import { LEASE_MS } from '../../../support/memory/memory-idempotency.ts';
import { ACCOUNT, answered, type WorldOptions } from '../text/text-world.ts';
import { keyedWorld } from './keyed-world.ts';

const refuses = async () => {
  throw new GatewayError('content_filter', 'blocked');
};
const withClaims =
  (faults: Parameters<typeof withClaimFaults>[1]) =>
  (deps: IdempotencyDependencies): IdempotencyDependencies => ({
    ...deps,
    claims: withClaimFaults(deps.claims, faults),
  });
const refused = { status: 400, body: 'error content_filter', replayed: true };

/** Returns a provider that rejects the first request and accepts every other. */
const refusesOnce = (): NonNullable<WorldOptions['play']> => {
  let calls = 0;
  return async () => {
    calls += 1;
    return calls === 1 ? refuses() : answered();
  };
};

test('IDEM-8 a committed rejection stays the response even if the account is not updated', async () => {
  const world = await keyedWorld({
    play: refusesOnce(),
    fault: (method) => (method === 'apply' ? fails : undefined),
  });
  const first = await world.clock.until(world.send('r1'));
  expect([first.status, first.body]).toEqual([400, 'content_filter']);
  expect(await world.clock.until(world.send('r2'))).toEqual(refused);
  expect(world.sent).toHaveLength(1);
  await world.expectCharges(0);
});

test('IDEM-8 a rejection with an uncertain commit keeps its claim, and later requests replay it', async () => {
  const late = createMoment();
  const world = await keyedWorld({
    play: refusesOnce(),
    fault: (method, turn) => {
      if (method !== 'putRecord' || turn > 3) return undefined;
      return turn === 0 ? { kind: 'lands-late', until: late.until } : fails;
    },
  });
  expect(await world.clock.until(world.send('r1'))).toMatchObject({ status: expect.toSatisfy((n) => n !== 200) });
  expect(world.claim()).toMatchObject({ state: 'prepared', owner: 'r1' });
  late.come();
  await world.clock.flush();
  expect(await world.send('r2')).toEqual(refused);
  await world.clock.advance(LEASE_MS);
  expect(await world.send('r3')).toEqual(refused);
  expect(world.sent).toHaveLength(1);
  await world.expectCharges(0);
});

test('IDEM-8 a bug in the outbox keeps the claim of a request whose charge may be committed', async () => {
  const late = createMoment();
  const bug = new TypeError('no such bucket');
  const world = await keyedWorld({
    fault: (method, turn) => {
      if (method !== 'putRecord' || turn > 7) return undefined;
      return turn === 0 ? { kind: 'lands-late', until: late.until } : fails;
    },
    outboxFaults: () => {
      throw bug;
    },
  });
  expect(await world.clock.until(world.send('r1'))).toEqual({ status: 500, body: 'internal_error', replayed: false });
  late.come();
  await world.clock.flush();
  expect(world.claim()).toMatchObject({ state: 'prepared', owner: 'r1' });
  expect(await world.send('r2')).toEqual({ status: 200, body: 'answer of r1', replayed: true });
  expect(world.sent).toHaveLength(1);
});

test('IDEM-8 an owner recognizes the release by another request even in the same millisecond', async () => {
  const [prepared, goOn] = [createMoment(), createMoment()];
  const world = await keyedWorld({ play: refuses }, (deps) => ({
    ...deps,
    claims: withClaimFaults(
      {
        claim: (request) => deps.claims.claim(request),
        renew: async () => true,
        stageResponse: async (...told) => {
          const done = await deps.claims.stageResponse(...told);
          prepared.come();
          await goOn.until;
          return done;
        },
        complete: (...told) => deps.claims.complete(...told),
        free: (...told) => deps.claims.free(...told),
        takeOver: (request) => deps.claims.takeOver(request),
        read: (ref) => deps.claims.read(ref),
      },
      {},
    ),
  }));
  const owner = world.send('r1');
  await prepared.until;
  const ledger = { ...world.deps.ledger, store: world.memory };
  await resolveHoldById(ledger, { accountId: ACCOUNT, holdId: 'r1.0', reason: 'taken_over' });
  const claim = world.claim();
  const nowMs = claim?.leaseUntilMs ?? 0;
  const terms = { owner: 'r2', from: 'r1', nowMs, leaseUntilMs: nowMs + LEASE_MS, expiresAtMs: nowMs + LEASE_MS };
  await world.claims.takeOver({ accountId: ACCOUNT, keyHash: 'key-1', ...terms });
  goOn.come();
  expect(await world.clock.until(owner)).toEqual({ status: 409, body: 'idempotency_in_progress', replayed: false });
});

/**
 * Starts an owner whose hold call lasts until its lease expires, because its renewals get the faults of `renew`. `wake`
 * completes the call.
 */
const stalledOwner = async (renew: FaultScript<'renew'>['renew'], reports: string[] = []) => {
  const stalled = createMoment();
  const world = await keyedWorld(
    {
      circuits: freePassage(reports),
      fault: (method, turn) =>
        method === 'hold' && turn === 0 ? { kind: 'delayed', until: stalled.until } : undefined,
    },
    withClaims({ renew }),
  );
  const owner = world.send('r1');
  await world.clock.advance(LEASE_MS);
  const wake = () => {
    stalled.come();
    return world.clock.until(owner);
  };
  return { world, wake };
};
const thrice = [fails, fails, fails];

test('IDEM-8 an owner whose claim was taken over before its call does not call the provider', async () => {
  const { world, wake } = await stalledOwner(thrice);
  expect(await world.send('r2')).toEqual({ status: 200, body: 'answer of r2', replayed: false });
  expect(await wake()).toEqual({ status: 200, body: 'answer of r2', replayed: true });
  expect(world.sent).toHaveLength(1);
  await world.expectCharges(1);
});

test('IDEM-8 an owner with an expired lease continues if its claim was not taken over', async () => {
  const { world, wake } = await stalledOwner(thrice);
  expect(await wake()).toEqual({ status: 200, body: 'answer of r1', replayed: false });
  await world.expectCharges(1);
});

test('IDEM-8 and FALL-1 an owner that cannot renew its claim reports an unknown call outcome', async () => {
  const reports: string[] = [];
  const { world, wake } = await stalledOwner(fails, reports);
  expect((await wake()).status).toBe(503);
  expect([world.sent, reports]).toEqual([[], ['alpha-1 unknown']]);
});

test('IDEM-8 an owner does not call the provider after a takeover has released its hold', async () => {
  const { world, wake } = await stalledOwner(thrice);
  const ledger = { ...world.deps.ledger, store: world.memory };
  await resolveHoldById(ledger, { accountId: ACCOUNT, holdId: 'r1.0', reason: 'taken_over' });
  expect(await wake()).toMatchObject({ status: 409, body: 'idempotency_in_progress' });
  expect(world.sent).toEqual([]);
  await world.expectCharges(0);
});

test('IDEM-7 a failure with an unconfirmed release frees the claim, because nothing was charged', async () => {
  const world = await keyedWorld({
    play: async () => {
      throw new GatewayError('upstream_error', 'broken');
    },
    fault: (method, turn) => (method === 'putRecord' && turn < 4 ? fails : undefined),
  });
  expect((await world.clock.until(world.send('r1'))).status).toBe(502);
  expect(world.claim()).toMatchObject({ state: 'free', dispatches: 1 });
});

test('IDEM-7 a charge that turns out not to be committed frees the claim', async () => {
  const world = await keyedWorld({
    fault: (method, turn) => (method === 'putRecord' && turn < 8 ? fails : undefined),
    outboxFaults: { put: fails },
  });
  expect((await world.clock.until(world.send('r1'))).status).toBe(503);
  expect(world.claim()).toMatchObject({ state: 'free', dispatches: 1 });
  expect(await world.send('r2')).toMatchObject({ status: 200, body: 'answer of r2' });
  await world.expectCharges(1);
});
