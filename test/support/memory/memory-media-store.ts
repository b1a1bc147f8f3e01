import type { MediaStore, StoredMedia } from '../../../lambdas/core/images/media.ts';

interface Kept {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
}

/** In-memory fake of the media bucket. */
export class MemoryMediaStore implements MediaStore {
  readonly files = new Map<string, Kept>();

  async put(name: string, bytes: Uint8Array, mediaType: string): Promise<void> {
    this.files.set(name, { bytes: Uint8Array.from(bytes), mediaType });
  }

  async open(name: string): Promise<StoredMedia | undefined> {
    const kept = this.files.get(name);
    if (!kept) return undefined;
    const { bytes, mediaType } = kept;
    return { mediaType, length: bytes.length, bytes: piecesOf(bytes) };
  }
}

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
