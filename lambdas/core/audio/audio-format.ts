/** What the first bytes of a recording say, as the ending that vendors know it by; 12 bytes are enough. */
export const sniffAudio = (bytes: Uint8Array): string | undefined => {
  const text = (from: number, length: number): string => String.fromCharCode(...bytes.subarray(from, from + length));
  if (text(0, 4) === 'RIFF' && text(8, 4) === 'WAVE') return 'wav';
  if (text(0, 4) === 'fLaC') return 'flac';
  if (text(0, 4) === 'OggS') return 'ogg';
  if (text(4, 4) === 'ftyp') return text(8, 3) === 'M4A' ? 'm4a' : 'mp4';
  if (text(0, 4) === '\x1a\x45\xdf\xa3') return 'webm';
  return text(0, 3) === 'ID3' || isMpegLayer3(bytes) ? 'mp3' : undefined;
};

/** The head of a frame: eleven bits that are set, and the layer (https://www.rfc-editor.org/rfc/rfc3003, ISO 11172-3). */
const isMpegLayer3 = ([first = 0, second = 0]: Uint8Array): boolean =>
  first === 0xff && (second & 0xe0) === 0xe0 && (second & 0x06) === 0x02;
