import { onTestFinished, vi } from 'vitest';
import { type AwsScript, startScriptedAws } from './scripted-aws.ts';

export const ACCOUNT = '123456789012';

/** Runs AWS by a script until the end of the test, and makes the SDK in this process use it. */
export const scriptAws = async (script: Partial<AwsScript>) => {
  const aws = await startScriptedAws({
    stacks: {},
    secrets: {},
    parameters: { '/cdk-bootstrap/acme/version': '33' },
    account: ACCOUNT,
    ...script,
  });
  withoutCredentials();
  const variables = {
    AWS_ACCESS_KEY_ID: 'AKIACALLER',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_ENDPOINT_URL: aws.url,
    AWS_MAX_ATTEMPTS: '1',
  };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  onTestFinished(() => aws.stop());
  return aws;
};

/** Hides all credentials of the machine from the SDK until the end of the test. */
export const withoutCredentials = (): void => {
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'AWS_PROFILE'])
    vi.stubEnv(name, undefined);
  vi.stubEnv('AWS_CONFIG_FILE', '/dev/null');
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', '/dev/null');
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
  onTestFinished(() => void vi.unstubAllEnvs());
};
