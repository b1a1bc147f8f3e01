import { forEachConcurrent } from '../concurrency.ts';
import { StoreError } from '../errors/store-error.ts';
import type { PlacedHold } from './hold.ts';
import { type ChargeRecord, type LedgerDependencies, OUTBOX_PAGE, type Outbox, type OutboxEntry } from './ledger.ts';
import { apply, commit } from './resolve.ts';

/** Smallest time between an outbox entry and the release of its hold, in ms. Clocks of other processes may be ahead. */
const MARGIN_MS = 60_000;

/**
 * Part of the margin that the write of the entry may take, in ms. The rest covers clocks of other processes that are
 * ahead.
 */
const TAKEN_MS = 30_000;

/**
 * Writes a settlement to the outbox. Returns true only if the entry is written in time for every process that could
 * release the hold to find it: before the hold expires and, with an idempotency key, before the lease ends
 * (`takenOverAtMs`). `false` does not prove that no entry was written: the caller must then write a released record,
 * and the record that the ledger returns decides whether the request is charged.
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
  // Tries once more. If an entry exists but its reply was lost, the client would be charged without a response.
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
  /** Entries left for the next run. */
  readonly failed: number;
  /** Hold id after which the next run continues. Undefined if this one reached the last entry. */
  readonly nextAfter: string | undefined;
  /** Time of the oldest entry that was read but could not be settled, in Unix milliseconds. */
  readonly oldestAtMs: number | undefined;
  /**
   * Errors that need an operator: entries that failed for another reason than the store. Reported after all others are
   * processed.
   */
  readonly bug: AggregateError | undefined;
}

/** Time after which a run starts no further entry, in ms. The function has a minute. */
const RUN_MS = 40_000;

/**
 * BILL-14: charges the entries in the outbox. Deletes an entry only after the money of its hold has moved. A failed
 * entry does not delay the others. After 40 s it leaves the rest to the next run, which passes its `nextAfter`: so
 * entries that cannot be settled never hide those behind them. Throws StoreError if the entries cannot be listed.
 */
export const settleOutbox = async (deps: LedgerDependencies, after?: string): Promise<OutboxReport> => {
  const report = { settled: 0, late: 0, failed: 0 };
  let oldestAtMs: number | undefined;
  const bugs: unknown[] = [];
  const endsAtMs = deps.clock.now() + RUN_MS;
  const nextAfter = await forEachEntry(deps, { after, endsAtMs }, async (holdId) => {
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
  return { ...report, oldestAtMs, nextAfter, bug };
};

interface Run {
  readonly after: string | undefined;
  /** Unix ms. */
  readonly endsAtMs: number;
}

/** Returns the id of the last entry that was started, if the time ended before the last entry. */
const forEachEntry = async (
  { outbox, clock }: LedgerDependencies,
  { after, endsAtMs }: Run,
  work: (holdId: string) => Promise<void>,
): Promise<string | undefined> => {
  let last = after;
  let isOver = false;
  for (;;) {
    const page = await outbox.list(last);
    await forEachConcurrent(page, async (holdId) => {
      isOver ||= clock.now() >= endsAtMs;
      if (isOver) return;
      last = holdId;
      await work(holdId);
    });
    if (isOver) return last;
    if (page.length < OUTBOX_PAGE) return undefined;
  }
};

const settleNote = async (deps: LedgerDependencies, holdId: string, note: OutboxEntry): Promise<'settled' | 'late'> => {
  const record = await commit(deps, note.record);
  await apply(deps, record, note.holdAmountPicos);
  await deps.outbox.remove(holdId);
  return record.outcome === 'settled' ? 'settled' : 'late';
};
