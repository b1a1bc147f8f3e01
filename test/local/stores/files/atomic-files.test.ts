import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { processIdentity } from '../../../../local/process-identity.ts';
import { AtomicFiles, type AtomicFilesOptions, type FileSync } from '../../../../local/stores/files/atomic-files.ts';

let folder: string;
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'atomic-')), 'files');
});

const noSync: FileSync = { file: async () => undefined, folder: async () => undefined };
const open = (options: Partial<AtomicFilesOptions> = {}) => AtomicFiles.open({ folder, sync: noSync, ...options });
const errorWith = (code: string) => Object.assign(new Error(`${code}: injected`), { code });
const textOf = async (files: AtomicFiles, name: string) => (await files.read(name))?.toString();

test('a reader sees the earlier file until the later one is completely on the disk', async () => {
  await (await open()).put('one', Buffer.from('earlier'));
  const gates = { file: Promise.withResolvers<void>(), folder: Promise.withResolvers<void>() };
  const reached = { file: Promise.withResolvers<string>(), folder: Promise.withResolvers<string>() };
  const sync: FileSync = {
    file: (_handle, path) => {
      reached.file.resolve(path);
      return gates.file.promise;
    },
    folder: (path) => {
      if (path !== folder) return Promise.resolve();
      reached.folder.resolve(path);
      return gates.folder.promise;
    },
  };
  const files = await open({ sync });
  let isPut = false;
  const putting = files.put('one', Buffer.from('later')).then(() => {
    isPut = true;
  });
  const synced = await Promise.race([reached.file.promise, reached.folder.promise, putting]);
  expect(statSync(synced ?? '').size, 'bytes at the sync of the file').toBe(5);
  expect(await textOf(files, 'one')).toBe('earlier');
  expect(await files.names()).toEqual(['one']);
  gates.file.resolve();
  await Promise.race([reached.folder.promise, putting]);
  expect(await textOf(files, 'one')).toBe('later');
  expect(isPut, 'a put resolves before the sync of its folder').toBe(false);
  gates.folder.resolve();
  await putting;
});

test('a put or remove whose sync fails is unavailable, and leaves no draft', async () => {
  await (await open()).put('one', Buffer.from('earlier'));
  const fail = async () => Promise.reject(errorWith('EIO'));
  const files = await open({ sync: { ...noSync, file: fail } });
  await expect(files.put('one', Buffer.from('later'))).rejects.toMatchObject({ kind: 'unavailable' });
  expect(await textOf(files, 'one')).toBe('earlier');
  // The rename has happened, so even an error from a full disk leaves the outcome unknown.
  const full = async (path: string) => (path === folder ? Promise.reject(errorWith('ENOSPC')) : undefined);
  const late = await open({ sync: { ...noSync, folder: full }, onFull: () => expect.unreachable() });
  await expect(late.put('two', Buffer.from('late'))).rejects.toMatchObject({ kind: 'unavailable' });
  await expect(late.remove('one')).rejects.toMatchObject({ kind: 'unavailable' });
  expect(readdirSync(folder)).toEqual(['two']);
});

test.each(['ENOSPC', 'EDQUOT'])('a put that fails with %s is retried once if space was freed', async (code) => {
  let failures = 1;
  let freed = 0;
  const file = async () => {
    failures -= 1;
    if (failures >= 0) throw errorWith(code);
  };
  let frees = true;
  const onFull = () => {
    freed += 1;
    return frees;
  };
  const files = await open({ sync: { ...noSync, file }, onFull });
  await files.put('one', Buffer.from('text'));
  expect([await textOf(files, 'one'), freed]).toEqual(['text', 1]);
  failures = 2;
  await expect(files.put('two', Buffer.from('text'))).rejects.toMatchObject({ kind: 'conflict' });
  expect([failures, freed], 'one retry only').toEqual([0, 2]);
  [failures, frees] = [1, false];
  await expect(files.put('two', Buffer.from('text'))).rejects.toMatchObject({ kind: 'conflict' });
  expect([readdirSync(folder), freed]).toEqual([['one'], 3]);
});

test('an open removes only the drafts of processes that have ended', async () => {
  await open();
  const { pid } = spawnSync(process.execPath, ['--version']);
  const own = processIdentity(process.pid);
  const inAnotherContainer = process.platform === 'linux' ? [`.${own}1.draft`] : [];
  const kept = [`.${own}.draft`, '.keep', 'one', ...inAnotherContainer];
  const stale = [`.${pid}.draft`, `.${pid}@boot+1.draft`];
  for (const name of [...kept, ...stale]) writeFileSync(join(folder, name), '');
  const files = await open();
  expect(readdirSync(folder).sort()).toEqual(kept.sort());
  expect(await files.names()).toEqual(['one']);
});

test.skipIf(process.platform === 'win32')('only the owner can read the files and their folder', async () => {
  const files = await open();
  await files.put('one', Buffer.from('secret'));
  expect([folder, join(folder, 'one')].map((path) => (statSync(path).mode & 0o777).toString(8))).toEqual([
    '700',
    '600',
  ]);
});
