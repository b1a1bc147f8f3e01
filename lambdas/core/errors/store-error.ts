/**
 * A store returned no definite result, or failed for a reason other than the caller's condition. `unavailable`: no
 * reply or a server error; the write may have happened. `throttled` and `conflict`: it did not happen.
 */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly kind: 'unavailable' | 'throttled' | 'conflict';

  constructor(kind: StoreError['kind'], message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}
