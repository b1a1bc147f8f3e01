export interface Mp4Box {
  readonly type: string;
  readonly bytes: Buffer;
}

/** Returns the boxes of one level, each without its header. Throws an Error if they do not fill the bytes exactly. */
export const readBoxes = (bytes: Buffer): Mp4Box[] => {
  const boxes: Mp4Box[] = [];
  for (let start = 0; start < bytes.length; ) {
    const length = bytes.readUInt32BE(start);
    if (length < 8 || start + length > bytes.length) throw new Error(`a box of ${length} bytes at ${start}`);
    boxes.push({
      type: bytes.toString('latin1', start + 4, start + 8),
      bytes: bytes.subarray(start + 8, start + length),
    });
    start += length;
  }
  return boxes;
};
