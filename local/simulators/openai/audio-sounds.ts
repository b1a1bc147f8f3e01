const samplesPerSecond = 24_000;

const contentTypes: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/opus',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
};

export const speechFormats: readonly string[] = Object.keys(contentTypes);

export function contentTypeOf(format: string): string {
  return contentTypes[format] ?? 'application/octet-stream';
}

/** Returns a file in pieces: a valid header of the format, and meaningless sound. */
export function* soundPieces(format: string, bytes: number): Generator<Uint8Array> {
  const head = headOf(format, bytes).subarray(0, bytes);
  if (head.length > 0) yield head;
  const frame = frames[format] ?? Buffer.from([0, 0]);
  for (let sent = head.length; sent < bytes; ) {
    const piece = Buffer.alloc(Math.min(pieceBytes, bytes - sent), frame);
    yield piece;
    sent += piece.length;
  }
}

const pieceBytes = 4_096;

/** MPEG 2, layer III, 64 kbit/s at 24 kHz, mono: 192 bytes a frame. */
const mp3Frame = Buffer.concat([Buffer.from([0xff, 0xf3, 0x84, 0xc4]), Buffer.alloc(188)]);
/** ADTS, AAC-LC at 24 kHz, mono, 64 bytes a frame. */
const aacFrame = Buffer.concat([Buffer.from([0xff, 0xf1, 0x58, 0x40, 0x08, 0x1f, 0xfc]), Buffer.alloc(57)]);

const frames: Readonly<Record<string, Buffer>> = { mp3: mp3Frame, aac: aacFrame };

function headOf(format: string, bytes: number): Buffer {
  if (format === 'wav') return wavHead(bytes - 44);
  if (format === 'opus') return Buffer.from('OggS');
  if (format === 'flac') return Buffer.from('fLaC');
  return Buffer.alloc(0);
}

/** 16 bits, one channel. */
function wavHead(dataBytes: number): Buffer {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(Math.max(0, dataBytes) + 36, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(samplesPerSecond, 24);
  head.writeUInt32LE(samplesPerSecond * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(Math.max(0, dataBytes), 40);
  return head;
}
