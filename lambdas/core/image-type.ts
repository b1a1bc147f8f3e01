export type ImageMediaType = 'image/png' | 'image/jpeg' | 'image/webp';

const pngStart = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const jpegStart = [0xff, 0xd8, 0xff];
const riff = [0x52, 0x49, 0x46, 0x46];
const webp = [0x57, 0x45, 0x42, 0x50];

/** Detects the image type from the first 12 bytes (CHAT-6). Ignores the declared type and the file name. */
export const sniffImage = (bytes: Uint8Array): ImageMediaType | undefined => {
  const holds = (expected: readonly number[], from = 0): boolean =>
    expected.every((byte, index) => bytes[from + index] === byte);
  if (holds(pngStart)) return 'image/png';
  if (holds(jpegStart)) return 'image/jpeg';
  return holds(riff) && holds(webp, 8) ? 'image/webp' : undefined;
};
