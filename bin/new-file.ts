import { randomUUID } from 'node:crypto';
import { link, open, rm } from 'node:fs/promises';
import { failed, refused, whyOf } from './exit.ts';

export interface NewFile {
  write(text: string): Promise<void>;
  /** The file is there under its name, whole. Throws when another one has taken it meanwhile. */
  finish(): Promise<void>;
  discard(): Promise<void>;
}

/** The same for a text that is there already. */
export const writeNewFile = async (path: string, text: string): Promise<void> => {
  const file = await openNewFile(path);
  try {
    await file.write(text);
  } catch (error) {
    await file.discard();
    throw failed(`${path} cannot be written: ${whyOf(error)}`, error);
  }
  await file.finish();
};

/** A file that is nobody else's to read, and is there whole or not at all. Never writes over another one. */
export const openNewFile = async (path: string): Promise<NewFile> => {
  const draft = `${path}.${randomUUID()}`;
  const probe = await open(path, 'r').catch(() => undefined);
  await probe?.close();
  if (probe) throw refused(`${path} is there already. Name another file, or remove it.`);
  const file = await open(draft, 'wx', 0o600).catch((error: unknown) => {
    throw failed(`${path} cannot be written: ${whyOf(error)}`, error);
  });
  return {
    write: (text) => file.writeFile(text),
    finish: async () => {
      await file.sync();
      await file.close();
      try {
        await link(draft, path);
      } catch (error) {
        throw failed(`${path} cannot be written: ${whyOf(error)}`, error);
      } finally {
        await rm(draft, { force: true });
      }
    },
    discard: async () => {
      await file.close();
      await rm(draft, { force: true });
    },
  };
};
