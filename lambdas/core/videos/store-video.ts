import { createHash } from 'node:crypto';
import { GatewayError } from '../errors/gateway-error.ts';
import { untilDefinite } from '../retry.ts';
import { ignoreStore } from './end-video.ts';
import { askVendor } from './poll-video.ts';
import { isEnded } from './video-job.ts';
import type { VideoStepPorts } from './video-ports.ts';
import type { VideoFile } from './video-wire.ts';

const CALL_MS = 30_000;
/** Less than the machine waits for this step: an attempt that it has given up is not to go on. */
const STORE_MS = 140_000;
const NAME_PART = 1e9;
/** No clip of a dozen seconds is larger; a vendor that sends on and on must not fill the bucket. */
const FILE_BYTES_MAX = 2 * 1024 * 1024 * 1024;
/** The name of an MP4's first box stands behind its length: ISO/IEC 14496-12, 4.3. */
const BOX_NAME_AT = 4;
const FIRST_BOX = Buffer.from('ftyp');
const HEAD_BYTES = BOX_NAME_AT + FIRST_BOX.length;

/**
 * VID-5: brings the file from the vendor into the bucket, and notes what it is and what the vendor counted. Throws GatewayError for a
 * vendor that gives no whole MP4, and StoreError; safe to repeat, and done once it has been noted.
 */
export const storeVideo = async (ports: VideoStepPorts, videoId: string): Promise<void> => {
  const { jobs, files, ledger } = ports;
  const job = await untilDefinite(ledger, () => jobs.read(videoId));
  if (!job || isEnded(job) || job.file) return;
  if (job.upstreamId === undefined) throw new GatewayError('upstream_error', 'This video was never begun.');
  const status = await askVendor(ports, job, job.upstreamId, CALL_MS);
  if (status.kind !== 'succeeded')
    throw new GatewayError('upstream_error', 'The model does not offer the video any more.');
  const name = `${videoId}/${attemptName(ledger)}`;
  const endsAtMs = ledger.clock.now() + STORE_MS;
  const taken = takeWhole(await status.open(), () => ledger.clock.now() >= endsAtMs);
  await files.put(name, taken.bytes);
  const file = { name, ...taken.facts() };
  if (await untilDefinite(ledger, () => jobs.noteFile(videoId, file, status.tokens))) return;
  // Another attempt was first, and what it has stored is what will be charged.
  await files.remove(name).catch(ignoreStore);
};

/** Two attempts may run at once, in two processes. */
const attemptName = ({ random }: VideoStepPorts['ledger']): string =>
  Array.from({ length: 3 }, () => Math.floor(random() * NAME_PART)).join('-');

/** Passes on the bytes and learns what they are, which can be asked once. A file that is not whole, or none, breaks the iteration. */
const takeWhole = ({ bytes: source, length }: VideoFile, isLate: () => boolean) => {
  const hash = createHash('sha256');
  let size = 0;
  let head = Buffer.alloc(0);
  const take = (piece: Uint8Array): void => {
    if (head.length < HEAD_BYTES)
      head = checkedHead(Buffer.concat([head, piece.subarray(0, HEAD_BYTES - head.length)]));
    size += piece.length;
    if (isLate()) throw new GatewayError('upstream_timeout', 'The file of the video did not come in time.');
    if (size > FILE_BYTES_MAX) throw broken('it is too large');
    hash.update(piece);
  };
  async function* pass(): AsyncGenerator<Uint8Array> {
    for await (const piece of source) {
      take(piece);
      yield piece;
    }
    if (head.length < HEAD_BYTES) throw broken('it is empty');
    if (length !== undefined && size !== length) throw broken('it is not whole');
  }
  return { bytes: pass(), facts: () => ({ bytes: size, sha256: hash.digest('hex') }) };
};

const checkedHead = (head: Buffer<ArrayBuffer>): Buffer<ArrayBuffer> => {
  if (head.length === HEAD_BYTES && !head.subarray(BOX_NAME_AT).equals(FIRST_BOX)) throw broken('it is no MP4');
  return head;
};

const broken = (what: string): GatewayError =>
  new GatewayError('upstream_error', `The file of the video cannot be used: ${what}. Nothing was charged.`);
