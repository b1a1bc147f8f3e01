import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { pythonProgram } from '../support/python-program.ts';
import { writeTemplates } from './write-templates.ts';

// `npm run lint:templates`. cfn-lint compares templates with AWS's schemas of resources, independently of CDK.

/** 1.51.0 does not know Web Functions (E3006) and tags of dashboards (E3002). This release does. */
const VERSION_MIN = [1, 58] as const;

const cfnLint = pythonProgram('cfn-lint');
const versionText = cfnLint === undefined ? '' : spawnSync(cfnLint, ['--version'], { encoding: 'utf8' }).stdout;
const [major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(versionText) ?? []).slice(1).map(Number);
const isUsable = major > VERSION_MIN[0] || (major === VERSION_MIN[0] && minor >= VERSION_MIN[1]);
const missing = cfnLint === undefined ? 'cfn-lint is not installed' : `cfn-lint ${major}.${minor} is too old`;

const findings = z.array(
  z.looseObject({ Rule: z.looseObject({ Id: z.string() }), Message: z.string(), Filename: z.string() }),
);

/** Returns the errors in the files, without warnings. */
const errorsIn = (files: readonly string[]) =>
  new Promise<readonly string[]>((resolve, reject) => {
    // Warnings are about redundant DependsOn, which CDK writes.
    const options = ['--format', 'json', '--ignore-checks', 'W', '--non-zero-exit-code', 'none'];
    execFile(cfnLint ?? '', [...options, '--template', ...files], { maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      if (error) reject(new Error(`${error.message}\n${stderr}`));
      else
        resolve(
          findings.parse(JSON.parse(stdout)).map(({ Rule, Message, Filename }) => `${Filename}: ${Rule.Id} ${Message}`),
        );
    });
  });

describe.skipIf(!isUsable)(isUsable ? 'cfn-lint' : `skipped: ${missing}`, () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'gateway-lint-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('OPS-1 cfn-lint finds no error in any environment, front door, bootstrap and variant', async () => {
    const { synthesized, files } = writeTemplates(folder);
    expect(synthesized).toBeGreaterThan(100);
    // Two processes, because the machine of the long tier has two cores.
    const half = Math.ceil(files.length / 2);
    const found = await Promise.all([errorsIn(files.slice(0, half)), errorsIn(files.slice(half))]);
    expect(found.flat()).toEqual([]);
  });

  test.each([
    ['AWS::Lambda::WebFunction', { Colour: 'red' }],
    ['AWS::CloudWatch::Dashboard', { DashboardBody: '{}', Colour: 'red' }],
    ['AWS::DynamoDB::GlobalTable', { Replicas: [{ Region: 'us-east-1', Colour: 'red' }] }],
  ])('cfn-lint rejects an unknown property of %s', async (Type, Properties) => {
    const path = join(folder, 'wrong.json');
    writeFileSync(path, JSON.stringify({ Resources: { one: { Type, Properties } } }));
    expect((await errorsIn([path])).join()).toContain("Additional properties are not allowed ('Colour'");
  });
});
