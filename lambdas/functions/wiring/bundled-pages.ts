import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreError } from '../../core/errors/store-error.ts';
import type { PageFiles } from '../../core/images/media.ts';
import { mediaTypeOf } from '../../routes.ts';

/**
 * Pages in the code of the function that serves them: synthesis writes `pages/<page>/<file>` beside the bundle, which
 * contains this module.
 */
export const createBundledPages = (folder = join(import.meta.dirname, 'pages')): PageFiles => ({
  open: async (page, file) => {
    const bytes = await read(join(folder, page, file));
    return bytes && { mediaType: mediaTypeOf(file), length: bytes.length, bytes: inOnePiece(bytes) };
  },
});

/** Returns undefined if the file does not exist. Throws a StoreError for any other failure. */
const read = async (path: string): Promise<Uint8Array | undefined> => {
  try {
    return await readFile(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    if (code === 'ENOENT') return undefined;
    throw new StoreError('unavailable', code, error);
  }
};

async function* inOnePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  yield bytes;
}
