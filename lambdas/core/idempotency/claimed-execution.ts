import { GatewayError } from '../errors/gateway-error.ts';
import { StoreError } from '../errors/store-error.ts';
import { retryUntilDefinite } from '../retry.ts';
import type { IdempotencyDependencies, IdempotentRequest, StoredResponse } from './claim-store.ts';
import { toPrepared } from './stored-response.ts';

/** Retention of an idempotency key, in ms (IDEM-7). */
export const RETENTION_MS = 24 * 60 * 60 * 1_000;
/**
 * Largest expected difference between the clocks of two processes, in ms. For a short lease, a sixth of the lease is
 * used instead.
 */
const SKEW_MS = 10_000;
const SKEW_SHARE = 6;

/** Another request took over the claim or released the hold. The result of this request must not be sent. */
export class ClaimLost extends Error {
  override readonly name = 'ClaimLost';
}

/** Error before the provider is called. */
export const storeIsDown = (cause: StoreError): GatewayError =>
  new GatewayError(
    'service_unavailable',
    'The idempotency key cannot be looked up now. Nothing was charged. Retry the request.',
    { cause },
  );

/** A request that holds a claim, from the claim to the stored response. */
export class ClaimedRequest {
  readonly #deps: IdempotencyDependencies;
  readonly #request: IdempotentRequest;
  readonly #dispatchesBefore: number;
  #leaseUntilMs: number;
  #cancelRenewal = (): void => undefined;
  #lapsed = false;
  #dispatched = false;
  #mayBeCharged = false;
  #ended = false;

  /** `dispatches` includes this attempt. */
  constructor(deps: IdempotencyDependencies, request: IdempotentRequest, leaseUntilMs: number, dispatches: number) {
    this.#deps = deps;
    this.#request = request;
    this.#leaseUntilMs = leaseUntilMs;
    this.#dispatchesBefore = dispatches - 1;
    this.#renewLater();
  }

  /**
   * Time from which another request may have released the holds of this request, even if that request did not get the
   * claim.
   */
  get takenOverAtMs(): number {
    if (this.#lapsed) return Number.NEGATIVE_INFINITY;
    return this.#leaseUntilMs - Math.min(SKEW_MS, this.#deps.leaseMs / SKEW_SHARE);
  }

  /**
   * Records the dispatch before the provider is called for the hold (IDEM-7). If the lease may have expired, renews it
   * first: throws ClaimLost if another request took over the claim or released the hold, and 503 if the store fails.
   */
  async dispatch(holdId: string): Promise<void> {
    if (this.#deps.ledger.clock.now() >= this.takenOverAtMs) await this.#renewOrLose(holdId);
    this.#dispatched = true;
  }

  /** Records that the charge is about to be written. Until the record is known, the charge may exist. */
  charging(): void {
    this.#mayBeCharged = true;
  }

  get mayBeCharged(): boolean {
    return this.#mayBeCharged;
  }

  /**
   * Stages the response that the charge record of this hold will commit. Returns its hash. Throws ClaimLost, and 503 if
   * the result is not definite, because without a durable response there is no charge.
   */
  async stageResponse(holdId: string, answer: StoredResponse): Promise<string> {
    const { claims, answers, ledger } = this.#deps;
    try {
      const prepared = await retryUntilDefinite(ledger, () => toPrepared(answers, answer, holdId));
      const expiresAtMs = ledger.clock.now() + RETENTION_MS;
      const { requestId } = this.#request;
      if (await retryUntilDefinite(ledger, () => claims.stageResponse(this.#request, requestId, prepared, expiresAtMs)))
        return prepared.hash;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      throw new GatewayError('service_unavailable', 'The response could not be stored. Retry the request.', {
        cause: error,
      });
    }
    throw new ClaimLost();
  }

  /** Returns the stored form of an error that is replayed (IDEM-7); undefined for other errors. */
  toStoredRefusal(error: unknown): StoredResponse | undefined {
    if (!this.#dispatched || !(error instanceof GatewayError) || error.status !== 400) return undefined;
    return this.#request.renderError(error);
  }

  /**
   * Completes the claim after the response was committed. If this write fails, the charge record shows the response.
   */
  async complete(): Promise<void> {
    this.#end();
    const { claims, ledger } = this.#deps;
    try {
      await retryUntilDefinite(ledger, () => claims.complete(this.#request, this.#request.requestId));
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
    }
  }

  /** Frees the claim of a request that failed without a charge, so that another request may start. */
  async free(): Promise<void> {
    if (this.#ended) return;
    this.#end();
    const { claims, ledger } = this.#deps;
    const dispatches = this.#dispatchesBefore + (this.#dispatched ? 1 : 0);
    try {
      await retryUntilDefinite(ledger, () => claims.free(this.#request, this.#request.requestId, dispatches));
    } catch (error) {
      // A failed write is harmless: the lease expires.
      if (!(error instanceof StoreError)) throw error;
    }
  }

  /** Leaves the claim to its lease, because the state of the money is unknown. A takeover resolves it. */
  abandon(): void {
    this.#end();
  }

  #end(): void {
    this.#ended = true;
    this.#cancelRenewal();
  }

  #renewLater(): void {
    const { clock } = this.#deps.ledger;
    this.#cancelRenewal = clock.after(this.#deps.leaseMs / 3, () => {
      // A failed renewal is harmless: the lease expires.
      this.#renew().catch(() => undefined);
    });
  }

  async #renewOrLose(holdId: string): Promise<void> {
    const { ledger } = this.#deps;
    const { accountId } = this.#request;
    try {
      const isOwner = await retryUntilDefinite(ledger, () => this.#extend());
      if (isOwner && !(await retryUntilDefinite(ledger, () => ledger.store.readRecord(accountId, holdId)))) return;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      throw storeIsDown(error);
    }
    throw new ClaimLost();
  }

  async #renew(): Promise<void> {
    try {
      if (!(await this.#extend())) return;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
    }
    if (!this.#ended) this.#renewLater();
  }

  /** Returns whether the claim still belongs to this request. */
  async #extend(): Promise<boolean> {
    const { claims, ledger, leaseMs } = this.#deps;
    const untilMs = ledger.clock.now() + leaseMs;
    const isOwner = await claims.renew(this.#request, this.#request.requestId, untilMs);
    // The lease expired, or may have expired, before this renewal was written.
    if (ledger.clock.now() >= this.takenOverAtMs) this.#lapsed = true;
    if (isOwner) this.#leaseUntilMs = Math.max(this.#leaseUntilMs, untilMs);
    return isOwner;
  }
}
