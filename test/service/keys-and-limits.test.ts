import { DynamoDBClient, ScanCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { APIError, AuthenticationError, PermissionDeniedError, RateLimitError } from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { formatUsd, parseUsd } from '../../lambdas/core/money/usd.ts';
import { localDynamodbConfig, localTableNames } from '../../lib/local/create-tables.ts';
import { type Simulator, startSimulator } from '../../lib/local/upstreams/server.ts';
import { startTestDynamodb, type TestDynamodb } from '../support/dynamodb.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { MODEL, postChat, pricesOf, readError, saying, sdkFor } from '../support/gateway-chat.ts';
import { within } from '../support/gateway-process.ts';
import { startServerGroup } from '../support/server-group.ts';

let vendor: Simulator;

beforeAll(async () => {
  vendor = await startSimulator();
});
afterAll(() => vendor.stop());

async function withGateway(
  environment: Readonly<Record<string, string>>,
  work: (gateway: TestGateway) => Promise<void>,
): Promise<void> {
  const gateway = await startGateway({ vendorUrl: vendor.url, environment });
  try {
    await work(gateway);
  } finally {
    await gateway.stop();
    vendor.reset();
  }
}

const thrownBy = (gateway: TestGateway): Promise<unknown> =>
  sdkFor(gateway)
    .chat.completions.create({ model: MODEL, messages: saying('hello') })
    .catch((thrown: unknown) => thrown);

/** What an operator does to a key, written where it stands. */
async function changeKey(
  database: TestDynamodb,
  expression: string,
  values: Record<string, { S: string } | { BOOL: boolean }>,
) {
  const client = new DynamoDBClient(localDynamodbConfig(database.endpoint));
  const { Items = [] } = await client.send(new ScanCommand({ TableName: localTableNames.keys }));
  const { pk } = Items[0] ?? {};
  if (!pk) throw new Error('no key is stored');
  await client.send(
    new UpdateItemCommand({
      TableName: localTableNames.keys,
      Key: { pk },
      UpdateExpression: expression,
      ExpressionAttributeNames: { '#status': 'status', '#blocked': 'blocked' },
      ExpressionAttributeValues: values,
    }),
  );
  client.destroy();
}

test('AUTH-4 a blocked account is a PermissionDeniedError, a revoked key an AuthenticationError, at once', async () => {
  const database = await startTestDynamodb();
  try {
    await withGateway({ DYNAMODB_ENDPOINT: database.endpoint }, async (gateway) => {
      expect(await thrownBy(gateway)).toMatchObject({ object: 'chat.completion' });
      const change = 'SET #blocked = :blocked, #status = :status';
      await changeKey(database, change, { ':blocked': { BOOL: true }, ':status': { S: 'active' } });
      const blocked = await thrownBy(gateway);
      expect(blocked).toBeInstanceOf(PermissionDeniedError);
      expect(blocked).toMatchObject({ status: 403, code: 'account_blocked', type: 'permission_error' });

      await changeKey(database, change, { ':blocked': { BOOL: false }, ':status': { S: 'revoked' } });
      const revoked = await thrownBy(gateway);
      expect(revoked).toBeInstanceOf(AuthenticationError);
      expect(revoked).toMatchObject({ status: 401, code: 'revoked_api_key', type: 'authentication_error' });
      expect(vendor.requests).toHaveLength(1);
    });
  } finally {
    await database.stop();
  }
});

test('LIM-2 beyond its burst a key is a RateLimitError with Retry-After: 1', async () => {
  await withGateway({ LIMIT_KEY_PER_SECOND: '1', LIMIT_KEY_BURST: '5' }, async (gateway) => {
    const errors = (await Promise.all(Array.from({ length: 40 }, () => thrownBy(gateway)))).filter(
      (outcome) => outcome instanceof APIError,
    );
    const [error] = errors;
    expect(errors.length).toBeGreaterThan(0);
    expect(errors.length).toBeLessThan(40);
    expect(new Set(errors.map(({ status, code }) => `${status} ${code}`))).toEqual(
      new Set(['429 rate_limit_exceeded']),
    );
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error).toMatchObject({ status: 429, code: 'rate_limit_exceeded', type: 'rate_limit_error' });
    expect(error?.headers?.get('retry-after')).toBe('1');
    expect(error?.headers?.get('x-ratelimit-limit-requests')).toBe('5');
    // A second may have passed since the refusal, and with it a request come back.
    expect(error?.headers?.get('x-ratelimit-remaining-requests')).toMatch(/^[0-4]$/);
    expect(vendor.requests).toHaveLength(40 - errors.length);
  });
});

