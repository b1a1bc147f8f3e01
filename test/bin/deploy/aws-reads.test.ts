import { expect, test } from 'vitest';
import { assumeRole, isDenied, missingTypes, readParameter, readQuota } from '../../../bin/deploy/aws-reads.ts';
import { scriptAws } from '../../support/scripted-account.ts';

const region = 'us-east-1';

test('OPS-12 a missing parameter is undefined, and a denied one is an error', async () => {
  await scriptAws({ parameters: { there: '1' } });
  expect(await readParameter('there', { region })).toBe('1');
  expect(await readParameter('none', { region })).toBeUndefined();
  await scriptAws({ assumesOnly: true });
  const error: unknown = await readParameter('there', { region }).catch((thrown: unknown) => thrown);
  expect(isDenied(error)).toBe(true);
});

test('OPS-12 an assumed role has credentials of its own, which calls use', async () => {
  const aws = await scriptAws({ assumesOnly: true });
  const credentials = await assumeRole('arn:role', region);
  expect(await readParameter('/cdk-bootstrap/acme/version', { region, credentials })).toBe('33');
  expect(aws.calls).toEqual(['AssumeRole arn:role', 'GetParameter /cdk-bootstrap/acme/version']);
});

test('OPS-12 only an unknown resource type counts as missing', async () => {
  await scriptAws({ missingTypes: ['AWS::A::B'] });
  expect(await missingTypes(['AWS::A::B', 'AWS::C::D'], { region })).toEqual(['AWS::A::B']);
  await scriptAws({ deniedCalls: ['DescribeType'] });
  await expect(missingTypes(['AWS::A::B'], { region })).rejects.toThrow('not allowed');
});

test('OPS-12 a quota without an applied value has the default of AWS', async () => {
  await scriptAws({ quotas: { known: 7 } });
  expect(await readQuota({ service: 'lambda', code: 'known' }, { region })).toBe(7);
  expect(await readQuota({ service: 'lambda', code: 'other' }, { region })).toBe(120);
});
