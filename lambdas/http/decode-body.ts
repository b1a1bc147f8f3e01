import type { Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createZstdDecompress } from 'node:zlib';
import { GatewayError } from '../core/errors/gateway-error.ts';
import { BODY_BYTES_MAX } from '../limits.ts';
import type { Wait } from './body-budget.ts';
import { collectBytes } from './collect-bytes.ts';

/** A compression of request bodies. */
export interface Coding {
  readonly name: string;
  /** Memory in bytes that the decoder needs for the text to which compressed data refers. */
  readonly windowBytes: number;
  readonly open: () => Transform & { readonly bytesWritten: number };
}

const KIB = 1024;
const MIB = 1024 * KIB;
const chunkSize = 64 * KIB;

const gzip: Coding = { name: 'gzip', windowBytes: 32 * KIB, open: () => createGunzip({ chunkSize }) };

const codings: Readonly<Record<string, Coding>> = {
  gzip,
  // https://www.rfc-editor.org/rfc/rfc9110#section-8.4.1.3
  'x-gzip': gzip,
  br: { name: 'br', windowBytes: 16 * MIB, open: () => createBrotliDecompress({ chunkSize }) },
  zstd: {
    name: 'zstd',
    // Clients must not need more: https://www.rfc-editor.org/rfc/rfc9659#section-3
    windowBytes: 8 * MIB,
    open: () => createZstdDecompress({ chunkSize, params: { [constants.ZSTD_d_windowLogMax]: 23 } }),
  },
};

/**
 * Returns the coding that `content-encoding` names. Undefined if the body is not compressed; `unsupported` for an unknown
 * coding and for several.
 */
export const codingOf = (contentEncoding = ''): Coding | 'unsupported' | undefined => {
  const name = contentEncoding.trim().toLowerCase();
  if (name === '' || name === 'identity') return undefined;
  return Object.hasOwn(codings, name) ? (codings[name] ?? 'unsupported') : 'unsupported';
};

/** Memory in bytes that decoding can take at most, with the decoded body. */
export const decodingBytes = ({ windowBytes }: Coding): number => BODY_BYTES_MAX + windowBytes;

/**
 * Decodes a body. Returns `too-long` and stops as soon as the decoded bytes exceed the limit of a body. Awaits `grow` for the
 * memory of the decoder and for every piece. Throws the errors of `grow`, and a 400 for invalid data.
 */
export const decodeBody = async (
  bytes: Uint8Array,
  { name, windowBytes, open }: Coding,
  grow: (bytes: number) => Wait,
): Promise<Buffer | 'too-long'> => {
  await grow(windowBytes);
  const decoder = open();
  const body = collectBytes(BODY_BYTES_MAX);
  let size = 0;
  try {
    decoder.end(bytes);
    const pieces: AsyncIterable<Buffer> = decoder;
    for await (const piece of pieces) {
      size += piece.length;
      if (size > BODY_BYTES_MAX) return 'too-long';
      await grow(piece.length);
      body.add(piece);
    }
    // A decoder ends at the end of the first frame and drops what follows.
    if (decoder.bytesWritten < bytes.length) throw new Error('data after the end');
    const whole = body.whole();
    // A copy of a shorter body releases the rest of the memory for the longest.
    return whole.length < BODY_BYTES_MAX / 2 ? Buffer.from(whole) : whole;
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    const message = `content-encoding: the body is not complete and valid ${name}. Send it again, or without compression.`;
    throw new GatewayError('invalid_request_error', message, { param: 'content-encoding', cause: error });
  } finally {
    decoder.destroy();
    body.drop();
  }
};
