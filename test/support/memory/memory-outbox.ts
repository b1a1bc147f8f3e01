import type { Outbox, OutboxNote } from '../../../lambdas/core/ledger/ledger.ts';

/** The outbox without a bucket. */
export class MemoryOutbox implements Outbox {
  readonly #notes = new Map<string, OutboxNote>();

  async put(note: OutboxNote): Promise<void> {
    this.#notes.set(note.record.holdId, structuredClone(note));
  }

  async read(holdId: string): Promise<OutboxNote | undefined> {
    return structuredClone(this.#notes.get(holdId));
  }

  /** In the order of a bucket. */
  async list(): Promise<readonly string[]> {
    return [...this.#notes.keys()].toSorted();
  }

  async remove(holdId: string): Promise<void> {
    this.#notes.delete(holdId);
  }

  notes(): readonly OutboxNote[] {
    return structuredClone([...this.#notes.values()]);
  }
}
