import { GetParameterCommand, ParameterNotFound, SSMClient } from '@aws-sdk/client-ssm';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { readPublicUrl } from '../../../../lambdas/functions/wiring/public-url.ts';

const aws = mockClient(SSMClient);
afterAll(() => aws.restore());
const NAME = '/gateway-dev/public-url';
const asked = { PUBLIC_URL: undefined, PUBLIC_URL_PARAMETER: NAME };

beforeEach(() => {
  aws.reset();
});

test.each([
  ['https://api.example.com', 'https://api.example.com'],
  ['https://api.example.com/', 'https://api.example.com'],
  ['http://127.0.0.1:8080//', 'http://127.0.0.1:8080'],
])('IMG-6, KEY-1 the public address has no slash at its end: %s', async (value, url) => {
  expect(await readPublicUrl({ PUBLIC_URL: value, PUBLIC_URL_PARAMETER: NAME })).toBe(url);
  expect(aws.calls()).toHaveLength(0);
  aws.on(GetParameterCommand, { Name: NAME }).resolves({ Parameter: { Value: value } });
  expect(await readPublicUrl(asked)).toBe(url);
});

test('KEY-1 the public URL is unknown without a setting and before the front door exists', async () => {
  expect(await readPublicUrl({ PUBLIC_URL: undefined, PUBLIC_URL_PARAMETER: undefined })).toBeUndefined();
  expect(aws.calls()).toHaveLength(0);
  aws.on(GetParameterCommand).rejects(new ParameterNotFound({ message: 'none', $metadata: {} }));
  expect(await readPublicUrl(asked)).toBeUndefined();
});

test.each(['api.example.com', 'ftp://api.example.com', 'nothing'])(
  'KEY-1 a parameter without an address is an Error that names the variable: %s',
  async (value) => {
    aws.on(GetParameterCommand).resolves({ Parameter: { Value: value } });
    await expect(readPublicUrl(asked)).rejects.toThrow('PUBLIC_URL_PARAMETER');
  },
);

test('KEY-1 a parameter that the function may not read is an Error', async () => {
  aws.on(GetParameterCommand).rejects(Object.assign(new Error('denied'), { name: 'AccessDeniedException' }));
  await expect(readPublicUrl(asked)).rejects.toThrow('denied');
});
