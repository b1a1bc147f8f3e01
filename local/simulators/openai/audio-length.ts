/** A usual rate of compressed speech, 64 kbit/s: nothing is decoded here. */
const compressedBytesPerSecond = 8_000;

/** Of a WAV what its head says; of anything else what its size makes likely. */
export function secondsOf(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isWav = bytes.length >= 44 && Buffer.from(bytes.subarray(0, 4)).toString('latin1') === 'RIFF';
  const rate = isWav ? view.getUint32(28, true) : compressedBytesPerSecond;
  const sound = isWav ? bytes.length - 44 : bytes.length;
  return Math.round((sound / (rate || compressedBytesPerSecond)) * 100) / 100;
}
