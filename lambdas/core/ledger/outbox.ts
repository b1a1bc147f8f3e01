import type { ChargeRecord } from './charge-record.ts';

/** A settlement that the ledger's store did not take in time: its answer has gone out, so it has to be charged. */
export interface OutboxNote {
  /** The record to commit, settled. */
  readonly record: ChargeRecord;
  /** Pico-USD, as the hold was placed. */
  readonly holdAmountPicos: bigint;
}

/**
 * Where settlements wait when the ledger cannot be written: another kind of store, so that both fail together only rarely.
 * One note per hold. Every method is one call and throws StoreError when it brought no definite answer; all are safe to repeat.
 */
export interface Outbox {
  put(note: OutboxNote): Promise<void>;
  /** Sees every note whose `put` has answered. */
  read(holdId: string): Promise<OutboxNote | undefined>;
  /** Hold ids of notes that wait, some of them if there are many. */
  list(): Promise<readonly string[]>;
  remove(holdId: string): Promise<void>;
}
