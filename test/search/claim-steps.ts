import type { Claim, ClaimRequest } from '../../lambdas/core/idempotency/claim-store.ts';
import type { Op, TakeOver } from './operations.ts';
import type { Step, World } from './world.ts';

/** Executes the calls on the claim. Returns undefined for any other call. */
export const claimStep = (world: World, op: Op): Step | undefined => {
  const { claim } = world;
  switch (op.kind) {
    case 'claim':
      return claimed(world, op.request);
    case 'renew': {
      const own = atWork(claim, op.owner);
      const leaseUntilMs = own && Math.max(own.leaseUntilMs, op.leaseUntilMs);
      return written(world, 'renew', own && leaseUntilMs !== undefined ? { ...own, leaseUntilMs } : undefined);
    }
    case 'prepare': {
      const { prepared, expiresAtMs } = op;
      const own = atWork(claim, op.owner);
      return written(world, 'prepare', own && { ...own, state: 'prepared', prepared, expiresAtMs });
    }
    case 'complete': {
      const mayEnd = claim?.owner === op.owner && (claim.state === 'prepared' || claim.state === 'done');
      return written(world, 'complete', mayEnd ? { ...claim, state: 'done' } : undefined);
    }
    case 'free':
      return freed(world, op.owner, op.dispatches);
    case 'takeOver':
      return takenOver(world, op.request);
    case 'readClaim':
      return { world, answer: { kind: 'readClaim', claim } };
    default:
      return undefined;
  }
};

const atWork = (claim: Claim | undefined, owner: string): Claim | undefined =>
  claim?.owner === owner && (claim.state === 'open' || claim.state === 'prepared') ? claim : undefined;

/** Returns the claim if `owner` already opened it: a repeat of its own write whose reply was lost. */
const opened = (claim: Claim | undefined, owner: string): Claim | undefined =>
  claim?.owner === owner && claim.state === 'open' ? claim : undefined;

const written = (world: World, kind: 'renew' | 'prepare' | 'complete', claim: Claim | undefined): Step => ({
  world: claim ? { ...world, claim } : world,
  answer: { kind, isOwner: claim !== undefined },
});

const freed = (world: World, owner: string, dispatches: number): Step => {
  const own = atWork(world.claim, owner);
  if (!own) return { world, answer: { kind: 'free', isOwner: false } };
  const claim: Claim | undefined =
    dispatches === 0 ? undefined : { ...own, state: 'free', dispatches, prepared: undefined };
  return { world: { ...world, claim }, answer: { kind: 'free', isOwner: true } };
};

const claimed = (world: World, request: ClaimRequest): Step => {
  const { claim } = world;
  const { owner, nowMs, fingerprint, leaseUntilMs, expiresAtMs } = request;
  const anew = !claim || (claim.expiresAtMs <= nowMs && claim.leaseUntilMs <= nowMs);
  const own = anew ? undefined : opened(claim, owner);
  if (own) return { world, answer: { kind: 'claim', reply: { kind: 'claimed', dispatches: own.dispatches } } };
  const again =
    claim?.state === 'free' && claim.fingerprint === fingerprint && claim.dispatches < request.dispatchesMax;
  if (!anew && !again) return { world, answer: { kind: 'claim', reply: { kind: 'refused', claim } } };
  const dispatches = anew ? 1 : claim.dispatches + 1;
  return {
    world: {
      ...world,
      claim: { owner, leaseUntilMs, fingerprint, state: 'open', dispatches, expiresAtMs, prepared: undefined },
    },
    answer: { kind: 'claim', reply: { kind: 'claimed', dispatches } },
  };
};

const takenOver = (world: World, request: TakeOver): Step => {
  const { claim } = world;
  const { owner, from, nowMs, leaseUntilMs, expiresAtMs } = request;
  const own = opened(claim, owner);
  if (own) return { world, answer: { kind: 'takeOver', reply: { kind: 'taken', dispatches: own.dispatches } } };
  const old = atWork(claim, from);
  if (!old || old.leaseUntilMs > nowMs) {
    return { world, answer: { kind: 'takeOver', reply: { kind: 'refused', claim } } };
  }
  const { fingerprint } = old;
  const dispatches = old.dispatches + 1;
  return {
    world: {
      ...world,
      claim: { owner, leaseUntilMs, fingerprint, state: 'open', dispatches, expiresAtMs, prepared: undefined },
    },
    answer: { kind: 'takeOver', reply: { kind: 'taken', dispatches } },
  };
};
