import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { referencePath } from '../support/reference-document.ts';

const root = join(import.meta.dirname, '../..');
const report = z.object({
  totals: z.object({ errors: z.int(), warnings: z.int(), ignored: z.int() }),
  problems: z.array(z.unknown()),
});

/** Turns off telemetry and the check for a newer version. */
const offline = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', CI: 'true' };

test('REF-1 the description is valid OpenAPI 3.1, without a warning', async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      join(root, 'node_modules/@redocly/cli/bin/cli.js'),
      'lint',
      referencePath,
      '--config',
      join(root, 'redocly.yaml'),
      '--format=json',
      '--max-problems=20',
    ],
    { cwd: root, env: { ...process.env, ...offline } },
  );
  const { totals, problems } = report.parse(JSON.parse(stdout));
  expect(problems).toEqual([]);
  expect(totals).toEqual({ errors: 0, warnings: 0, ignored: 0 });
}, 60_000);
