import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, openSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';

const program = join(import.meta.dirname, '../../bin/cli.ts');
const folder = mkdtempSync(join(tmpdir(), 'gateway-terminal-'));
const env = { PATH: process.env.PATH ?? '' };

test.skipIf(!existsSync('/dev/full'))(
  'OPS-5 output that cannot be written is reported in one line with exit code 1',
  () => {
    const stdout = openSync('/dev/full', 'w');
    const { status, stderr } = spawnSync(process.execPath, [program, 'catalog', 'check'], {
      env,
      stdio: ['ignore', stdout, 'pipe'],
    });
    expect(status).toBe(1);
    expect(stderr.toString()).toMatch(/^stdout: cannot be written: .*ENOSPC.*\n$/m);
    expect(stderr.toString()).not.toMatch(/^ +at /m);
  },
);

/** Runs the program with a closed stdout. Returns its exit code and stderr. */
const unread = async (...args: string[]) => {
  const child = spawn(process.execPath, [program, ...args], { env: { ...env, DATA_DIR: folder } });
  child.stdout.destroy();
  const [stderr, status] = await Promise.all([
    text(child.stderr),
    new Promise((resolve) => child.once('close', resolve)),
  ]);
  return { status, stderr };
};

test('OPS-5 a reader of stdout that leaves early does not change exit code 0 or stderr', async () => {
  expect(await unread('catalog', 'check', '--json')).toEqual({ status: 0, stderr: '' });
  expect(await unread('catalog', '--help')).toEqual({ status: 0, stderr: '' });
});

test('OPS-5 the exit code reports a negative result even if stdout is closed', async () => {
  for (const [name, rows] of Object.entries({
    'providers.json': { providers: [] },
    'openai.json': { models: [{ id: 'x' }] },
  }))
    writeFileSync(join(folder, name), JSON.stringify(rows));
  expect(await unread('catalog', 'check', '--folder', folder)).toMatchObject({ status: 1 });
  expect(await unread('doctor')).toMatchObject({ status: 1 });
});
