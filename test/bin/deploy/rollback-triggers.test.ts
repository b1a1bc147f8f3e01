import { expect, onTestFinished, test, vi } from 'vitest';
import { readRollbackOptions } from '../../../bin/deploy/rollback-triggers.ts';
import { environments } from '../../../lib/environments.ts';
import { ACCOUNT, scriptAws } from '../../support/scripted-account.ts';
import type { AwsScript } from '../../support/scripted-aws.ts';
import { scriptedTerminal } from '../../support/scripted-terminal.ts';
import { assemblyOf, roleArn } from '../fake-assembly.ts';

const caller = { account: ACCOUNT, arn: `arn:aws:iam::${ACCOUNT}:user/operator` };
const STACK = 'gateway-dev-operations';
const stacks = assemblyOf([{ name: STACK, region: 'us-east-1', resources: [] }]);
const alarms = ['audit-difference', 'settle-failures', 'orphaned-holds'].map((id) => `gateway-dev-${id}`);
const none = { functions: undefined, all: ['--rollback-trigger-alarm-arns=none'] };

const read = async (script: Partial<AwsScript>, rollbackMinutes?: number, ignoresAlarms = false) => {
  vi.spyOn(environments, 'dev', 'get').mockReturnValue({ ...environments.dev, rollbackMinutes });
  onTestFinished(() => void vi.restoreAllMocks());
  const aws = await scriptAws(script);
  const { terminal, written } = scriptedTerminal();
  const options = await readRollbackOptions(stacks, 'dev', caller, terminal, ignoresAlarms);
  return { options, calls: aws.calls, stderr: written.stderr };
};

test('OPS-17 CloudFormation watches the deployed money alarms while the functions change', async () => {
  const { options, calls } = await read({ assumesOnly: true, alarms: { [STACK]: [...alarms, 'other'] } }, 10);
  expect(options).toEqual({
    functions: [
      ...alarms.map((name) => `--rollback-trigger-alarm-arns=arn:aws:cloudwatch:us-east-1:${ACCOUNT}:alarm:${name}`),
      '--monitoring-time-minutes=10',
    ],
    all: [],
  });
  expect(calls).toEqual([`AssumeRole ${roleArn(ACCOUNT, 'deploy')}`, 'GetTemplate']);
});

test.each([
  ['before the first deployment', {}],
  ['while one of the alarms is missing', { [STACK]: alarms.slice(1) }],
])('OPS-17 CloudFormation watches no alarm %s', async (_when, deployed) => {
  const { options, stderr } = await read({ alarms: deployed }, 0);
  expect([options, stderr]).toEqual([none, expect.stringContaining('does not exist yet')]);
});

test('OPS-17 without rollbackMinutes, and with --ignore-alarms, earlier triggers are removed', async () => {
  for (const [minutes, ignores] of [
    [undefined, false],
    [10, true],
  ] as const) {
    const { options, calls } = await read({ alarms: { [STACK]: alarms } }, minutes, ignores);
    expect([options, calls]).toEqual([none, []]);
  }
});

test('OPS-17 triggers stay as they are if the alarms cannot be read', async () => {
  const { options, stderr } = await read({ deniedCalls: ['GetTemplate'] }, 10);
  expect([options, stderr]).toEqual([{ functions: undefined, all: [] }, expect.stringContaining('not allowed')]);
});
