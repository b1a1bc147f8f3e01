import { closeSync, constants, fstatSync, fsyncSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { isApiKey } from '../../../lambdas/core/accounts/keys.ts';
import { failed, refused, whyOf } from '../../exit.ts';

/**
 * Keys of the accounts that an import opens. `add` writes through to the disk, so that a repeat of the import finds the
 * key.
 */
export interface KeyFile {
  keyOf(account: string): string | undefined;
  add(account: string, apiKey: string): void;
  entries(): Iterable<readonly [account: string, apiKey: string]>;
  close(): void;
}

const HEAD = 'batch,account,key\n';

/**
 * Creates the file for its owner only, or continues the file of an earlier run of the same import. Throws a CliError.
 */
export const openKeyFile = (path: string, batch: string): KeyFile => {
  const fd = create(path) ?? reopen(path);
  try {
    const text = readFileSync(fd, 'utf8');
    // An incomplete last line holds a key that was never used, because the import writes the line before the account.
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    const keys = parse(path, batch, text);
    let size = Buffer.byteLength(whole);
    ftruncateSync(fd, size);
    const append = (line: string): void => {
      if (fstatSync(fd).size !== size)
        throw failed(`${path}: another process writes to this file. Run one import at a time.`);
      const bytes = Buffer.from(line);
      for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at, bytes.length - at, size + at);
      size += bytes.length;
      fsyncSync(fd);
    };
    if (size === 0) append(HEAD);
    return {
      keyOf: (account) => keys.get(account),
      add: (account, apiKey) => {
        append(`${batch},${account},${apiKey}\n`);
        keys.set(account, apiKey);
      },
      entries: () => keys.entries(),
      close: () => closeSync(fd),
    };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
};

const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;

const create = (path: string): number | undefined => {
  try {
    const fd = openSync(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    syncFolder(dirname(path));
    return fd;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return undefined;
    throw failed(`${path}: cannot be written: ${whyOf(error)}`, error);
  }
};

/** Syncs the folder: a new file survives a crash only when its directory entry is on the disk. */
const syncFolder = (path: string): void => {
  const fd = openSync(path, constants.O_RDONLY);
  fsyncSync(fd);
  closeSync(fd);
};

const OTHERS = 0o077;

const reopen = (path: string): number => {
  let fd: number;
  try {
    fd = openSync(path, O_RDWR | O_NOFOLLOW);
  } catch (error) {
    throw failed(`${path}: cannot be written: ${whyOf(error)}`, error);
  }
  const { mode, uid } = fstatSync(fd);
  const isOurs = (mode & constants.S_IFMT) === constants.S_IFREG && uid === process.getuid?.();
  if (isOurs && (mode & OTHERS) === 0) return fd;
  closeSync(fd);
  throw refused(
    `${path}: must be a regular file that only this user can read. Name another file, or run \`chmod 600\` on it.`,
  );
};

/**
 * Parses the keys. Throws a CliError if the text cannot be from a key file of this import, so that a foreign file is
 * never changed.
 */
const parse = (path: string, batch: string, text: string): Map<string, string> => {
  const keys = new Map<string, string>();
  if (HEAD.startsWith(text)) return keys;
  const foreign = refused(`${path}: exists and is not the key file of the import ${batch}. Name another file.`);
  if (!text.startsWith(HEAD)) throw foreign;
  for (const line of text.slice(HEAD.length).split('\n').slice(0, -1)) {
    const [of, account, apiKey = '', ...more] = line.split(',');
    if (of !== batch || !account || !isApiKey(apiKey) || more.length > 0) throw foreign;
    keys.set(account, apiKey);
  }
  return keys;
};
