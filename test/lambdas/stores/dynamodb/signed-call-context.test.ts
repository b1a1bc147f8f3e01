import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { SignatureV4 } from '@smithy/signature-v4';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDynamoDB } from '../../../../lambdas/stores/dynamodb/dynamodb.ts';
import type { Credentials } from '../../../../lambdas/stores/dynamodb/sign-request.ts';
import { startRecordingTable, type TableRequest } from '../../../support/recording-table.ts';
import { type Call, lean, outcomeOf } from './call-ways.ts';

/** Compares clock, credentials, endpoint and signature of hot calls with those of the SDK. */
let table: Awaited<ReturnType<typeof startRecordingTable>>;
beforeAll(async () => {
  table = await startRecordingTable();
});
afterAll(() => table.stop());

const put: Call = (way) => way.put({ table: 'accounts', item: { pk: 'a' } });

const NOW_MS = Date.UTC(2026, 10, 27, 12);
const HOUR_MS = 3_600_000;
const expired = JSON.stringify({ __type: 'x#InvalidSignatureException', message: 'The signature is invalid' });

test.each([
  ['once, the next call', 1],
  ['repeating, the same call', 2],
])('a clock that is an hour wrong is corrected by the date of the response: %s', async (_name, maxAttempts) => {
  const date = new Date(NOW_MS + HOUR_MS).toUTCString();
  table.setReply({ status: 400, headers: { date }, body: expired });
  const way = lean({ endpoint: table.endpoint, maxAttempts, now: () => NOW_MS });
  await outcomeOf(way, put);
  if (maxAttempts === 1) await outcomeOf(way, put);
  const dates = table.takeRequests().map(({ headers }) => headers['x-amz-date']);
  expect(dates).toEqual(['20261127T120000Z', '20261127T130000Z']);
  expect(way.types).toEqual(maxAttempts === 1 ? [] : ['TRANSIENT', 'CLIENT_ERROR']);
});

test('a corrected clock is that of the SDK, and a client without correction has none', async () => {
  const date = new Date(NOW_MS + HOUR_MS).toUTCString();
  const dateOf = async (config: DynamoDBClientConfig, headers: Record<string, string>) => {
    table.setReply({ status: 200, headers, body: '{}' });
    const way = lean({ endpoint: table.endpoint, maxAttempts: 1, now: () => NOW_MS, config });
    await put(way.calls);
    await put(way.calls);
    return table.takeRequests()[1]?.headers['x-amz-date'];
  };
  expect(await dateOf({}, { date })).toBe('20261127T130000Z');
  expect(await dateOf({}, { date, age: '3600' })).toBe('20261127T120000Z');
  expect(await dateOf({ disableClockSkewCorrection: true }, { date })).toBe('20261127T120000Z');
  expect(await dateOf({ systemClockOffset: -HOUR_MS }, { date: 'soon' })).toBe('20261127T110000Z');
});

test('credentials that expire are requested for each call, and the next call has the new ones', async () => {
  table.setReply({ status: 200, body: '{}' });
  let turn = 0;
  const credentials = async () => {
    turn += 1;
    const expiration = new Date(Date.now() + 1_000);
    return { accessKeyId: `AKID${turn}`, secretAccessKey: `secret${turn}`, sessionToken: `session${turn}`, expiration };
  };
  const way = lean({ endpoint: table.endpoint, maxAttempts: 1, config: { credentials } });
  await put(way.calls);
  await put(way.calls);
  const tokens = table.takeRequests().map(({ headers }) => headers['x-amz-security-token']);
  expect(new Set(tokens).size).toBe(2);
});

