import { OUTBOX_PAGE, type Outbox, type OutboxEntry } from '../../../lambdas/core/ledger/ledger.ts';

/** In-memory fake of the outbox. */
export class MemoryOutbox implements Outbox {
  readonly #notes = new Map<string, OutboxEntry>();

  async put(note: OutboxEntry): Promise<void> {
    this.#notes.set(note.record.holdId, structuredClone(note));
  }

  async read(holdId: string): Promise<OutboxEntry | undefined> {
    return structuredClone(this.#notes.get(holdId));
  }

  /** Returns the entries in the order of a bucket listing. */
  async list(afterHoldId = ''): Promise<readonly string[]> {
    const ids = [...this.#notes.keys()].toSorted();
    return ids.filter((id) => id > afterHoldId).slice(0, OUTBOX_PAGE);
  }

  async remove(holdId: string): Promise<void> {
    this.#notes.delete(holdId);
  }

  notes(): readonly OutboxEntry[] {
    return structuredClone([...this.#notes.values()]);
  }
}
