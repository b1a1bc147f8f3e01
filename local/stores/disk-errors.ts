const FULL = 'the disk is full. Free space on it.';
const READ_ONLY = 'it is read-only. Make it writable.';
const NOT_ALLOWED = 'permission denied. Run the program as the owner of the data folder.';
export const DAMAGED = 'it is damaged. Restore a backup.';

/** By the code of a system error. */
const systemReasons: Readonly<Record<string, string>> = {
  ENOSPC: FULL,
  EDQUOT: FULL,
  EROFS: READ_ONLY,
  EACCES: NOT_ALLOWED,
  EPERM: NOT_ALLOWED,
};

/** By SQLite's primary result code. https://sqlite.org/rescode.html */
const sqliteReasons: Readonly<Record<number, string>> = {
  8: READ_ONLY,
  11: DAMAGED,
  13: FULL,
  26: 'it is not a database. Restore a backup.',
};

/** SQLite's primary result code. Undefined for an error that is not SQLite's. */
export const sqliteCodeOf = (error: unknown): number | undefined =>
  // Extended codes have the primary one in their low byte.
  error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;

/** Why a file, folder or database cannot be used, and the fix if it is known. */
export const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  const known = 'code' in error ? systemReasons[String(error.code)] : undefined;
  return known ?? sqliteReasons[sqliteCodeOf(error) ?? -1] ?? error.message;
};
