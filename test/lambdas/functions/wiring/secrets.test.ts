import {
  GetSecretValueCommand,
  ResourceNotFoundException,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeEach, expect, test } from 'vitest';
import {
  readOriginSecrets,
  readPeppers,
  readProviderKeys,
  readSecret,
} from '../../../../lambdas/functions/wiring/secrets.ts';

const aws = mockClient(SecretsManagerClient);
afterAll(() => aws.restore());
const missing = new ResourceNotFoundException({ message: 'no such stage', $metadata: {} });
const of = (VersionStage: string) => ({ SecretId: 'arn:secret', VersionStage });

beforeEach(() => {
  aws.reset();
});

test('AUTH-9 both values of a secret are requested, and the previous one may be missing', async () => {
  aws.on(GetSecretValueCommand, of('AWSCURRENT')).resolves({ SecretString: 'the-present-origin-secret' });
  aws.on(GetSecretValueCommand, of('AWSPREVIOUS')).rejects(missing);
  const settings = { ORIGIN_SECRET: undefined, ORIGIN_SECRET_SECRET: 'arn:secret' };
  expect(await readOriginSecrets(settings)).toEqual(['the-present-origin-secret']);
  aws.on(GetSecretValueCommand, of('AWSPREVIOUS')).resolves({ SecretString: 'the-origin-secret-before' });
  expect(await readOriginSecrets(settings)).toEqual(['the-present-origin-secret', 'the-origin-secret-before']);
});

test('AUTH-9 a secret that is missing or cannot be read is an Error', async () => {
  aws.on(GetSecretValueCommand).rejects(missing);
  await expect(readSecret('arn:secret')).rejects.toBe(missing);
  const denied = Object.assign(new Error('denied'), { name: 'AccessDeniedException' });
  aws.on(GetSecretValueCommand).rejects(denied);
  await expect(readSecret('arn:secret', 'AWSPREVIOUS')).rejects.toBe(denied);
});

test('AUTH-5 the peppers of a secret are on separate lines', async () => {
  aws.on(GetSecretValueCommand).resolves({ SecretString: 'the newest pepper\nthe pepper before it\n' });
  const peppers = { pepper: 'the newest pepper', olderPeppers: ['the pepper before it'] };
  expect(await readPeppers({ KEY_PEPPER_SECRET: 'arn:secret' })).toEqual(peppers);
  expect(await readPeppers({ KEY_PEPPER: 'the newest pepper\nthe pepper before it' })).toEqual(peppers);
  await expect(readPeppers({})).rejects.toThrow('KEY_PEPPER_SECRET');
});

test('ERR-5 a secret that is not JSON is not quoted', async () => {
  aws.on(GetSecretValueCommand).resolves({ SecretString: 'sk-canary' });
  const reading = readProviderKeys({ PROVIDER_KEYS_SECRET: 'arn:secret' }, {});
  await expect(reading).rejects.toThrow('PROVIDER_KEYS_SECRET: the secret must be a JSON object');
});
