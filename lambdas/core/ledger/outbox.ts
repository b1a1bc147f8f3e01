import { forEachConcurrent } from '../concurrency.ts';
import { StoreError } from '../errors/store-error.ts';
import type { PlacedHold } from './hold.ts';
import type { ChargeRecord, LedgerDependencies, Outbox, OutboxEntry } from './ledger.ts';
import { apply, commit } from './resolve.ts';

/** Smallest time between an outbox entry and the release of its hold, in ms. Clocks of other processes may be ahead. */
const MARGIN_MS = 60_000;

/** Part of the margin for the write of the entry and for the difference of clocks, in ms. */
const TAKEN_MS = 30_000;

/**
 * Leaves a settlement in the outbox. True only when it is there in time for everyone who could release the hold to find it, that is
 * before its expiry and, under an Idempotency-Key, before the lease ends (`takenOverAtMs`). A false answer does not mean that there is
 * no note: a release decides.
 */
export const enqueueSettlement = async (
  { outbox, clock }: LedgerDependencies,
  { amountPicos, expiresAtMs }: PlacedHold,
  record: ChargeRecord,
  takenOverAtMs: () => number,
): Promise<boolean> => {
  const leftMs = (): number => expiresAtMs - clock.now();
  if (leftMs() < MARGIN_MS || clock.now() >= takenOverAtMs()) return false;
  const note = { record, holdAmountPicos: amountPicos };
  // Once more, since a note whose reply was lost would be charged though its answer was withheld.
  if (!((await isPut(outbox, note)) || (await isPut(outbox, note)))) return false;
  return leftMs() >= MARGIN_MS - TAKEN_MS && clock.now() < takenOverAtMs();
};

const isPut = async (outbox: Outbox, note: OutboxEntry): Promise<boolean> => {
  try {
    await outbox.put(note);
    return true;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return false;
  }
};

export interface OutboxReport {
  readonly settled: number;
  /**
   * Entries whose hold was already released: their responses were not sent as a success, or an operator released the
   * hold.
   */
  readonly late: number;
  /** Left for the next run. */
  readonly failed: number;
  /** Time of the oldest readable entry, in Unix milliseconds. */
  readonly oldestAtMs: number | undefined;
  /** For a person, once all others are done: notes that failed by no fault of a store. */
  readonly bug: AggregateError | undefined;
}

/**
 * BILL-14: charges what waits in the outbox. A note goes only when its hold's money has been moved. What fails for one note keeps
 * no other waiting. Throws StoreError when they cannot be listed.
 */
export const settleOutbox = async (deps: LedgerDependencies): Promise<OutboxReport> => {
  const report = { settled: 0, late: 0, failed: 0 };
  let oldestAtMs: number | undefined;
  const bugs: unknown[] = [];
  await forEachConcurrent(await deps.outbox.list(), async (holdId) => {
    let note: OutboxEntry | undefined;
    try {
      note = await deps.outbox.read(holdId);
      if (!note) return;
      const outcome = await settleNote(deps, holdId, note);
      report[outcome] += 1;
    } catch (error) {
      report.failed += 1;
      if (note) oldestAtMs = Math.min(note.record.at, oldestAtMs ?? Infinity);
      if (!(error instanceof StoreError)) bugs.push(error);
    }
  });
  const bug =
    bugs.length === 0 ? undefined : new AggregateError(bugs, `${bugs.length} outbox entries could not be settled`);
  return { ...report, oldestAtMs, bug };
};

const settleNote = async (deps: LedgerDependencies, holdId: string, note: OutboxEntry): Promise<'settled' | 'late'> => {
  const record = await commit(deps, note.record);
  await apply(deps, record, note.holdAmountPicos);
  await deps.outbox.remove(holdId);
  return record.outcome === 'settled' ? 'settled' : 'late';
};
