import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Mount {
  /** Folder where the file system is mounted. */
  readonly path: string;
  /** A second call has no effect. */
  unmount(): void;
}

const MIB = 1024 * 1024;

const run = (program: string, ...args: readonly string[]): void => {
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
};

const newFolder = (): string => mkdtempSync(join(tmpdir(), 'mount-'));

/** Also unmounts at the end of the process. Lazy, because a program of a failed test may still use the file system. */
const mountAt = (path: string, ...args: readonly string[]): Mount => {
  run('mount', ...args, path);
  let isMounted = true;
  const unmount = (): void => {
    if (!isMounted) return;
    isMounted = false;
    process.off('exit', unmount);
    run('umount', '--lazy', path);
  };
  process.once('exit', unmount);
  return { path, unmount };
};

/** Mounts a disk in memory with this size. */
export const mountMemory = (mebibytes: number): Mount =>
  mountAt(newFolder(), '-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=700`, 'tmpfs');

/** Makes a file or folder read-only, also for root, until `unmount`. */
export const mountReadOnly = (path: string): Mount => {
  const mount = mountAt(path, '--bind', path);
  try {
    run('mount', '-o', 'remount,ro,bind', path);
    return mount;
  } catch (error) {
    mount.unmount();
    throw error;
  }
};

export interface ImageMount extends Mount {
  /** Makes the disk read-only, also for open files, as after a disk error. */
  fail(): void;
  /** Mounts the disk again after `fail`. Fails while a program uses the disk. */
  remount(): void;
}

/** Mounts an ext4 disk from a file. */
export const mountImage = (mebibytes: number): ImageMount => {
  const folder = newFolder();
  const image = join(folder, 'image');
  const path = join(folder, 'disk');
  mkdirSync(path);
  writeFileSync(image, '');
  truncateSync(image, mebibytes * MIB);
  run('mkfs.ext4', '-q', '-F', image);
  const mount = mountAt(path, '-o', 'loop', image);
  return {
    ...mount,
    fail: () => run('mount', '-o', 'remount,abort', path),
    remount: () => {
      run('umount', path);
      run('mount', '-o', 'loop', image, path);
    },
  };
};

const works = (mount: () => Mount): boolean => {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  try {
    mount().unmount();
    return true;
  } catch {
    return false;
  }
};

/** Whether this process can mount disks in memory and read-only folders. Requires root on Linux. */
export const canMount = works(() => mountMemory(1));
/** Whether this process can mount a disk from a file. Also requires a loop device and mkfs.ext4. */
export const canMountImages = works(() => mountImage(8));

/** Prints a line for a suite that this machine skips. */
export const printSkip = (what: string): void => {
  process.stdout.write(`Skips ${what}: mounting a disk needs root on Linux.\n`);
};
