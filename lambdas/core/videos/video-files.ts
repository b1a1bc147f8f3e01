/** Both ends are counted, as in HTTP. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** Finished files, by names that are used once. Every method throws StoreError when it brought no definite answer. */
export interface VideoFiles {
  /**
   * Takes a file as it comes, in bounded memory; it is there as a whole or not at all. What `bytes` throws is thrown.
   */
  put(name: string, bytes: AsyncIterable<Uint8Array>): Promise<void>;
  /** Undefined when there is none. What breaks while it is read is thrown by the iteration. */
  open(name: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Also when there is none. */
  remove(name: string): Promise<void>;
}
