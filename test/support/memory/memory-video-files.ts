import type { ByteRange, VideoFiles } from '../../../lambdas/core/videos/dependencies.ts';

/** In-memory fake of the bucket of finished videos. */
export class MemoryVideoFiles implements VideoFiles {
  readonly #files = new Map<string, Uint8Array>();
  /** Names of all puts that stored a file, in order. */
  readonly stored: string[] = [];

  async put(videoId: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const pieces: Uint8Array[] = [];
    for await (const piece of bytes) pieces.push(Uint8Array.from(piece));
    this.#files.set(videoId, Buffer.concat(pieces));
    this.stored.push(videoId);
  }

  async open(videoId: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | undefined> {
    const bytes = this.bytesOf(videoId);
    if (!bytes) return undefined;
    return inPieces(range ? bytes.subarray(range.first, range.last + 1) : bytes);
  }

  async remove(videoId: string): Promise<void> {
    this.#files.delete(videoId);
  }

  bytesOf(videoId: string): Uint8Array | undefined {
    return this.#files.get(videoId);
  }

  /** Returns the names of the videos that have a file. */
  names(): readonly string[] {
    return [...this.#files.keys()];
  }
}

const PIECE_BYTES = 64 * 1024;

async function* inPieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}
