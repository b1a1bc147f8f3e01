const UNSAFE = /[^A-Za-z0-9_.-]|^\.|\.$/gu;
/**
 * Windows opens a device under these names, with any extension.
 * https://learn.microsoft.com/windows/win32/fileio/naming-a-file
 */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i;
const LENGTH_MAX = 200;

/**
 * Returns the file name for a name: letters, digits, `-`, `_` and inner dots stay, the rest is percent-encoded. It has
 * no separator, no dot at its start, and is valid on Windows. Names must differ in more than case: some file systems
 * ignore it. Throws an Error if the name is empty, too long or not valid Unicode.
 */
export const toFileName = (name: string): string => {
  const safe = name.replace(UNSAFE, escapeBytes);
  const fileName = DEVICE.test(safe) ? `${escapeBytes(safe.slice(0, 1))}${safe.slice(1)}` : safe;
  if (fileName === '' || fileName.length > LENGTH_MAX || !name.isWellFormed()) {
    throw new Error(`"${name}" cannot be a file name. Use 1 to ${LENGTH_MAX} letters, digits, hyphens or underscores.`);
  }
  return fileName;
};

/** Undefined if `toFileName` does not make this file name. */
export const fromFileName = (fileName: string): string | undefined => {
  try {
    const name = decodeURIComponent(fileName);
    return toFileName(name) === fileName ? name : undefined;
  } catch {
    return undefined;
  }
};

const escapeBytes = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
