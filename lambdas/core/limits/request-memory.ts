/**
 * Memory of this process that a request needs beyond its body: images that the gateway fetches for it, or a large
 * response. It counts in the share of its account (GEN-14).
 */
export interface RequestMemory {
  /**
   * Waits until the share has room for this many more bytes, and returns undefined if it has. Throws
   * `service_unavailable` after 10 s, or 30 s for a response. Calls may overlap.
   */
  reserve(bytes: number): Promise<void> | undefined;
  /** Sets the bytes to those that are really in memory, so that other requests can continue. Never waits. */
  settle(bytes: number): void;
}

/**
 * Opens memory of a request. It is released when its response has started, like the body, or when the response has been
 * sent.
 */
export type OpenMemory = (until: 'started' | 'sent') => RequestMemory;

/** Memory of a request in a process that limits none. */
export const unlimitedMemory: RequestMemory = { reserve: () => undefined, settle: () => undefined };
