import { expect, test } from 'vitest';
import { preflight } from '../../../bin/deploy/preflight.ts';
import { ACCOUNT, scriptAws } from '../../support/scripted-account.ts';
import type { AwsScript } from '../../support/scripted-aws.ts';
import { scriptedTerminal } from '../../support/scripted-terminal.ts';
import { assemblyOf, roleArn } from '../fake-assembly.ts';

const caller = { account: ACCOUNT, arn: `arn:aws:iam::${ACCOUNT}:user/operator` };
const resources = [{ Type: 'AWS::S3::Bucket' }, { Type: 'AWS::Lambda::WebFunction' }];
const stacks = assemblyOf([{ name: 'gateway-dev-data', region: 'us-east-1', resources }]);

const run = async (script: Partial<AwsScript>, own = stacks) => {
  const aws = await scriptAws(script);
  const { terminal, written } = scriptedTerminal();
  const ending: unknown = await preflight(own, 'dev', caller, terminal).catch((error: unknown) => error);
  return { calls: aws.calls, stderr: written.stderr, problem: ending instanceof Error ? ending.message : undefined };
};

test('OPS-12 the preflight reads with the roles of a deployment and needs no other right', async () => {
  const { calls, problem, stderr } = await run({ assumesOnly: true });
  expect([problem, stderr]).toEqual([undefined, '']);
  expect(calls.toSorted()).toEqual(
    [
      `AssumeRole ${roleArn(ACCOUNT, 'deploy')}`,
      `AssumeRole ${roleArn(ACCOUNT, 'file-publishing')}`,
      'GetParameter /cdk-bootstrap/acme/version',
      'DescribeType AWS::S3::Bucket',
      'DescribeType AWS::Lambda::WebFunction',
    ].toSorted(),
  );
});

const command = `npx cdk bootstrap aws://${ACCOUNT}/us-east-1 --qualifier acme --toolkit-stack-name CDKToolkit-acme`;

test.each<[string, Partial<AwsScript>, string]>([
  [
    'a missing bootstrap',
    { parameters: {}, deniedRoles: ['cdk-acme'] },
    `CDK bootstrap: missing in us-east-1 of account ${ACCOUNT}. Run ${command}.`,
  ],
  [
    'a bootstrap without its version',
    { parameters: {} },
    `CDK bootstrap: missing in us-east-1 of account ${ACCOUNT}. Run ${command}.`,
  ],
  [
    'an old bootstrap',
    { parameters: { '/cdk-bootstrap/acme/version': '7' } },
    `CDK bootstrap: has version 7 in us-east-1, and these stacks need 8. Run ${command}.`,
  ],
  [
    'a missing right',
    { deniedRoles: ['deploy-role'] },
    `Permissions: ${caller.arn} cannot assume ${roleArn(ACCOUNT, 'deploy')} (not allowed). Allow it sts:AssumeRole on that role.`,
  ],
  [
    'a missing right to upload assets',
    { deniedRoles: ['file-publishing'] },
    `Permissions: ${caller.arn} cannot assume ${roleArn(ACCOUNT, 'file-publishing')} (not allowed). Allow it sts:AssumeRole on that role.`,
  ],
  [
    'a role that may be missing',
    { deniedRoles: ['cdk-acme'], assumesOnly: true },
    `Permissions: ${caller.arn} cannot assume ${roleArn(ACCOUNT, 'deploy')} (not allowed). Allow it sts:AssumeRole on that role, or create the role: ${command}.`,
  ],
  [
    'a region without Web Functions',
    { missingTypes: ['AWS::Lambda::WebFunction'] },
    'region: us-east-1 does not offer AWS::Lambda::WebFunction. Choose another region in gateway.config.ts.',
  ],
  [
    'a version that no role may read',
    { deniedCalls: ['GetParameter'] },
    'us-east-1: a check failed (not allowed). Run the same command again.',
  ],
])('OPS-12 the preflight reports %s in one line', async (_what, script, line) => {
  const { problem, stderr } = await run(script);
  expect([problem, stderr]).toEqual([line, '']);
});

test('OPS-12 the preflight reports the problems of every region', async () => {
  const both = assemblyOf([
    { name: 'gateway-dev-data', region: 'eu-central-1', resources },
    { name: 'gateway-dev-global', region: 'us-east-1', resources },
  ]);
  const { problem } = await run({ deniedRoles: ['us-east-1'], missingTypes: ['AWS::S3::Bucket'] }, both);
  expect(problem?.split('\n')).toEqual([
    'region: eu-central-1 does not offer AWS::S3::Bucket. Choose another region in gateway.config.ts.',
    expect.stringMatching(/^Permissions: .*us-east-1/),
  ]);
});

test('OPS-12 a check for which the roles lack permission is reported and stops nothing', async () => {
  const { problem, stderr } = await run({ deniedCalls: ['DescribeType'] });
  expect([problem, stderr]).toEqual([
    undefined,
    'us-east-1: not checked, because a role of CDK may not read it (not allowed).\n',
  ]);
});
