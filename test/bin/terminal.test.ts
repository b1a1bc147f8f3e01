import { spawn, spawnSync } from 'node:child_process';
import { existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { toEnding } from '../../bin/exit.ts';

const program = join(import.meta.dirname, '../../bin/cli.ts');
const env = { PATH: process.env.PATH ?? '' };

test.skipIf(!existsSync('/dev/full'))('OPS-5 what cannot be written is told in one line, and ends with 1', () => {
  const stdout = openSync('/dev/full', 'w');
  const { status, stderr } = spawnSync(process.execPath, [program, 'catalog', 'check'], {
    env,
    stdio: ['ignore', stdout, 'pipe'],
  });
  expect(status).toBe(1);
  expect(stderr.toString()).toMatch(/^What there is to tell cannot be written to stdout: .*ENOSPC.*\n$/m);
  expect(stderr.toString()).not.toMatch(/^ +at /m);
});

test('OPS-5 a reader who leaves has what was wanted: 0, and nothing on stderr', async () => {
  const child = spawn(process.execPath, [program, 'catalog', 'check', '--json'], { env });
  child.stdout.destroy();
  const [stderr, status] = await Promise.all([
    text(child.stderr),
    new Promise((resolve) => child.once('close', resolve)),
  ]);
  expect([status, stderr]).toEqual([0, '']);
});

test('OPS-5 a bug ends with 1 and its first words', () => {
  expect(toEnding(new TypeError('nothing is here'))).toEqual({ exitCode: 1, message: 'nothing is here' });
});
