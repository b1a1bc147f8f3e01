import { createCipheriv, createHash } from 'node:crypto';
import { baselineProfile, type Color, constrained, type EncodedVideo, encodeBar, type Picture } from './h264.ts';
import { readVideoId, type SimulatedVideo } from './video-job.ts';

export const byteplusTaskPrefix = 'cgt-';
export const openaiVideoPrefix = 'video_';

export type SimulatedFile = { readonly length: number; pieces(): Generator<Uint8Array> };

const defaultBytes = 200_000;
const pieceBytes = 65_536;
/** Largest size of a plain box. */
const bytesMax = 0xffff_ffff;
const boxHeaderBytes = 8;
const picturesPerSecond = 24;
/** Units of times in the file. One picture lasts an integral number of them. */
const timescale = picturesPerSecond * 1_000;

/**
 * Returns the MP4 of a job: `ftyp`, `moov` and `mdat` with an H.264 track of the requested size and length. The rest of
 * `mdat` is bytes that differ between ids and between positions of a file, and that players ignore. They are generated
 * in pieces, however large. A size below that of the track has no effect.
 */
export function videoFileOf(id: string, { seconds, size, video }: SimulatedVideo): SimulatedFile {
  const digest = createHash('sha256').update(id).digest();
  const [width = 0, height = 0] = size.split('x').map(Number);
  const encoded = encodeBar({ width, height }, colorOf(digest), seconds * picturesPerSecond);
  const head = headOf({ width, height }, seconds, encoded);
  const track = Buffer.concat(encoded.pictures.flatMap((unit) => [uint32(unit.length), unit]));
  const start = head.length + boxHeaderBytes;
  const length = Math.min(Math.max(video?.fileBytes ?? defaultBytes, start + track.length), bytesMax);
  return {
    length,
    *pieces() {
      yield Buffer.concat([head, boxStart('mdat', length - start), track]);
      const cipher = createCipheriv('aes-128-ctr', digest.subarray(0, 16), Buffer.alloc(16));
      const zeros = Buffer.alloc(pieceBytes);
      const filler = length - start - track.length;
      for (let left = filler; left > 0; left -= pieceBytes) yield cipher.update(zeros.subarray(0, left));
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

/** A color of medium brightness, so that the bar is visible. */
function colorOf([cb = 0, cr = 0]: Uint8Array): Color {
  return [96, 64 + (cb % 128), 64 + (cr % 128)];
}

/** Everything before `mdat`. The table of positions needs the length of this part, which does not depend on it. */
function headOf(picture: Picture, seconds: number, encoded: EncodedVideo): Buffer {
  const headWith = (position: number): Buffer =>
    Buffer.concat([
      box('ftyp', [Buffer.from('isom'), uint32(512), Buffer.from('isomiso2avc1mp41')]),
      box('moov', [movieHeader(seconds), trackBox(picture, seconds, encoded, position)]),
    ]);
  return headWith(headWith(0).length + boxHeaderBytes);
}

const unityMatrix = numbers(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000);

/** ISO/IEC 14496-12, 8.2.2: version 0, rate 1, full volume, the unity matrix, and 2 as the id of the next track. */
function movieHeader(seconds: number): Buffer {
  const times = numbers(0, 0, timescale, seconds * timescale);
  return fullBox('mvhd', 0, [times, numbers(0x10000, 0x1000000, 0, 0), unityMatrix, Buffer.alloc(24), uint32(2)]);
}

/** 8.3.1: one visible track. */
function trackBox({ width, height }: Picture, seconds: number, encoded: EncodedVideo, position: number): Buffer {
  const header = fullBox('tkhd', 3, [
    numbers(0, 0, 1, 0, seconds * timescale),
    Buffer.alloc(16),
    unityMatrix,
    numbers(width * 0x10000, height * 0x10000),
  ]);
  const undeterminedLanguage = 0x55c4;
  const media = box('mdia', [
    fullBox('mdhd', 0, [numbers(0, 0, timescale, seconds * timescale), uint16(undeterminedLanguage), uint16(0)]),
    fullBox('hdlr', 0, [uint32(0), Buffer.from('vide'), Buffer.alloc(12), Buffer.from('Simulated video\0')]),
    box('minf', [
      fullBox('vmhd', 1, [Buffer.alloc(8)]),
      box('dinf', [fullBox('dref', 0, [uint32(1), fullBox('url ', 1, [])])]),
      sampleTable({ width, height }, encoded, position),
    ]),
  ]);
  return box('trak', [header, media]);
}

/** 8.5: all pictures are in one chunk, each has the same duration, and only the first one can be sought. */
function sampleTable(picture: Picture, encoded: EncodedVideo, position: number): Buffer {
  const count = encoded.pictures.length;
  return box('stbl', [
    fullBox('stsd', 0, [uint32(1), sampleEntry(picture, encoded)]),
    fullBox('stts', 0, [numbers(1, count, timescale / picturesPerSecond)]),
    fullBox('stss', 0, [numbers(1, 1)]),
    fullBox('stsc', 0, [numbers(1, 1, count, 1)]),
    fullBox('stsz', 0, [numbers(0, count, ...encoded.pictures.map((unit) => 4 + unit.length))]),
    fullBox('stco', 0, [numbers(1, position)]),
  ]);
}

/** ISO/IEC 14496-15, 5.4.2: units with lengths of four bytes, one sequence and one picture parameter set. */
function sampleEntry({ width, height }: Picture, { parameters, level }: EncodedVideo): Buffer {
  const configuration = box('avcC', [
    Buffer.from([1, baselineProfile, constrained, level, 0xff, 0xe1]),
    uint16(parameters.sequence.length),
    parameters.sequence,
    Buffer.from([1]),
    uint16(parameters.picture.length),
    parameters.picture,
  ]);
  const dotsPerInch = 72 * 0x10000;
  return box('avc1', [
    Buffer.from([0, 0, 0, 0, 0, 0, 0, 1]),
    Buffer.alloc(16),
    uint16(width),
    uint16(height),
    numbers(dotsPerInch, dotsPerInch, 0),
    uint16(1),
    Buffer.alloc(32),
    numbers(0x18ffff),
    configuration,
  ]);
}

function fullBox(type: string, flags: number, contents: readonly Buffer[]): Buffer {
  return box(type, [uint32(flags), ...contents]);
}

function box(type: string, contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([boxStart(type, content.length), content]);
}

function boxStart(type: string, contentBytes: number): Buffer {
  return Buffer.concat([uint32(boxHeaderBytes + contentBytes), Buffer.from(type)]);
}

function numbers(...values: readonly number[]): Buffer {
  return Buffer.concat(values.map(uint32));
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}
