/** How long nobody else takes up an update that somebody works on, unless it is given back. */
export const UPDATE_LEASE_MS = 60_000;

/** An update by its number, or the chat that is being started: of its messages one at a time may tell a key. */
export type TurnKey = `update#${number}` | `start#${number}`;

/** Which updates of the messenger have been dealt with: it delivers one again until it is told so (KEY-1). */
export interface UpdateLog {
  /** `busy`: somebody works on it, or died over it less than a lease ago. Throws StoreError. */
  claim(key: TurnKey, nowMs: number): Promise<'claimed' | 'busy' | 'done'>;
  /** For good. Throws StoreError. */
  finish(key: TurnKey, nowMs: number): Promise<void>;
  /** The next delivery may claim it at once, unless it is finished. Throws StoreError. */
  free(key: TurnKey): Promise<void>;
}