/** Returns where a call goes, and its headers, without sending it. */
const destinationOf = async (hot: boolean, config: DynamoDBClientConfig, tableName: string): Promise<unknown> => {
  let sent: unknown;
  const handle = async (request: Readonly<Record<string, unknown>>) => {
    const { protocol, hostname, port, path, method, headers } = request;
    const { host } = headers as Record<string, string>;
    const scope = /Credential=AKID\/\d+\/(\S+)\/aws4_request/.exec(
      (headers as Record<string, string>).authorization ?? '',
    );
    sent = { protocol, hostname, port, path, method, host, scope: scope?.[1] };
    return { response: { statusCode: 200, headers: {}, body: Buffer.from('{}') } };
  };
  const credentials = { accessKeyId: 'AKID', secretAccessKey: 'secret', accountId: '123456789012' };
  const client = new DynamoDBClient({ credentials, requestHandler: { handle }, ...config });
  const db = createDynamoDB(client, Date.now);
  await (hot ? db.hot : db).put({ table: tableName, item: { pk: 'a' } });
  return sent;
};

test.each<[DynamoDBClientConfig, string]>([
  [{ region: 'us-east-1' }, 'https://123456789012.ddb.us-east-1.amazonaws.com'],
  [{ region: 'us-east-1', accountIdEndpointMode: 'disabled' }, 'https://dynamodb.us-east-1.amazonaws.com'],
  [{ region: 'us-east-1', useFipsEndpoint: true }, 'https://dynamodb-fips.us-east-1.amazonaws.com'],
  [{ region: 'eu-west-1', useDualstackEndpoint: true }, 'https://123456789012.ddb.eu-west-1.api.aws'],
  [{ region: 'cn-north-1' }, 'https://123456789012.ddb.cn-north-1.amazonaws.com.cn'],
  [{ region: 'us-gov-west-1' }, 'https://123456789012.ddb.us-gov-west-1.amazonaws.com'],
  [{ region: 'local' }, 'http://localhost'],
  [{ region: 'us-east-1', endpoint: 'http://[::1]:8000/some/path' }, 'http://[::1]'],
  [{ region: 'us-east-1', endpoint: 'https://tables.test' }, 'https://tables.test'],
])('a hot call goes where the SDK sends it: %j', async (config, url) => {
  const arn = 'arn:aws:dynamodb:us-east-1:210987654321:table/accounts';
  for (const name of ['accounts', arn]) {
    const expected = await destinationOf(false, config, name);
    expect(await destinationOf(true, config, name)).toEqual(expected);
    if (name !== arn)
      expect(expected).toMatchObject({ protocol: new URL(url).protocol, hostname: new URL(url).hostname });
  }
});

const { sha256 } = new DynamoDBClient({ region: 'eu-central-1' }).config;

/** The SDK's signer signs every header that it gets, and the time of the request. */
const signatureOf = async ({ headers, body }: TableRequest, credentials: Credentials): Promise<unknown> => {
  const { authorization: _signature, connection: _unsigned, ...signed } = headers as Record<string, string>;
  const time = signed['x-amz-date']?.replace(/(....)(..)(..T..)(..)(..Z)/, '$1-$2-$3:$4:$5') ?? '';
  const signer = new SignatureV4({ credentials, region: 'eu-central-1', service: 'dynamodb', sha256 });
  const request = { method: 'POST', protocol: 'http:', hostname: 'x', path: '/', headers: signed, body };
  return (await signer.sign(request, { signingDate: new Date(time) })).headers.authorization;
};

test.each<[Credentials]>([
  [{ accessKeyId: 'AKID', secretAccessKey: 'secret' }],
  [{ accessKeyId: 'ASIA', secretAccessKey: 'other/secret', sessionToken: 'to/ken==' }],
])('a hot call has the signature of the SDK: %j', async (credentials) => {
  table.setReply({ status: 200, body: '{}' });
  const way = lean({ endpoint: table.endpoint, maxAttempts: 1, config: { credentials } });
  await put(way.calls);
  const [request] = table.takeRequests();
  expect(request?.headers['x-amz-security-token']).toBe(credentials.sessionToken);
  expect(request?.headers.authorization).toBe(request && (await signatureOf(request, credentials)));
});
