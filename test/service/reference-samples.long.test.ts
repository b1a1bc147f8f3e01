import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SampleRunner, samplesIn, startSampleRunner } from './reference-samples.ts';

const python = process.env.PYTHON ?? 'python3';
const packages = 'import openai, anthropic, requests; from google import genai';
const hasPackages = spawnSync(python, ['-c', packages]).status === 0;
if (!hasPackages) console.log('The Python SDKs are not installed. The Python samples of the reference are skipped.');

let runner: SampleRunner;
beforeAll(async () => {
  runner = await startSampleRunner();
});
afterAll(() => runner?.stop());

/** Runs every file in one process: the SDKs load for seconds. A signature has the time of the gateway. */
const allOf = (nowSeconds: number): string => `
import contextlib, io, runpy, sys, time, traceback, warnings
warnings.simplefilter("error", DeprecationWarning)
now = time.time
for path in sys.argv[1:]:
    time.time = (lambda: ${nowSeconds}) if "creditAccount" in path else now
    shown = io.StringIO()
    try:
        with contextlib.redirect_stdout(shown):
            runpy.run_path(path)
        if "print(" in open(path).read() and not shown.getvalue().strip():
            raise Exception("prints nothing")
    except Exception:
        print(path, traceback.format_exc(), file=sys.stderr)
    print(shown.getvalue())
`;

test.skipIf(!hasPackages)('REF-5 every Python sample succeeds with its SDK, without a deprecation', async () => {
  const files: string[] = [];
  for (const sample of samplesIn('python')) {
    const file = `${sample.name}${sample.label.replaceAll(/\W/g, '')}.py`;
    writeFileSync(join(runner.folder, file), await runner.prepare(sample));
    files.push(file);
  }
  writeFileSync(join(runner.folder, 'all.py'), allOf(runner.nowMs / 1_000));
  const { status, output, errors } = await runner.run(python, ['all.py', ...files]);
  expect({ status, errors }).toEqual({ status: 0, errors: '' });
  expect(output.toString()).toContain('This is a simulated answer');
});
