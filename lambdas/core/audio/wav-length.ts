/** Chunks that stand before the samples; a file with more of them is not looked through. */
const CHUNKS_MAX = 64;
const PCM = 1;
const FLOAT = 3;
/** Beyond what any recorder writes, a head claims what it likes to seem short. */
const CHANNELS_MAX = 8;
const SAMPLES_PER_SECOND_MAX = 192_000;
const BITS: readonly number[] = [8, 16, 24, 32];

/**
 * How many seconds a WAV file of plain samples can last at most; undefined for anything else. The samples are counted by the bytes that
 * are there and by what each of them takes, never by the lengths and rates that the file claims to have and that a decoder may ignore.
 * https://learn.microsoft.com/windows/win32/medfound/tutorial--decoding-audio#file-header
 */
export const wavSecondsAtMost = (bytes: Uint8Array): number | undefined => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 12 || nameAt(bytes, 0) !== 'RIFF' || nameAt(bytes, 8) !== 'WAVE') return undefined;
  let bytesPerSecond: number | undefined;
  let at = 12;
  for (let chunk = 0; chunk < CHUNKS_MAX && at + 8 <= bytes.length; chunk += 1) {
    const name = nameAt(bytes, at);
    const length = view.getUint32(at + 4, true);
    if (name === 'data') return bytesPerSecond && (bytes.length - at - 8) / bytesPerSecond;
    if (name === 'fmt ' && bytesPerSecond !== undefined) return undefined;
    if (name === 'fmt ') bytesPerSecond = rateOf(view, at + 8, length);
    // Chunks begin at even places.
    at += 8 + length + (length % 2);
  }
  return undefined;
};

const nameAt = (bytes: Uint8Array, at: number): string => String.fromCharCode(...bytes.subarray(at, at + 4));

const rateOf = (view: DataView, at: number, length: number): number | undefined => {
  if (length < 16 || at + 16 > view.byteLength) return undefined;
  const coding = view.getUint16(at, true);
  const channels = view.getUint16(at + 2, true);
  const samplesPerSecond = view.getUint32(at + 4, true);
  const bits = view.getUint16(at + 14, true);
  const frameBytes = view.getUint16(at + 12, true);
  // The extensible coding hides another one behind a name of its own.
  if ((coding !== PCM && coding !== FLOAT) || !BITS.includes(bits)) return undefined;
  if (channels > CHANNELS_MAX || samplesPerSecond > SAMPLES_PER_SECOND_MAX) return undefined;
  if (frameBytes !== channels * (bits / 8)) return undefined;
  return channels * samplesPerSecond * (bits / 8) || undefined;
};
