/** Something that an operator has done to an account, or was about to do when the store failed. Written once, never changed. */
export interface Operation {
  readonly accountId: string;
  /** A ULID, so that the order of ids is that of time. */
  readonly id: string;
  /** The command, such as `accounts block`. */
  readonly command: string;
  readonly reason: string;
  readonly ref?: string;
  /** Unix milliseconds. */
  readonly at: number;
}

/** Why accounts were changed by hand. Every method is one call, safe to repeat, and throws StoreError without a definite answer. */
export interface OperationLog {
  add(operation: Operation): Promise<void>;
  /** Of one account, the oldest first. */
  list(accountId: string): Promise<readonly Operation[]>;
}
