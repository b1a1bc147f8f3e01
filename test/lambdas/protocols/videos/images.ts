/** Headers of image files, long enough to read their dimensions. */

export const png = (width: number, height: number): Uint8Array => {
  const bytes = Buffer.alloc(40);
  bytes.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]);
  bytes.write('IHDR', 12);
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
};

/** JPEG with this much metadata before the dimensions. */
export const jpeg = (width: number, height: number, metadataBytes = 0): Uint8Array => {
  const pieces = [Buffer.from([0xff, 0xd8])];
  for (let left = Math.max(metadataBytes, 16); left > 0; left -= 60_000) {
    const size = Math.min(left, 60_000);
    const segment = Buffer.alloc(size + 4);
    segment.set([0xff, 0xe0]);
    segment.writeUInt16BE(size + 2, 2);
    pieces.push(segment);
  }
  const frame = Buffer.alloc(20);
  frame.set([0xff, 0xc0, 0, 17, 8]);
  frame.writeUInt16BE(height, 5);
  frame.writeUInt16BE(width, 7);
  return Buffer.concat([...pieces, frame]);
};

export const webp = (width: number, height: number): Uint8Array => {
  const bytes = Buffer.alloc(40);
  bytes.write('RIFF', 0);
  bytes.write('WEBPVP8X', 8);
  bytes.writeUIntLE(width - 1, 24, 3);
  bytes.writeUIntLE(height - 1, 27, 3);
  return bytes;
};

export const fileOf = (bytes: Uint8Array, name = 'first.png', type = 'image/png'): File =>
  new File([Uint8Array.from(bytes)], name, { type });
