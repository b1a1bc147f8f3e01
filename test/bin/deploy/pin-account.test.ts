import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pinAccount } from '../../../bin/deploy/pin-account.ts';
import { readAssembly } from '../../../bin/deploy/read-assembly.ts';
import { ACCOUNT } from '../../support/scripted-account.ts';
import { type FakeStack, roleArn, writeAssembly } from '../fake-assembly.ts';

const resources: FakeStack['resources'] = [
  { Type: 'AWS::S3::Bucket', Properties: { BucketName: { 'Fn::Sub': `x-\${AWS::AccountId}` } } },
];
const stacks = ['us-east-1', 'eu-west-1'].map((region) => ({ name: `gateway-${region}`, region, resources }));

const newAssembly = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'pinned-'));
  writeAssembly(folder, stacks);
  return folder;
};

const filesOf = (folder: string): Readonly<Record<string, string>> =>
  Object.fromEntries(readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')]));

const environmentsOf = (folder: string): readonly string[] =>
  readFileSync(join(folder, 'manifest.json'), 'utf8').match(/aws:\/\/[^"]+/g) ?? [];

test('OPS-12 every stack, role and asset of a pinned assembly names the checked account', () => {
  const folder = newAssembly();
  const before = filesOf(folder);
  pinAccount(folder, ACCOUNT);
  const after = filesOf(folder);
  expect(environmentsOf(folder)).toEqual([`aws://${ACCOUNT}/us-east-1`, `aws://${ACCOUNT}/eu-west-1`]);
  const filled = (arn: string): string => arn.replace('arn:aws:', `arn:\${AWS::Partition}:`);
  expect(readAssembly(folder)[0]).toMatchObject({
    deployRole: filled(roleArn(ACCOUNT, 'deploy')),
    lookupRole: filled(roleArn(ACCOUNT, 'lookup')),
    assetBuckets: [
      { bucket: `cdk-acme-assets-${ACCOUNT}-us-east-1`, role: filled(roleArn(ACCOUNT, 'file-publishing')) },
    ],
  });
  for (const [file, content] of Object.entries(after)) {
    if (file.endsWith('.template.json')) expect(content).toBe(before[file]);
    else expect(content).not.toMatch(/unknown-account|AWS::AccountId/);
  }
  pinAccount(folder, ACCOUNT);
  expect(filesOf(folder)).toEqual(after);
});

test('OPS-12 nested assemblies are pinned too', () => {
  const folder = newAssembly();
  const nested = join(folder, 'assembly-dev');
  writeAssembly(nested, stacks);
  const stage = { type: 'cdk:cloud-assembly', properties: { directoryName: 'assembly-dev' } };
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ artifacts: { stage } }));
  pinAccount(folder, ACCOUNT);
  expect(environmentsOf(nested)).toEqual([`aws://${ACCOUNT}/us-east-1`, `aws://${ACCOUNT}/eu-west-1`]);
});

test('OPS-12 a stack for another account is rejected', () => {
  const folder = newAssembly();
  pinAccount(folder, '210987654321');
  expect(() => pinAccount(folder, ACCOUNT)).toThrow(
    `gateway-us-east-1: is for aws://210987654321/us-east-1, but the checked AWS account is ${ACCOUNT}. Remove the account from its env.`,
  );
});
