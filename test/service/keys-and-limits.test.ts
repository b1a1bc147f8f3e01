import { APIError, AuthenticationError, PermissionDeniedError, RateLimitError } from 'openai';
import { expect, test } from 'vitest';
import { formatUsd, parseUsd } from '../../lambdas/core/money/usd.ts';
import { startGateway, type TestGateway, type TestInProcessGateway } from '../support/gateway.ts';
import { MODEL, postChat, pricesOf, readError, saying, sdkFor } from '../support/gateway-chat.ts';
import { within } from '../support/gateway-process.ts';
import { startSimulated } from './simulated-gateway.ts';

const { vendor } = await startSimulated();

async function withGateway(
  environment: Readonly<Record<string, string>>,
  work: (gateway: TestInProcessGateway) => Promise<void>,
): Promise<void> {
  const gateway = await startGateway({ vendorUrl: vendor.url, environment });
  try {
    await work(gateway);
  } finally {
    await gateway.stop();
    vendor.reset();
  }
}

const refusalOf = (gateway: TestGateway): Promise<unknown> =>
  sdkFor(gateway)
    .chat.completions.create({ model: MODEL, messages: saying('hello') })
    .catch((thrown: unknown) => thrown);

test('AUTH-4 a blocked account is a PermissionDeniedError, a revoked key an AuthenticationError', async () => {
  await withGateway({}, async (gateway) => {
    expect(await refusalOf(gateway)).toMatchObject({ object: 'chat.completion' });
    await gateway.block(gateway.apiKey);
    const blocked = await refusalOf(gateway);
    expect(blocked).toBeInstanceOf(PermissionDeniedError);
    expect(blocked).toMatchObject({ status: 403, code: 'account_blocked', type: 'permission_error' });

    const { apiKey } = await gateway.issue();
    expect(await refusalOf({ ...gateway, apiKey })).toMatchObject({ object: 'chat.completion' });
    await gateway.revoke(apiKey);
    const revoked = await refusalOf({ ...gateway, apiKey });
    expect(revoked).toBeInstanceOf(AuthenticationError);
    expect(revoked).toMatchObject({ status: 401, code: 'revoked_api_key', type: 'authentication_error' });
    expect(revoked instanceof AuthenticationError && revoked.headers.get('x-should-retry')).toBe('false');
    expect(vendor.requests).toHaveLength(2);
  });
});

test('LIM-2 an API key beyond its burst is a RateLimitError with Retry-After: 1', async () => {
  await withGateway({ LIMIT_KEY_PER_SECOND: '1', LIMIT_KEY_BURST: '5' }, async (gateway) => {
    const errors = (await Promise.all(Array.from({ length: 12 }, () => refusalOf(gateway)))).filter(
      (outcome) => outcome instanceof APIError,
    );
    const [error] = errors;
    expect(errors.length).toBeGreaterThan(0);
    expect(errors.length).toBeLessThan(12);
    expect(new Set(errors.map(({ status, code }) => `${status} ${code}`))).toEqual(
      new Set(['429 rate_limit_exceeded']),
    );
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error).toMatchObject({ status: 429, code: 'rate_limit_exceeded', type: 'rate_limit_error' });
    expect(error?.headers?.get('retry-after')).toBe('1');
    expect(error?.headers?.get('x-ratelimit-limit-requests')).toBe('5');
    // A second may have passed since the rejection, and one more request is allowed.
    expect(error?.headers?.get('x-ratelimit-remaining-requests')).toMatch(/^[0-4]$/);
    expect(vendor.requests).toHaveLength(12 - errors.length);
  });
});

test('LIM-1 a client IP beyond its burst is 429, with or without a key, except on /health', async () => {
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

const SHORT = '0.002';
const body = { messages: saying('hello') };

test('BILL-6 if the balance is too low for the default cap, header and provider get a lower cap', async () => {
  await withGateway({ LOCAL_BALANCE_USD: SHORT }, async (gateway) => {
    const gate = vendor.gate();
    const pending = postChat(gateway, body);
    await within('the request to reach the provider', gate.waitFor(1));
    const { held, available } = await gateway.account();
    gate.open();
    const response = await pending;
    expect(response.status).toBe(200);
    const cap = Number(response.headers.get('x-service-max-tokens'));
    expect(cap).toBeGreaterThanOrEqual(256);
    expect(cap).toBeLessThan(4_096);
    expect(vendor.requests[0]?.body).toMatchObject({ max_completion_tokens: cap });
    // The cap is the largest affordable one: the balance does not cover one more token.
    const oneToken = (await pricesOf(gateway, MODEL))({ prompt_tokens: 0, completion_tokens: 1 });
    expect(held + available).toBe(parseUsd(SHORT));
    expect(available).toBeLessThan(oneToken);
  });
});

test('BILL-6 a high effort gets a higher cap once the process knows the balance', async () => {
  await withGateway({ LOCAL_BALANCE_USD: '40' }, async (gateway) => {
    const high = { ...body, model: 'gpt-5.6-sol' };
    const capOf = async (more: object) =>
      Number((await postChat(gateway, { ...high, ...more })).headers.get('x-service-max-tokens'));
    const first = await capOf({ reasoning_effort: 'high' });
    const usual = await capOf({ reasoning_effort: 'low' });
    const raised = await capOf({ reasoning_effort: 'high' });
    expect([first, raised > 2 * usual]).toEqual([usual, true]);
    expect(vendor.requests.at(-1)?.body).toMatchObject({ max_completion_tokens: raised });
  });
});

test('BILL-6 a 402 has the required amount, the available amount and the affordable tokens', async () => {
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

test.each([
  ['/v1/chat/completions', { messages: saying('a') }, 'max_tokens', 'max_completion_tokens'],
  ['/v1/responses', { model: 'gpt-5.5-pro', input: 'a' }, 'max_output_tokens', 'max_output_tokens'],
])("BILL-6 on %s the client's cap is sent unchanged; without one, the cap of the hold", async (...row) => {
  const [path, request, name, sentName] = row;
  await withGateway({}, async ({ url, apiKey }) => {
    const send = (more: object) =>
      fetch(`${url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}` },
        body: JSON.stringify({ model: MODEL, ...request, ...more }),
      });
    const own = await send({ [name]: 77 });
    const chosen = await send({});
    const told = Number(chosen.headers.get('x-service-max-tokens'));
    expect([own.headers.get('x-service-max-tokens'), told >= 256]).toEqual([null, true]);
    expect(vendor.requests.map(({ body }) => body)).toMatchObject([{ [sentName]: 77 }, { [sentName]: told }]);
  });
});
