import type { ResponseStore } from '../../../lambdas/core/idempotency/claim-store.ts';

/** In-memory fake of the store of large responses. */
export class MemoryAnswerStore implements ResponseStore {
  readonly #answers = new Map<string, string>();

  async put(objectName: string, content: string): Promise<void> {
    this.#answers.set(objectName, content);
  }

  async get(objectName: string): Promise<string | undefined> {
    return this.#answers.get(objectName);
  }

  /** Returns the stored responses by name. */
  answers(): ReadonlyMap<string, string> {
    return new Map(this.#answers);
  }
}
