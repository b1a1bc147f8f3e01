import { expect } from 'vitest';
import type { TestGateway } from './gateway.ts';
import { saying } from './gateway-chat.ts';
import type { Environment } from './gateway-process.ts';
import { until } from './gateway-process.ts';
import type { GroupAccount, ServerGroup } from './server-group.ts';

/** The gateway's default circuit settings, which `unlimited` raises for other suites. */
export const realCircuit: Environment = { CIRCUIT_FAILURES: '5', CIRCUIT_CALLS: '10' };

export interface Told {
  readonly status: number;
  /** Error code. Undefined for status 200, and for a body without a code. */
  readonly code: string | undefined;
  readonly headers: Headers;
  readonly text: string;
}

export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly stream?: boolean;
  readonly path?: string;
  /** Request body that replaces the chat completion with `words`. */
  readonly body?: object;
}

/**
 * Sends one request of an account and reads the whole response. `words` may have markers for the simulated provider
 * (local/simulators/scenario.ts).
 */
export async function callModel(
  { url }: Pick<TestGateway, 'url'>,
  { apiKey }: Pick<GroupAccount, 'apiKey'>,
  model: string,
  words: string,
  { headers, stream, path = '/v1/chat/completions', body }: CallOptions = {},
): Promise<Told> {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({
      ...(body ?? { model, max_tokens: 300, messages: saying(words) }),
      ...(stream ? { stream } : {}),
    }),
  });
  const text = await response.text();
  const [, code] = /"(?:code|reason)":"(\w+)"/.exec(text) ?? [];
  return {
    status: response.status,
    code: response.status === 200 ? undefined : code,
    headers: response.headers,
    text,
  };
}

export const withReserve = (modelId: string): CallOptions => ({ headers: { 'x-service-fallback-model': modelId } });
const dry: CallOptions = { headers: { 'x-service-dry-run': 'true' } };

/** Whether the server treats the circuit as open. Asks with a dry run, which does not change the circuit. */
export const isOpen = async (...asked: [Pick<TestGateway, 'url'>, Pick<GroupAccount, 'apiKey'>, string]) => {
  const told = await callModel(...asked, 'hello', dry);
  if (told.status !== 200 && told.code !== 'service_unavailable') throw new Error(`${told.status} ${told.text}`);
  return told.status !== 200;
};

/**
 * Waits until the circuit is open for the server, which must be within 5 s. The longer time limit only stops a hang.
 */
export const untilOpen = (...asked: Parameters<typeof isOpen>): Promise<true> =>
  until(`an open circuit of ${asked[2]}`, async () => ((await isOpen(...asked)) ? true : undefined));

export const untilHalfOpen = (...asked: Parameters<typeof isOpen>): Promise<true> =>
  until(`a half-open circuit of ${asked[2]}`, async () => ((await isOpen(...asked)) ? undefined : true));

/** Waits until the account has no holds, and returns what it has spent in pico-USD. */
export const spentOf = ({ store }: ServerGroup, { accountId }: GroupAccount): Promise<bigint> =>
  until('the end of every hold', async () => {
    const account = await store.readAccount(accountId);
    return account && account.holds.size === 0 ? account.spentPicos : undefined;
  });

export const FAILS = '[[status 500]]';

/** Causes five failures in a row, by these accounts in turn. */
export const openAt = async (
  at: Pick<TestGateway, 'url'>,
  model: string,
  accounts: readonly Pick<GroupAccount, 'apiKey'>[],
): Promise<void> => {
  for (let turn = 0; turn < 5; turn += 1) {
    const by = accounts[turn % accounts.length];
    if (!by) throw new Error('there is no account');
    expect((await callModel(at, by, model, FAILS)).status).toBe(502);
  }
};

/** Checks the response to a call with an open circuit (FALL-5). */
export const expectOpen = (told: Told, seconds = 30): void => {
  expect([told.status, told.code]).toEqual([503, 'service_unavailable']);
  expect(JSON.parse(told.text).error).toMatchObject({ param: 'model', type: 'service_unavailable' });
  const after = Number(told.headers.get('retry-after'));
  expect([Number.isInteger(after), after >= 1, after <= seconds], `Retry-After: ${after}`).toEqual([true, true, true]);
  for (const name of ['x-service-model-used', 'x-service-fallback-from']) expect(told.headers.get(name)).toBeNull();
};
