import { randomUUID } from 'node:crypto';
import { link, open, rm } from 'node:fs/promises';
import { failed, refused, whyOf } from './exit.ts';

export interface NewFile {
  write(text: string): Promise<void>;
  /** Puts the complete file in place under its name. Throws a CliError if the name was taken in the meantime. */
  finish(): Promise<void>;
  discard(): Promise<void>;
}

/** Writes a whole text to a new file. Throws a CliError if the file exists. */
export const writeNewFile = async (path: string, text: string): Promise<void> => {
  const file = await openNewFile(path);
  try {
    await file.write(text);
    await file.finish();
  } catch (error) {
    await file.discard();
    throw error;
  }
};

/**
 * Opens a new file that only this user can read. The file appears complete or not at all, and never replaces another
 * one. Throws a CliError.
 */
export const openNewFile = async (path: string): Promise<NewFile> => {
  const draft = `${path}.${randomUUID()}`;
  const probe = await open(path, 'r').catch(() => undefined);
  await probe?.close();
  if (probe) throw refused(`${path}: already exists. Name another file, or remove it.`);
  const fail = (error: unknown): never => {
    throw failed(`${path}: cannot be written: ${whyOf(error)}`, error);
  };
  const file = await open(draft, 'wx', 0o600).catch(fail);
  return {
    write: (text) => file.writeFile(text).catch(fail),
    finish: async () => {
      await file.sync().catch(fail);
      await file.close().catch(fail);
      await link(draft, path).catch(fail);
      await rm(draft, { force: true });
    },
    discard: async () => {
      await file.close();
      await rm(draft, { force: true });
    },
  };
};
