import { expect, test } from 'vitest';
import { runDeployment } from '../../bin/deploy/run-deployment.ts';
import { scriptedTerminal } from '../support/scripted-terminal.ts';

const cdk = ['/nonexistent/cdk'];
const checkDeployed = () => Promise.reject(new Error('checked without a deployment'));

test('a help text that cannot be written prints one line on stderr', async () => {
  const { terminal, written } = scriptedTerminal();
  const print = () => Promise.reject(new Error('no space left'));
  expect(await runDeployment(['--help'], { terminal: { ...terminal, print }, cdk, checkDeployed })).toBe(0);
  expect(written).toMatchObject({ stdout: '', stderr: 'no space left\n' });
});

test.each([
  ['no environment', ''],
  ['an unknown environment', 'production'],
  ['an unknown flag', 'dev --force'],
  ['a profile for the stacks only', 'dev -- --profile x'],
  ['outputs to another file', 'dev -- --outputs-file=x'],
  ['another assembly', 'dev -- --app cdk.out'],
  ['its own rollback triggers', 'dev -- --rollback-trigger-alarm-arns=none'],
  ['a preflight of a dry run', 'dev --dry-run --preflight'],
  ['another environment', 'dev prod'],
  ['stacks of another environment', 'dev -- prod/*'],
  ['one of them after an option without a value', 'dev -- --force prod/edge'],
])('a deployment with %s exits with wrong usage and starts nothing', async (_what, args) => {
  const { terminal, written } = scriptedTerminal();
  expect(await runDeployment(args.split(' '), { terminal, cdk, checkDeployed })).toBe(2);
  expect(written.stderr).not.toContain(cdk[0]);
});