test('LIM-2 at most burst + rate x elapsed + 1 pass with one key, from three processes together', async () => {
  const group = await startServerGroup();
  try {
    const standard = { LIMIT_KEY_PER_SECOND: '', LIMIT_KEY_BURST: '' };
    const start = () => group.start({ vendorUrl: vendor.url, environment: standard });
    const servers = await Promise.all([start(), start(), start()]);
    const { apiKey } = await group.openAccount('hasty', 0n);
    const statuses: number[] = [];
    const startedAtMs = Date.now();
    const ask = async (url: string): Promise<void> => {
      for (let sent = 0; sent < 15; sent += 1) {
        const response = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${apiKey}` } });
        await response.body?.cancel();
        statuses.push(response.status);
      }
    };
    await Promise.all(servers.flatMap(({ url }) => [ask(url), ask(url), ask(url), ask(url)]));
    const most = 15 + (10 * (Date.now() - startedAtMs)) / 1_000 + 1;
    const passed = statuses.filter((status) => status === 200).length;
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    expect(passed).toBeGreaterThanOrEqual(15);
    expect(passed).toBeLessThanOrEqual(most);
  } finally {
    await group.stop();
  }
});

test('LIM-1 beyond its burst an address is 429, with or without a key, but for /health', async () => {
  await withGateway({ LIMIT_ADDRESS_PER_SECOND: '1', LIMIT_ADDRESS_BURST: '5' }, async (gateway) => {
    const forty = (path: string) => Promise.all(Array.from({ length: 40 }, () => fetch(`${gateway.url}${path}`)));
    const open = await forty('/api/models');
    const refused = open.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(open.some(({ status }) => status === 200)).toBe(true);
    expect(refused[0]?.headers.get('retry-after')).toBe('1');
    expect(await readError(refused[0]!)).toMatchObject({ code: 'rate_limit_exceeded' });
    const keyless = await forty('/v1/models');
    expect(keyless.some(({ status }) => status === 429)).toBe(true);
    const health = await forty('/health');
    expect(health.every(({ status }) => status === 200)).toBe(true);
  });
});

test('LIM-8 the 201st request in flight of an account is 429', async () => {
  await withGateway({ LOCAL_BALANCE_USD: '100' }, async (gateway) => {
    const gate = vendor.gate();
    const body = { messages: saying('hello'), max_tokens: 10 };
    const inFlight: Promise<Response>[] = [];
    while (inFlight.length < 200) {
      for (let more = 0; more < 20; more += 1) inFlight.push(postChat(gateway, body));
      await within(`${inFlight.length} requests at the vendor`, gate.waitFor(inFlight.length));
    }
    const extra = await postChat(gateway, body);
    expect(extra.status).toBe(429);
    expect(extra.headers.get('retry-after')).toBe('1');
    expect(await readError(extra)).toMatchObject({
      code: 'rate_limit_exceeded',
      message: expect.stringMatching('200'),
    });
    gate.open();
    const answers = await Promise.all(inFlight);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(200);
    expect((await gateway.untilSettled()).openHolds).toBe(0);
  });
});

test('AUTH-4 an empty balance is 402 where money is held and nowhere else', async () => {
  await withGateway({ LOCAL_BALANCE_USD: '0' }, async (gateway) => {
    const error = await thrownBy(gateway);
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ status: 402, code: 'insufficient_balance', type: 'insufficient_balance' });
    expect(vendor.requests).toHaveLength(0);
    expect(await gateway.account()).toMatchObject({ balance: 0n });
    expect((await Array.fromAsync(sdkFor(gateway).models.list())).length).toBeGreaterThan(0);
  });
});

const SHORT = '0.002';
const body = { messages: saying('hello') };

test('BILL-6 money short of the default cap gets the cap it can pay, told and sent upstream', async () => {
  await withGateway({ LOCAL_BALANCE_USD: SHORT }, async (gateway) => {
    const gate = vendor.gate();
    const pending = postChat(gateway, body);
    await within('the request at the vendor', gate.waitFor(1));
    const { held, available } = await gateway.account();
    gate.open();
    const response = await pending;
    expect(response.status).toBe(200);
    const cap = Number(response.headers.get('x-service-max-tokens'));
    expect(cap).toBeGreaterThanOrEqual(256);
    expect(cap).toBeLessThan(4_096);
    expect(vendor.requests[0]?.body).toMatchObject({ max_completion_tokens: cap });
    // As much as can be paid: not one more token would fit.
    const oneToken = (await pricesOf(gateway, MODEL))({ prompt_tokens: 0, completion_tokens: 1 });
    expect(held + available).toBe(parseUsd(SHORT));
    expect(available).toBeLessThan(oneToken);
  });
});

test('BILL-6 a 402 names what is required, what is available and how many tokens that would pay for', async () => {
  await withGateway({ LOCAL_BALANCE_USD: SHORT }, async (gateway) => {
    const asked = 20_000;
    const response = await postChat(gateway, { ...body, max_tokens: asked });
    expect(response.status).toBe(402);
    const { message, code } = await readError(response);
    expect(code).toBe('insufficient_balance');
    expect(message).toContain(SHORT);
    const amounts = [...message.matchAll(/\d+\.\d+/g)].map(([amount]) => parseUsd(amount));
    const required = amounts.find((amount) => amount > parseUsd(SHORT)) ?? 0n;
    const oneToken = (await pricesOf(gateway, MODEL))({ prompt_tokens: 0, completion_tokens: 1 });
    const prompt = required - oneToken * BigInt(asked);
    expect(prompt).toBeGreaterThan(0n);
    expect(message).toContain(formatUsd(required));
    const affordable = (parseUsd(SHORT) - prompt) / oneToken;
    expect(message).toMatch(new RegExp(`\\b${affordable}\\b`));
    expect(vendor.requests).toHaveLength(0);
  });
});

test('BILL-6 a client that names its cap never gets another one', async () => {
  await withGateway({ LOCAL_BALANCE_USD: SHORT }, async (gateway) => {
    const response = await postChat(gateway, { ...body, max_tokens: 4_096 });
    expect([response.status, (await readError(response)).code]).toEqual([402, 'insufficient_balance']);
    expect(await gateway.account()).toMatchObject({ held: 0n, openHolds: 0 });
  });
});
