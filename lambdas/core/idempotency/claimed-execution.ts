import { GatewayError } from '../errors/gateway-error.ts';
import { StoreError } from '../errors/store-error.ts';
import { retryUntilDefinite } from '../retry.ts';
import type { IdempotencyDependencies, IdempotentRequest, StoredResponse } from './claim-store.ts';
import { toPrepared } from './stored-response.ts';

/** IDEM-7. */
export const RETENTION_MS = 24 * 60 * 60 * 1_000;
/** Clocks of two processes differ by less. A short lease leaves less room. */
const SKEW_MS = 10_000;
const SKEW_SHARE = 6;

/** The key was taken over, or the hold released, by another: whatever this request has is not the answer. */
export class ClaimLost extends Error {
  override readonly name = 'ClaimLost';
}

/** Before the vendor is called. */
export const storeIsDown = (cause: StoreError): GatewayError =>
  new GatewayError(
    'service_unavailable',
    'The idempotency key cannot be looked up now. Nothing was charged. Retry the request.',
    { cause },
  );

/** One request's work under its key: from the claim to the answer that is stored. */
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

  /** `dispatches` counts this attempt. */
  constructor(deps: IdempotencyDependencies, request: IdempotentRequest, leaseUntilMs: number, dispatches: number) {
    this.#deps = deps;
    this.#request = request;
    this.#leaseUntilMs = leaseUntilMs;
    this.#dispatchesBefore = dispatches - 1;
    this.#renewLater();
  }

  /** From then on another request may have released this one's holds, whether or not it got the key. */
  get takenOverAtMs(): number {
    if (this.#lapsed) return Number.NEGATIVE_INFINITY;
    return this.#leaseUntilMs - Math.min(SKEW_MS, this.#deps.leaseMs / SKEW_SHARE);
  }

  /**
   * Counts this dispatch before the provider is called for the hold (IDEM-7). Throws ClaimLost if another request took
   * the key over or released the hold, and 503 if the store fails, because that call could not be charged.
   */
  async dispatch(holdId: string): Promise<void> {
    if (this.#deps.ledger.clock.now() >= this.takenOverAtMs) await this.#renewOrLose(holdId);
    this.#dispatched = true;
  }

  /** Notes that the charge is about to be written. Until a record is known, the charge may exist. */
  charging(): void {
    this.#mayBeCharged = true;
  }

  get mayBeCharged(): boolean {
    return this.#mayBeCharged;
  }

  /**
   * Stores the answer that the charge record of this hold is going to commit, and answers its hash. Throws ClaimLost, and a 503 when
   * no definite answer came: without a durable answer there is no charge.
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

  /** Returns the stored form of a rejection that is replayed (IDEM-7); undefined for other errors. */
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

  /** Nothing came of it and nothing was charged: another request may begin. */
  async free(): Promise<void> {
    if (this.#ended) return;
    this.#end();
    const { claims, ledger } = this.#deps;
    const dispatches = this.#dispatchesBefore + (this.#dispatched ? 1 : 0);
    try {
      await retryUntilDefinite(ledger, () => claims.free(this.#request, this.#request.requestId, dispatches));
    } catch (error) {
      // The lease runs out by itself.
      if (!(error instanceof StoreError)) throw error;
    }
  }

  /** Leaves the key to its lease, because the state of the money is unknown. A takeover finds out. */
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
      // A lease that is not renewed runs out, and no more.
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

  /** Whether the claim is still this request's. */
  async #extend(): Promise<boolean> {
    const { claims, ledger, leaseMs } = this.#deps;
    const untilMs = ledger.clock.now() + leaseMs;
    const isOwner = await claims.renew(this.#request, this.#request.requestId, untilMs);
    // It ran out before this renewal was written, or may have.
    if (ledger.clock.now() >= this.takenOverAtMs) this.#lapsed = true;
    if (isOwner) this.#leaseUntilMs = Math.max(this.#leaseUntilMs, untilMs);
    return isOwner;
  }
}
