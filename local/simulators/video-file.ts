import { createCipheriv, createHash } from 'node:crypto';
import { readVideoId, type SimulatedVideo } from './video-job.ts';

export const byteplusTaskPrefix = 'cgt-';
export const openaiVideoPrefix = 'video_';

export type SimulatedFile = { readonly length: number; pieces(): Generator<Uint8Array> };

const defaultBytes = 200_000;
const pieceBytes = 65_536;
/** Largest size of a plain box. */
const bytesMax = 0xffff_ffff;

/**
 * Returns the MP4 of a job: valid boxes (`ftyp`, `moov` with the duration, `mdat`) around bytes that differ between ids
 * and between positions of a file. It contains no picture, and is generated in pieces, however large.
 */
export function videoFileOf(id: string, { seconds, video }: SimulatedVideo): SimulatedFile {
  const head = Buffer.concat([ftyp(), box('moov', [movieHeader(seconds)])]);
  const boxHeader = 8;
  const length = Math.min(Math.max(video?.fileBytes ?? defaultBytes, head.length + boxHeader), bytesMax);
  const contentBytes = length - head.length - boxHeader;
  return {
    length,
    *pieces() {
      yield Buffer.concat([head, boxStart('mdat', contentBytes)]);
      const key = createHash('sha256').update(id).digest().subarray(0, 16);
      const cipher = createCipheriv('aes-128-ctr', key, Buffer.alloc(16));
      const zeros = Buffer.alloc(pieceBytes);
      for (let left = contentBytes; left > 0; left -= pieceBytes) yield cipher.update(zeros.subarray(0, left));
    },
  };
}

/**
 * Returns the complete file of a video id, for comparison in tests. Throws an Error if the id is not one of the
 * simulator's.
 */
export function videoBytesOf(id: string): Buffer {
  const job = readVideoId(byteplusTaskPrefix, id) ?? readVideoId(openaiVideoPrefix, id);
  if (job === undefined) throw new Error(`"${id}" is not an id of a simulated video`);
  return Buffer.concat([...videoFileOf(id, job).pieces()]);
}

function ftyp(): Buffer {
  return box('ftyp', [Buffer.from('isom'), uint32(512), Buffer.from('isomiso2mp41')]);
}

/** ISO/IEC 14496-12, 8.2.2: version 0, rate 1, full volume, the unity matrix, and 2 as the id of the next track. */
function movieHeader(seconds: number): Buffer {
  const timescale = 1_000;
  const unityMatrix = [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000];
  const times = [0, 0, 0, timescale, seconds * timescale];
  const rateAndVolume = [0x10000, 0x1000000, 0, 0];
  const preDefined = [0, 0, 0, 0, 0, 0];
  return box('mvhd', [...times, ...rateAndVolume, ...unityMatrix, ...preDefined, 2].map(uint32));
}

function box(type: string, contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([boxStart(type, content.length), content]);
}

function boxStart(type: string, contentBytes: number): Buffer {
  return Buffer.concat([uint32(8 + contentBytes), Buffer.from(type)]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
