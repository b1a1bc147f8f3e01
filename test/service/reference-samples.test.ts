import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { DRY_RUN_TYPE } from '../../lambdas/protocols/paid-response.ts';
import { routes } from '../../lambdas/routes.ts';
import { recordedFile } from '../../reference/to-operation.ts';
import { toRecord } from './reference-record.ts';
import { type RouteSample, samplesIn, startSampleRunner } from './reference-samples.ts';

const runner = await startSampleRunner();
afterAll(() => runner.stop());

const hasShell = existsSync('/bin/bash') && existsSync('/usr/bin/curl');
if (!hasShell) console.log('bash or curl is not installed. The curl samples of the reference are skipped.');

const titled = (samples: readonly RouteSample[]) =>
  samples.map((sample) => [`${sample.name} (${sample.label})`, sample] as const);

/** Stops at an error, and uses the clock of the gateway. */
const shellStart = `set -eu
curl() { command curl -sS --fail-with-body "$@"; }
date() { echo ${Math.floor(runner.nowMs / 1_000)}; }
`;

const inShell = async (source: string): Promise<string> => {
  const { status, output, errors } = await runner.run('/bin/bash', ['-c', `${shellStart}${source}`]);
  expect(status, `${source}\n${output}\n${errors}`).toBe(0);
  return output.toString();
};

// `vitest -u` writes the records, and `npm run reference` the document.
test.skipIf(!hasShell).each(titled(samplesIn('shell')))(
  'REF-5 the sample %s succeeds in bash and receives the documented response',
  async (_title, sample) => {
    const { accepts, name } = sample;
    const record = toRecord(accepts, await inShell(await runner.prepare(sample)));
    if (record !== undefined && name !== 'getReferenceFile')
      await expect(record).toMatchFileSnapshot(recordedFile(name, '200', accepts));
  },
);

const dryRuns = samplesIn('shell').filter(
  ({ name, accepts, label }) => label === 'curl' && routes[name].billed && accepts === 'application/json',
);

test.skipIf(!hasShell).each(titled(dryRuns))(
  'REF-5 BILL-16 a dry run of %s receives the documented response',
  async (_title, sample) => {
    const source = (await runner.prepare(sample)).replace('curl ', "curl -H 'x-service-dry-run: true' ");
    const record = toRecord(DRY_RUN_TYPE, await inShell(source));
    await expect(record).toMatchFileSnapshot(recordedFile(sample.name, '200', DRY_RUN_TYPE));
  },
);

test('REF-5 every JavaScript sample succeeds', async () => {
  const samples = samplesIn('javascript');
  const files: string[] = [];
  for (const sample of samples) {
    const file = `${sample.name}${sample.label.replaceAll(/\W/g, '')}.mjs`;
    writeFileSync(join(runner.folder, file), await runner.prepare(sample));
    files.push(`./${file}`);
  }
  // One process for all: a start of Node with an SDK takes most of a second.
  const all = `
    Date.now = () => ${runner.nowMs};
    for (const file of process.argv.slice(2)) {
      try { await import(file); process.stdout.write('\\n'); }
      catch (error) { console.error(file, error); process.exitCode = 1; }
    }`;
  writeFileSync(join(runner.folder, 'all.mjs'), all);
  const { status, output, errors } = await runner.run(process.execPath, ['all.mjs', ...files]);
  expect({ status, errors }).toEqual({ status: 0, errors: '' });
  expect(output.toString()).toContain('This is a simulated answer');
}, 120_000);

const python = process.env.PYTHON ?? 'python3';
const hasPython = spawnSync(python, ['--version']).status === 0;
if (!hasPython) console.log('Python is not installed. The syntax of the Python samples is not checked.');

test.skipIf(!hasPython)('REF-5 every Python sample compiles', async () => {
  const files = samplesIn('python').map(({ name, label, source }) => {
    const file = `${name}${label.replaceAll(/\W/g, '')}.py`;
    writeFileSync(join(runner.folder, file), source);
    return file;
  });
  const { status, errors } = await runner.run(python, ['-m', 'py_compile', ...files]);
  expect({ status, errors }).toEqual({ status: 0, errors: '' });
});
