import type { ResponseStore } from '../../../lambdas/core/idempotency/claim-store.ts';

/** Large answers without a bucket. */
export class MemoryAnswerStore implements ResponseStore {
  readonly #answers = new Map<string, string>();

  async put(objectName: string, content: string): Promise<void> {
    this.#answers.set(objectName, content);
  }

  async get(objectName: string): Promise<string | undefined> {
    return this.#answers.get(objectName);
  }

  /** What is stored, by name. */
  answers(): ReadonlyMap<string, string> {
    return new Map(this.#answers);
  }
}
