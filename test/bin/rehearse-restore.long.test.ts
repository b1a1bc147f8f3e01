import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { hasDynamodb } from '../support/dynamodb.ts';

const root = join(import.meta.dirname, '../..');

const steps = [
  ...['load', 'running request', 'export, the restore point', 'load after the restore point', 'outbox', 'failure'],
  ...['maintenance on', 'new requests', 'running requests', 'workers'],
  ...['restore into new tables', 'audit of the new tables', 'replay of the outbox'],
  ...['switch to the new tables', 'workers continue', 'maintenance off', 'first request'],
  ...['load on the new tables', 'balance'],
];

test.runIf(hasDynamodb)('OPS-16 a rehearsed restore loses only charges after the restore point', async () => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['bin/rehearse-restore.ts'], { cwd: root });
  expect(stderr).toBe('');
  const lines = stdout.split('\n').map((line) => /^ *[\d.]+ s +[\d.]+ s {2}([^:]+):/.exec(line)?.[1]);
  expect(lines.filter((name) => name !== undefined)).toEqual(steps);
  expect(stdout).toContain('1 replayed');
  expect(stdout).toContain('exactly the credit minus the charges that were kept');
  expect(stdout).toMatch(/Lost: 201 charges of 0\.\d+ USD/);
});
