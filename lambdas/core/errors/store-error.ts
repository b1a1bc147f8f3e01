/**
 * A store gave no definite answer, or refused for a reason that is not the caller's condition.
 * `unavailable`: no reply or a server fault, the write may have happened; `throttled` and `conflict`: it did not.
 */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly kind: 'unavailable' | 'throttled' | 'conflict';

  constructor(kind: StoreError['kind'], message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}
