import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { HELP, readArguments } from '../../bin/start-arguments.ts';
import { SettingsError } from '../../lambdas/settings.ts';

test.for([
  [[], { reset: false, help: false }],
  [['--reset', '--store', 'dynamodb'], { reset: true, store: 'dynamodb', help: false }],
  [['--help'], { reset: false, help: true }],
  [['-h'], { reset: false, help: true }],
] as const)('OPS-6 the options %j are read as %j', ([args, values]) => {
  expect({ ...readArguments(args) }).toEqual(values);
});

test.for(['--port', '--port=1', 'start', '--store'])('OPS-6 %s is rejected with the known options', (word) => {
  const refused = () => readArguments([word]);
  expect(refused).toThrow(SettingsError);
  expect(refused).toThrow(/--reset, --store embedded\|dynamodb or --help/);
});

test('OPS-6 the help has every option, and documented variables', () => {
  const root = join(import.meta.dirname, '../..');
  const page = readFileSync(join(root, 'docs/operations/local-settings.md'), 'utf8');
  for (const option of ['--reset', '--store <name>', '-h, --help']) expect(HELP).toContain(`\n  ${option} `);
  for (const [, name] of HELP.matchAll(/^ {2}([A-Z_]+) /gm)) expect(page).toContain(`\`${name}\``);
});
