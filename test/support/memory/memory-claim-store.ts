import type {
  Claim,
  ClaimRef,
  ClaimReply,
  ClaimRequest,
  ClaimStore,
  PreparedAnswer,
} from '../../../lambdas/core/idempotency/claim-store.ts';

type TakeOver = Parameters<ClaimStore['takeOver']>[0];
type TakeOverReply = Awaited<ReturnType<ClaimStore['takeOver']>>;

/**
 * In-memory fake of the claim store. Every method checks its condition and writes in one synchronous step, as in the
 * ledger's fake.
 */
export class MemoryClaimStore implements ClaimStore {
  readonly #claims = new Map<string, Claim>();

  async claim(request: ClaimRequest): Promise<ClaimReply> {
    const present = this.claimOf(request);
    const anew = !present || (present.expiresAtMs <= request.nowMs && present.leaseUntilMs <= request.nowMs);
    if (present && !anew && isOwn(present, request.owner)) return { kind: 'claimed', dispatches: present.dispatches };
    const again =
      present?.state === 'free' &&
      present.fingerprint === request.fingerprint &&
      present.dispatches < request.dispatchesMax;
    if (!anew && !again) return { kind: 'refused', claim: present };
    const dispatches = anew ? 1 : present.dispatches + 1;
    this.#put(request, { ...opened(request), fingerprint: request.fingerprint, dispatches });
    return { kind: 'claimed', dispatches };
  }

  async renew(ref: ClaimRef, owner: string, leaseUntilMs: number): Promise<boolean> {
    const claim = this.#atWork(ref, owner);
    if (claim) this.#put(ref, { ...claim, leaseUntilMs: Math.max(claim.leaseUntilMs, leaseUntilMs) });
    return claim !== undefined;
  }

  async stageResponse(ref: ClaimRef, owner: string, prepared: PreparedAnswer, expiresAtMs: number): Promise<boolean> {
    const claim = this.#atWork(ref, owner);
    if (claim) this.#put(ref, { ...claim, state: 'prepared', prepared, expiresAtMs });
    return claim !== undefined;
  }

  async complete(ref: ClaimRef, owner: string): Promise<boolean> {
    const claim = this.claimOf(ref);
    if (claim?.owner !== owner || (claim.state !== 'prepared' && claim.state !== 'done')) return false;
    this.#put(ref, { ...claim, state: 'done' });
    return true;
  }

  async free(ref: ClaimRef, owner: string, dispatches: number): Promise<boolean> {
    const claim = this.#atWork(ref, owner);
    if (!claim) return false;
    if (dispatches === 0) this.#claims.delete(nameOf(ref));
    else this.#put(ref, { ...claim, state: 'free', dispatches, prepared: undefined });
    return true;
  }

  async takeOver(request: TakeOver): Promise<TakeOverReply> {
    const present = this.claimOf(request);
    if (present && isOwn(present, request.owner)) return { kind: 'taken', dispatches: present.dispatches };
    const old = this.#atWork(request, request.from);
    if (!old || old.leaseUntilMs > request.nowMs) return { kind: 'refused', claim: present };
    const dispatches = old.dispatches + 1;
    this.#put(request, { ...opened(request), fingerprint: old.fingerprint, dispatches });
    return { kind: 'taken', dispatches };
  }

  async read(ref: ClaimRef): Promise<Claim | undefined> {
    return this.claimOf(ref);
  }

  claimOf(ref: ClaimRef): Claim | undefined {
    return structuredClone(this.#claims.get(nameOf(ref)));
  }

  /** Number of claims. */
  get size(): number {
    return this.#claims.size;
  }

  #put(ref: ClaimRef, claim: Claim): void {
    this.#claims.set(nameOf(ref), structuredClone(claim));
  }

  #atWork(ref: ClaimRef, owner: string): Claim | undefined {
    const claim = this.claimOf(ref);
    return claim?.owner === owner && (claim.state === 'open' || claim.state === 'prepared') ? claim : undefined;
  }
}

const nameOf = ({ accountId, keyHash }: ClaimRef): string => `${accountId}#${keyHash}`;

/** Whether the claim is the caller's own write whose reply was lost. Every claim request has a unique owner. */
const isOwn = (claim: Claim, owner: string): boolean => claim.owner === owner && claim.state === 'open';

const opened = ({ owner, leaseUntilMs, expiresAtMs }: Pick<ClaimRequest, 'owner' | 'leaseUntilMs' | 'expiresAtMs'>) =>
  ({ owner, leaseUntilMs, expiresAtMs, state: 'open', prepared: undefined }) as const;
