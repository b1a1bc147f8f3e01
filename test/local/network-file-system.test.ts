import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fileSystemAt, networkFileSystemOf } from '../../local/network-file-system.ts';

const MOUNTINFO = `21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
22 21 0:20 / /proc rw,nosuid - proc proc rw
30 21 0:45 / /srv rw,relatime shared:20 master:3 - nfs4 nas:/export/srv rw,vers=4.2
31 30 8:17 / /srv/fast rw,relatime - xfs /dev/sdb1 rw
32 21 0:46 / /mnt/my\\040share rw - cifs //nas/share rw
33 21 0:47 / /home/me/remote rw - fuse.sshfs me@host:/ rw
34 21 8:33 / /data rw - ext4 /dev/sdc1 rw
35 21 0:48 / /data rw - nfs nas:/data rw
`;

test.each([
  ['/', 'ext4'],
  ['/var/lib/gateway', 'ext4'],
  ['/srv', 'nfs4'],
  ['/srv/gateway', 'nfs4'],
  ['/srv/fast/gateway', 'xfs'],
  ['/srv/faster', 'nfs4'],
  ['/srvice', 'ext4'],
  ['/mnt/my share/gateway', 'cifs'],
  ['/home/me/remote/x', 'fuse.sshfs'],
  ['/data/gateway', 'nfs'],
])('OPS-7 the file system at %s is %s', (path, type) => {
  expect(fileSystemAt(MOUNTINFO, path)).toBe(type);
});

test('text that is not a list of mounts has no file system', () => {
  expect(fileSystemAt('', '/')).toBeUndefined();
  expect(fileSystemAt('no mounts here - \n21 1 8:1 / /', '/')).toBeUndefined();
});

test('a folder that does not exist has an unknown file system', () => {
  expect(networkFileSystemOf(join(tmpdir(), 'does', 'not', 'exist'))).toBeUndefined();
});
