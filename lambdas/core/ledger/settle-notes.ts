import { StoreError } from '../errors/store-error.ts';
import { atOnce } from './at-once.ts';
import type { LedgerPorts } from './ledger-ports.ts';
import { apply, commit } from './resolve.ts';

export interface NotesReport {
  readonly settled: number;
  /** Notes whose hold had been released before: their answers were not served as a success, or somebody released by force. */
  readonly late: number;
  /** Left for the next run because a store did not answer. */
  readonly failed: number;
}

/**
 * BILL-14: charges what waits in the outbox. A note goes only when its hold's money has been moved. What fails for one note keeps
 * no other waiting; a note that cannot be read needs a person and ends up in the AggregateError.
 */
export const settleNotes = async (ports: LedgerPorts): Promise<NotesReport> => {
  const report = { settled: 0, late: 0, failed: 0 };
  const bugs: unknown[] = [];
  await atOnce(await ports.outbox.list(), async (holdId) => {
    try {
      const outcome = await settleNote(ports, holdId);
      if (outcome) report[outcome] += 1;
    } catch (error) {
      report.failed += 1;
      if (!(error instanceof StoreError)) bugs.push(error);
    }
  });
  if (bugs.length > 0) throw new AggregateError(bugs, `${bugs.length} notes could not be settled`);
  return report;
};

const settleNote = async (ports: LedgerPorts, holdId: string): Promise<'settled' | 'late' | undefined> => {
  const note = await ports.outbox.read(holdId);
  if (!note) return undefined;
  const record = await commit(ports, note.record);
  await apply(ports, record, note.holdAmountPicos);
  await ports.outbox.remove(holdId);
  return record.outcome === 'settled' ? 'settled' : 'late';
};
