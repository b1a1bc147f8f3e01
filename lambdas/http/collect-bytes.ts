/**
 * Number of received bytes from which the buffer for the whole content is allocated. It is not allocated earlier, because
 * announced content may never arrive.
 */
const ROOM_FROM_BYTES = 1024 * 1024;

/**
 * Copies large content of at most `bytesMax` bytes into its final buffer. Joining chunks at the end would hold it in memory
 * twice (GEN-14).
 */
export const collectBytes = (bytesMax: number) => {
  let pieces: Buffer[] = [];
  let room: Buffer | undefined;
  let bytes = 0;
  const put = (piece: Buffer): void => {
    if (room) room.set(piece, bytes);
    else pieces.push(piece);
    bytes += piece.length;
  };
  return {
    add: (piece: Buffer): void => {
      put(piece);
      if (room || bytes < ROOM_FROM_BYTES || bytes >= bytesMax) return;
      const early = pieces;
      // Not filled with zeros, so the process uses this memory only as data arrives.
      room = Buffer.allocUnsafeSlow(bytesMax);
      pieces = [];
      bytes = 0;
      early.forEach(put);
    },
    whole: (): Buffer => room?.subarray(0, bytes) ?? Buffer.concat(pieces, bytes),
    /** Releases the memory, because a reader of a stalled body lives until its connection ends. */
    drop: (): void => {
      pieces = [];
      room = undefined;
    },
  };
};
