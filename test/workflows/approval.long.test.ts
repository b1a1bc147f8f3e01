import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { jobsOf, readWorkflows } from './read-workflows.ts';

const script = jobsOf(readWorkflows()).get('.github/workflows/deploy.yml approval')?.steps.at(-1)?.run ?? '';

/** Runs the script as GitHub does, with a `gh` that prints the rules of each environment or fails without them. */
const runApproval = (rules: Readonly<Record<string, readonly string[]>>) => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-approval-'));
  const cases = Object.entries(rules).map(
    ([name, types]) => `repos/acme/gateway/environments/${name}) printf '%s\\n' ${types.join(' ')};;`,
  );
  writeFileSync(join(folder, 'gh'), `#!/bin/bash\ncase "$2" in\n${cases.join('\n')}\n*) exit 1;;\nesac\n`);
  chmodSync(join(folder, 'gh'), 0o755);
  writeFileSync(join(folder, 'script.sh'), script);
  const env = { PATH: [folder, process.env.PATH].join(delimiter), GITHUB_REPOSITORY: 'acme/gateway' };
  return spawnSync('bash', ['-e', join(folder, 'script.sh')], { env, encoding: 'utf8' });
};

test('OPS-14 a tag is deployed if staging and prod have required reviewers', () => {
  const rules = ['required_reviewers', 'branch_policy'];
  expect(runApproval({ staging: rules, prod: rules }).status).toBe(0);
});

test.each([
  ['prod has other rules only', { staging: ['required_reviewers'], prod: ['branch_policy', 'wait_timer'] }],
  ['prod has no rules', { staging: ['required_reviewers'], prod: [] }],
  ['staging does not exist', { prod: ['required_reviewers'] }],
])('OPS-14 a tag is not deployed if %s', (_reason, rules) => {
  expect(runApproval(rules).status).toBe(1);
});
