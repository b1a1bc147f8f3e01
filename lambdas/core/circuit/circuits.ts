/** A provider's model, the thing that fails as one. */
export interface CircuitKey {
  readonly providerId: string;
  /** The catalog's id. */
  readonly modelId: string;
}

/** Why no call may go out. */
export type Barred =
  /** The circuit is open, or half open and somebody else is probing. */
  | { readonly kind: 'open'; readonly retryAfterSeconds: number }
  /** Too many good answers came without usage (BILL-10). */
  | { readonly kind: 'quarantined' };

/** The right to make one call. How the call went is told once; later words change nothing. None of these ever throws. */
export interface Passage {
  readonly kind: 'passage';
  /**
   * `failed`: GatewayError.upstreamFailed. `succeeded`: the vendor answered, were it with a refusal of this request.
   * `unknown`: the call was not made, or ended for a reason of ours.
   */
  report(outcome: 'succeeded' | 'failed' | 'unknown'): Promise<void>;
  /** A streamed answer has begun. A probe has then shown what it was sent for, and keeps nobody waiting for the end of its stream. */
  begun(): Promise<void>;
}

export interface Circuits {
  /**
   * What this process knows, at once: undefined when nothing is known against a call. Begins to look up the shared state when what
   * is known is older than 5 s, so that `enter` need not wait for it.
   */
  look(key: CircuitKey, accountId: string): Barred | undefined;
  /** Just before dispatch: waits for a look-up that was begun, 50 ms at most, and takes the probe's lease of a half-open circuit. */
  enter(key: CircuitKey, caller: { readonly accountId: string; readonly requestId: string }): Promise<Passage | Barred>;
  /** A good answer came without usage: counted, shared, and from the 20th in 5 minutes the model is shut for 15. Never throws. */
  usageMissing(modelId: string): Promise<void>;
}
