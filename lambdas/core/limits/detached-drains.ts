/** Maximum number of drains of one account in one process (BILL-8). */
const DRAINS_MAX = 8;

/** Provider responses that are still read after the client left. Each of them holds a connection and money. */
export class DetachedDrains {
  readonly #counts = new Map<string, number>();

  isFull(accountId: string): boolean {
    return (this.#counts.get(accountId) ?? 0) >= DRAINS_MAX;
  }

  /** Starts a drain. Returns a function to call when the drain has ended. */
  begin(accountId: string): () => void {
    this.#counts.set(accountId, (this.#counts.get(accountId) ?? 0) + 1);
    return () => {
      const left = (this.#counts.get(accountId) ?? 0) - 1;
      if (left > 0) this.#counts.set(accountId, left);
      else this.#counts.delete(accountId);
    };
  }
}
