import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const MINUTES_MAX = 9;

/** Every scenario is a line of the output. Clients that cannot be installed here are skipped. */
test('GEN-16 the pinned clients work with the gateway', { timeout: 15 * 60_000 }, (context) => {
  const program = join(import.meta.dirname, '../clients/run.ts');
  const { stdout, stderr } = spawnSync(process.execPath, [program, '--minutes', String(MINUTES_MAX)], {
    encoding: 'utf8',
    maxBuffer: 64 * 1_024 * 1_024,
  });
  const [, passed, failed, skipped] = /^(\d+) passed, (\d+) failed, (\d+) skipped$/m.exec(stdout) ?? [];
  if (passed === '0' && failed === '0') context.skip(`${skipped} scenarios are skipped: ${stdout}`);
  const failures = stdout.split('\n').filter((line) => line.startsWith('FAILED '));
  expect({ failures, failed, stderr }).toEqual({ failures: [], failed: '0', stderr: '' });
});
