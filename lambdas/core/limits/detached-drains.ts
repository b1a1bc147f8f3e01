/** BILL-8: of one account in one process. */
const DRAINS_MAX = 8;

/** Vendors' answers that are still being read though nobody takes them any more: each holds a connection and money. */
export class DetachedDrains {
  readonly #counts = new Map<string, number>();

  isFull(accountId: string): boolean {
    return (this.#counts.get(accountId) ?? 0) >= DRAINS_MAX;
  }

  /** Answers what to call once when the drain has ended. */
  begin(accountId: string): () => void {
    this.#counts.set(accountId, (this.#counts.get(accountId) ?? 0) + 1);
    return () => {
      const left = (this.#counts.get(accountId) ?? 0) - 1;
      if (left > 0) this.#counts.set(accountId, left);
      else this.#counts.delete(accountId);
    };
  }
}
