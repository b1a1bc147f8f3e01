import { StoreError } from '../errors/store-error.ts';
import { atOnce } from './at-once.ts';
import type { LedgerPorts } from './ledger-ports.ts';
import type { OutboxNote } from './outbox.ts';
import { apply, commit } from './resolve.ts';

export interface NotesReport {
  readonly settled: number;
  /** Notes whose hold had been released before: their answers were not served as a success, or somebody released by force. */
  readonly late: number;
  /** Left for the next run. */
  readonly failed: number;
  /** Of those that could be read, since when the oldest waits. Unix milliseconds. */
  readonly oldestAtMs: number | undefined;
  /** For a person, once all others are done: notes that failed by no fault of a store. */
  readonly bug: AggregateError | undefined;
}

/**
 * BILL-14: charges what waits in the outbox. A note goes only when its hold's money has been moved. What fails for one note keeps
 * no other waiting. Throws StoreError when they cannot be listed.
 */
export const settleNotes = async (ports: LedgerPorts): Promise<NotesReport> => {
  const report = { settled: 0, late: 0, failed: 0 };
  let oldestAtMs: number | undefined;
  const bugs: unknown[] = [];
  await atOnce(await ports.outbox.list(), async (holdId) => {
    let note: OutboxNote | undefined;
    try {
      note = await ports.outbox.read(holdId);
      if (!note) return;
      const outcome = await settleNote(ports, holdId, note);
      report[outcome] += 1;
    } catch (error) {
      report.failed += 1;
      if (note) oldestAtMs = Math.min(note.record.at, oldestAtMs ?? Infinity);
      if (!(error instanceof StoreError)) bugs.push(error);
    }
  });
  const bug = bugs.length === 0 ? undefined : new AggregateError(bugs, `${bugs.length} notes could not be settled`);
  return { ...report, oldestAtMs, bug };
};

const settleNote = async (ports: LedgerPorts, holdId: string, note: OutboxNote): Promise<'settled' | 'late'> => {
  const record = await commit(ports, note.record);
  await apply(ports, record, note.holdAmountPicos);
  await ports.outbox.remove(holdId);
  return record.outcome === 'settled' ? 'settled' : 'late';
};
