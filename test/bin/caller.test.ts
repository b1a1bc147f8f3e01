import { expect, test, vi } from 'vitest';
import { readAllowedCaller } from '../../bin/caller.ts';
import { CliError } from '../../bin/exit.ts';
import { environments } from '../../lib/environments.ts';
import { ACCOUNT, scriptAws, withoutCredentials } from '../support/scripted-account.ts';

const read = async (account: string | undefined, profile?: string) => {
  const environment = { ...environments.prod, account };
  const spy = vi.spyOn(environments, 'prod', 'get').mockReturnValue(environment);
  try {
    return await readAllowedCaller('prod', profile);
  } catch (error) {
    return error instanceof CliError ? [error.exitCode, error.message] : error;
  } finally {
    spy.mockRestore();
  }
};

test.each([ACCOUNT, 'any'])('OPS-12 credentials of the account are accepted: %s', async (account) => {
  const aws = await scriptAws({});
  expect(await read(account)).toEqual({ account: ACCOUNT, arn: `arn:aws:iam::${ACCOUNT}:user/operator` });
  expect(aws.calls).toEqual(['GetCallerIdentity']);
});

test('OPS-12 credentials of another account exit with 2 and one line that names both accounts', async () => {
  await scriptAws({});
  expect(await read('210987654321')).toEqual([
    2,
    `environments.prod.account: is 210987654321, but the AWS credentials are for ${ACCOUNT}. Set AWS_PROFILE, or correct the account in gateway.config.ts.`,
  ]);
});

test('OPS-12 an environment without an account is rejected before any call', async () => {
  const aws = await scriptAws({});
  expect(await read(undefined)).toEqual([
    2,
    "environments.prod.account: not set. Set the number of its AWS account in gateway.config.ts, or 'any' to accept every account.",
  ]);
  expect(aws.calls).toEqual([]);
});

test('OPS-12 missing credentials and a region that rejects them have different fixes', async () => {
  withoutCredentials();
  expect(await read('any', 'work')).toEqual([
    1,
    expect.stringMatching(/^AWS credentials: not found \(.*\)\. Log in to the profile work that AWS_PROFILE names\.$/),
  ]);
  await scriptAws({ deniedCalls: ['GetCallerIdentity'] });
  expect(await read('any')).toEqual([
    1,
    'AWS credentials: not accepted in us-east-1 (not allowed). Log in, and set AWS_PROFILE, or check that the region exists and is enabled in the account.',
  ]);
});
