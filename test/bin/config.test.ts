import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findConfig, readConfig } from '../../bin/config.ts';
import { environments } from '../../lib/environments.ts';

const root = join(import.meta.dirname, '../..');

/** Writes a `gateway.config.ts` into a folder of its own. Returns both paths. */
const write = (source: string) => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-config-'));
  const path = join(folder, 'gateway.config.ts');
  writeFileSync(path, source);
  return { folder, path };
};

const library = join(root, 'lib/environments.ts');
const valid = `
  import { defaultEnvironments, defineConfig } from ${JSON.stringify(library)};
  export default defineConfig({
    environments: {
      acme: { ...defaultEnvironments.prod, account: '123456789012', region: 'eu-central-1' },
      wrong: { ...defaultEnvironments.dev, region: 'moon' },
    },
  });
`;

test('OPS-18 a file has the only environments, and each is validated when a command uses it', () => {
  const { path } = write(valid);
  const { names, environmentOf } = readConfig(path);
  expect(names).toEqual(['acme', 'wrong']);
  expect(environmentOf('acme')).toEqual({ ...environments.prod, account: '123456789012', region: 'eu-central-1' });
  expect(() => environmentOf('wrong')).toThrow(
    `${path}: environments.wrong.region: must be an AWS region such as eu-central-1`,
  );
});

test.each([
  ['export default 1;', ': has no config. Write: export default defineConfig('],
  ['export const environments = {};', ': has no config. Write: export default defineConfig('],
  ['export default { environments: [] };', ': environments: must be an object. Write: export default'],
  ['export default { environments: {} };', ': environments: has no environment. Write: export default'],
  ['export default { environments: { dev: {} }, stacks: 1 };', ': Unrecognized key: "stacks".'],
  ['export default { environments: { Dev: {} } };', ': environments: the name must start with a letter and have at'],
  ["throw new Error('no luck');", ': cannot be loaded (no luck). Correct the file.'],
])('OPS-18 an invalid file is rejected with its path and the fix: %s', (source, problem) => {
  const { path } = write(source);
  expect(() => readConfig(path)).toThrow(`${path}${problem}`);
});

test('OPS-18 the variable takes precedence over the working directory, and that over the gateway', () => {
  const [own, gateway] = [write(valid), write(valid)];
  const none = mkdtempSync(join(tmpdir(), 'gateway-config-'));
  expect(findConfig('/elsewhere.ts', [own.folder])).toBe('/elsewhere.ts');
  expect(findConfig(undefined, [own.folder, gateway.folder])).toBe(own.path);
  expect(findConfig('', [none, gateway.folder])).toBe(gateway.path);
  expect(findConfig(undefined, [none])).toBeUndefined();
  expect(() => readConfig('/elsewhere.ts')).toThrow('/elsewhere.ts: does not exist. Correct or remove GATEWAY_CONFIG.');
});

/** Runs a program of `bin` in a folder. */
const run = (program: string, args: readonly string[], cwd: string) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'bin', program), ...args], {
    cwd,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, AWS_EC2_METADATA_DISABLED: 'true' },
  });
  return { status, output: stdout + stderr };
};

test.each([
  ['cli.ts', ['accounts', 'list', '--env', 'dev']],
  ['check-deployed.ts', ['dev']],
  ['deploy.ts', ['dev']],
])('OPS-18 %s accepts the environments of the file only', (program, args) => {
  const { folder } = write(valid);
  const { status, output } = run(program, args, folder);
  expect([status, output]).toEqual([2, expect.stringContaining('Allowed choices are acme, wrong.')]);
});

test('OPS-18 a command ends with 2 and one line at an invalid file', () => {
  const { folder, path } = write('export default 1;');
  const { status, output } = run('cli.ts', ['--help'], folder);
  expect(status).toBe(2);
  expect(output).toMatch(new RegExp(`^${path}: has no config\\. .*\n$`));
});
