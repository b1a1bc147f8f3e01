import type { PageFiles, StoredMedia } from '../../../lambdas/core/images/media.ts';

export class MemoryPageFiles implements PageFiles {
  readonly #files = new Map<string, { readonly bytes: Uint8Array; readonly mediaType: string }>();

  put(page: string, file: string, content: string | Uint8Array, mediaType: string): void {
    this.#files.set(`${page}/${file}`, { bytes: Buffer.from(content), mediaType });
  }

  async open(page: string, file: string): Promise<StoredMedia | undefined> {
    const found = this.#files.get(`${page}/${file}`);
    return found && { mediaType: found.mediaType, length: found.bytes.length, bytes: inOnePiece(found.bytes) };
  }
}

async function* inOnePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
