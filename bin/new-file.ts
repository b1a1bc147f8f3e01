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
    await file.finish();
  } catch (error) {
    await file.discard();
    throw error;
  }
};

/** A file that is nobody else's to read, and is there whole or not at all. Never writes over another one. */
export const openNewFile = async (path: string): Promise<NewFile> => {
  const draft = `${path}.${randomUUID()}`;
  const probe = await open(path, 'r').catch(() => undefined);
  await probe?.close();
  if (probe) throw refused(`${path} is there already. Name another file, or remove it.`);
  const fail = (error: unknown): never => {
    throw failed(`${path} cannot be written: ${whyOf(error)}`, error);
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
