import { StoreError } from '../errors/store-error.ts';
import { atOnce } from './at-once.ts';
import type { LedgerPorts } from './ledger-ports.ts';
import type { OutboxNote } from './outbox.ts';
import { apply, commit } from './resolve.ts';

export interface NotesReport {
  readonly settled: number;
  /** Notes whose hold had been released before: their answers were not served as a success, or somebody released by force. */
  readonly late: number;
  /** Left for the next run because a store did not answer. */
  readonly failed: number;
  /** Of those, since when the oldest waits. Unix milliseconds. */
  readonly oldestAtMs?: number;
}

/**
 * BILL-14: charges what waits in the outbox. A note goes only when its hold's money has been moved. What fails for one note keeps
 * no other waiting; a note that cannot be read needs a person and ends up in the AggregateError.
 */
export const settleNotes = async (ports: LedgerPorts): Promise<NotesReport> => {
  const report = { settled: 0, late: 0, failed: 0 };
  const waiting = new Map<string, number>();
  const bugs: unknown[] = [];
  await atOnce(await ports.outbox.list(), async (holdId) => {
    try {
      const outcome = await settleNote(ports, holdId, ({ record }) => waiting.set(holdId, record.at));
      waiting.delete(holdId);
      if (outcome) report[outcome] += 1;
    } catch (error) {
      report.failed += 1;
      if (!(error instanceof StoreError)) bugs.push(error);
    }
  });
  if (bugs.length > 0) throw new AggregateError(bugs, `${bugs.length} notes could not be settled`);
  return { ...report, ...(waiting.size === 0 ? {} : { oldestAtMs: Math.min(...waiting.values()) }) };
};

const settleNote = async (
  ports: LedgerPorts,
  holdId: string,
  seen: (note: OutboxNote) => void,
): Promise<'settled' | 'late' | undefined> => {
  const note = await ports.outbox.read(holdId);
  if (!note) return undefined;
  seen(note);
  const record = await commit(ports, note.record);
  await apply(ports, record, note.holdAmountPicos);
  await ports.outbox.remove(holdId);
  return record.outcome === 'settled' ? 'settled' : 'late';
};
