import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SignatureV4 } from '@smithy/signature-v4';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSigner } from '../../../../lambdas/stores/dynamodb/sign-request.ts';
import { randomRuns } from '../../../support/random-runs.ts';

const { sha256 } = new DynamoDBClient({ region: 'eu-central-1' }).config;

const secrets = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 50 });
const credentials = fc.record(
  {
    accessKeyId: fc.stringMatching(/^[A-Z0-9]{4,20}$/),
    secretAccessKey: secrets,
    sessionToken: secrets.map(encodeURI),
  },
  { requiredKeys: ['accessKeyId', 'secretAccessKey'] },
);
const requests = fc.record({
  path: fc.webPath().map((path) => new URL(`http://table.test/${path}`).pathname),
  headers: fc
    .dictionary(fc.constantFrom('x-a', 'x-amz-target', 'content-type'), fc.stringMatching(/^[ -~]{0,20}$/))
    .map((headers) => ({ ...headers, host: 'table.test' })),
  body: fc.string({ unit: 'binary' }),
});
const scopes = fc.record({
  region: fc.constantFrom('us-east-1', 'cn-north-1'),
  service: fc.constantFrom('dynamodb', 'dax'),
});
const days = [Date.UTC(2026, 10, 27, 23, 59, 59, 999), Date.UTC(2026, 10, 28), Date.UTC(2027, 0, 1, 1, 2, 3)];

const runs = randomRuns(import.meta.filename, { quick: 100, long: 10_000 });

test('a request has the signature of the SDK, whatever was signed before', async () => {
  const sign = createSigner();
  const pool = fc.sample(credentials, { ...runs, numRuns: 3 });
  const signed = fc.record({
    request: requests,
    scope: scopes,
    identity: fc.oneof(credentials, fc.constantFrom(...pool)),
    timeMs: fc.constantFrom(...days),
  });
  const property = fc.asyncProperty(signed, async ({ request, scope, identity, timeMs }) => {
    const signer = new SignatureV4({ ...scope, credentials: identity, sha256 });
    const sent = { ...request, method: 'POST', protocol: 'https:', hostname: 'table.test' };
    const expected = await signer.sign(sent, { signingDate: new Date(timeMs) });
    expect(sign(request, identity, scope, timeMs)).toEqual(expected.headers);
  });
  await fc.assert(property, runs);
});

test('a change of one source of the key changes the signature', () => {
  const sign = createSigner();
  const request = { path: '/', headers: { host: 'table.test' }, body: '{}' };
  const identity = { accessKeyId: 'AKID', secretAccessKey: 'secret' };
  const scope = { region: 'us-east-1', service: 'dynamodb' };
  const now = Date.UTC(2026, 10, 27);
  const headers = [
    sign(request, identity, scope, now),
    sign(request, { ...identity, secretAccessKey: 'other' }, scope, now),
    sign(request, { ...identity, sessionToken: 'token' }, scope, now),
    sign(request, identity, { ...scope, region: 'us-east-2' }, now),
    sign(request, identity, { ...scope, service: 'dax' }, now),
    sign(request, identity, scope, now + 86_400_000),
  ];
  expect(new Set(headers.map(({ authorization }) => authorization?.split('Signature=')[1])).size).toBe(6);
  expect(sign(request, identity, scope, now)).toEqual(headers[0]);
});
