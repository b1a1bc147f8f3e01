import { readFileSync, realpathSync } from 'node:fs';

/** Network file systems by their Linux names. SQLite's locks and shared memory do not work on them. */
const networkTypes: ReadonlySet<string> = new Set([
  '9p',
  'afs',
  'ceph',
  'cifs',
  'fuse.ceph',
  'fuse.gcsfuse',
  'fuse.glusterfs',
  'fuse.rclone',
  'fuse.s3fs',
  'fuse.sshfs',
  'glusterfs',
  'lustre',
  'nfs',
  'nfs4',
  'smb3',
  'smbfs',
]);

/**
 * Returns the type of the network file system that holds a folder, such as `nfs4`. Undefined for a local disk, and on
 * systems without /proc. Never throws.
 */
export const networkFileSystemOf = (folder: string): string | undefined => {
  try {
    const type = fileSystemAt(readFileSync('/proc/self/mountinfo', 'utf8'), realpathSync(folder));
    return type !== undefined && networkTypes.has(type) ? type : undefined;
  } catch {
    return undefined;
  }
};

/**
 * Type of the file system at an absolute path without symbolic links. Format of a line:
 * `36 35 98:0 /root /mount/point rw,noatime shared:1 - ext4 /dev/sda1 rw`, with any number of fields before the hyphen.
 * https://man7.org/linux/man-pages/man5/proc_pid_mountinfo.5.html
 */
export const fileSystemAt = (mountinfo: string, path: string): string | undefined => {
  let found: { readonly length: number; readonly type: string } | undefined;
  for (const line of mountinfo.split('\n')) {
    const [before = '', after = ''] = line.split(' - ');
    const mountPoint = unescapeOctal(before.split(' ')[4] ?? '');
    const [type = ''] = after.split(' ');
    if (type === '' || !isInside(mountPoint, path)) continue;
    // A later mount on the same point hides the earlier one.
    if (!found || mountPoint.length >= found.length) found = { length: mountPoint.length, type };
  }
  return found?.type;
};

const isInside = (mountPoint: string, path: string): boolean =>
  mountPoint === '/' || path === mountPoint || path.startsWith(`${mountPoint}/`);

/** Spaces are `\040` in mount points. */
const unescapeOctal = (text: string): string =>
  text.replaceAll(/\\([0-7]{3})/g, (_match, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
