import type { Operation, OperationLog } from '../../../lambdas/core/ledger/records.ts';

/** In-memory fake of the log of operator commands. */
export class MemoryOperationLog implements OperationLog {
  readonly #operations = new Map<string, Operation>();

  async add(operation: Operation): Promise<void> {
    this.#operations.set(`${operation.accountId}#${operation.id}`, structuredClone(operation));
  }

  async list(accountId: string): Promise<readonly Operation[]> {
    const own = [...this.#operations.values()].filter((operation) => operation.accountId === accountId);
    return structuredClone(own.toSorted((one, other) => (one.id < other.id ? -1 : 1)));
  }
}
