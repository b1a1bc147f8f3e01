import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Makes the names of the files in a folder durable. Windows has no such call. Throws the system's error. */
export const syncFolder = (folder: string): void => {
  if (process.platform === 'win32') return;
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
};
