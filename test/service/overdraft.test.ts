import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { rotateKey } from '../../lambdas/core/accounts/issue-key.ts';
import { keyIdOf } from '../../lambdas/core/accounts/keys.ts';
import { formatUsd, parseUsd } from '../../lambdas/core/money/usd.ts';
import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { readError } from '../support/gateway-chat.ts';
import { until } from '../support/gateway-process.ts';
import { type InProcessGateway, startInProcess } from '../support/in-process-gateway.ts';
import { rowsOfTier } from '../tiers.ts';
import { promptTokensOf } from './provider-tokenizers.ts';

const MODEL = 'gpt-5.4';
const BALANCE_USD = '1';
/** Largest overdraft that is accepted, in pico-USD. */
const OVERDRAFT_MAX = parseUsd('0.25');
const IN_PARALLEL = 100;
/** Hold of one request without a factor: the balance covers all requests in parallel, if the estimate is right. */
const HOLD_PICOS = parseUsd(BALANCE_USD) / BigInt(IN_PARALLEL);

/** Size above every request of the test. A request with more messages is rejected. */
const SIZE_MAX = 12_500;

/** Deterministic numbers from 0 up to 1: https://en.wikipedia.org/wiki/Linear_congruential_generator */
const randomFrom = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
};

type Random = () => number;
const between = (random: Random, from: number, to: number): string =>
  String.fromCodePoint(from + Math.floor(random() * (to - from)));
const repeat = (times: number, make: (at: number) => string): string =>
  Array.from({ length: times }, (_, at) => make(at)).join('');
const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const saying = (content: string) => ({ messages: [{ role: 'user', content }] });

interface Script {
  readonly name: string;
  /** Returns a request of about this size. */
  readonly bodyOf: (size: number, random: Random) => object;
}

const scripts: readonly Script[] = [
  {
    name: 'random Tamil',
    bodyOf: (size, random) => saying(repeat(size, () => between(random, 0xb80, 0xc00))),
  },
  {
    name: 'random Chinese and emoji',
    bodyOf: (size, random) =>
      saying(repeat(size, (at) => (at % 4 > 0 ? between(random, 0x4e00, 0x9fa6) : between(random, 0x1f300, 0x1f650)))),
  },
  {
    name: 'base64',
    bodyOf: (size, random) => saying(repeat(size, () => BASE64.charAt(Math.floor(random() * BASE64.length)))),
  },
  { name: 'digits', bodyOf: (size, random) => saying(repeat(size, () => between(random, 0x30, 0x3a))) },
  {
    name: 'tool schemas',
    bodyOf: (size, random) => ({
      ...saying('Use a tool.'),
      tools: Array.from({ length: Math.ceil(size / 300) }, (_, at) => ({
        type: 'function',
        function: {
          name: `tool_${at}`,
          description: repeat(300, () => between(random, 0xb80, 0xc00)),
          parameters: { type: 'object', properties: { [`field_${at}`]: { type: 'string' } } },
        },
      })),
    }),
  },
  {
    name: 'many tiny messages',
    bodyOf: (size, random) => ({
      messages: Array.from({ length: size }, () => ({ role: 'user', content: between(random, 0xb80, 0xc00) })),
    }),
  },
];

let vendor: Simulator;
const gateways: InProcessGateway[] = [];

beforeAll(async () => {
  vendor = await startSimulator();
  const vendorUrl = vendor.url;
  gateways.push(await startInProcess({ vendorUrl }));
  // The factor is not stored: as before.
  const withoutFactor = await startInProcess({
    vendorUrl,
    change: ({ keys }) => ({ keys: { ...keys, raiseFactor: async () => undefined } }),
  });
  gateways.push(withoutFactor);
});
afterAll(async () => {
  for (const gateway of gateways) await gateway.stop();
  await vendor?.stop();
});

const ask = (gateway: InProcessGateway, apiKey: string, body: object, headers = {}) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: MODEL, max_tokens: 16, ...body }),
  });

const dryRunSchema = z.looseObject({ hold_usd: z.string(), estimate_factor: z.number() });

const dryRun = async (gateway: InProcessGateway, apiKey: string, body: object) => {
  const response = await ask(gateway, apiKey, body, { 'x-service-dry-run': 'true' });
  const { hold_usd: usd, estimate_factor: factor } = dryRunSchema.parse(await response.json());
  return { holdPicos: parseUsd(usd), factor };
};

/** Returns the largest size whose hold is not above HOLD_PICOS, by bisection. */
const sizeFor = async (gateway: InProcessGateway, apiKey: string, { bodyOf }: Script): Promise<number> => {
  let [low, high] = [1, SIZE_MAX];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const { holdPicos } = await dryRun(gateway, apiKey, bodyOf(middle, randomFrom(1)));
    if (holdPicos <= HOLD_PICOS) low = middle;
    else high = middle;
  }
  return low;
};

const play = async (gateway: InProcessGateway, script: Script) => {
  const { accountId, apiKey } = await gateway.issue({ balanceUsd: BALANCE_USD });
  const size = await sizeFor(gateway, apiKey, script);
  vendor.setScenario((request) => ({ claimedUsage: { input: promptTokensOf(request), output: 16 } }));
  const bodies = [1, 2, 3, 4].map((seed) => script.bodyOf(size, randomFrom(seed)));
  const first = await ask(gateway, apiKey, bodies[0]!);
  expect(first.status).toBe(200);
  await first.text();
  const gate = vendor.gate();
  let refused = 0;
  const pending = Array.from({ length: IN_PARALLEL }, async (_, at) => {
    const response = await ask(gateway, apiKey, bodies[at % bodies.length]!);
    if (response.status !== 200) {
      refused += 1;
      expect((await readError(response)).code).toBe('insufficient_balance');
      return;
    }
    await response.text();
  });
  await until('a decision about each request', async () =>
    gate.arrived() + refused === IN_PARALLEL ? true : undefined,
  );
  gate.open();
  await Promise.all(pending);
  const account = await until('the end of every hold', async () => {
    const found = await gateway.ledger.readAccount(accountId);
    return found?.holds.size === 0 ? found : undefined;
  });
  return { overdraft: account.availablePicos < 0n ? -account.availablePicos : 0n, refused };
};

test.each(rowsOfTier(scripts, () => 'script'))(
  'BILL-20 $name: 1 USD is overdrawn by at most 0.25 USD after an overage',
  async (script) => {
    const [now, before] = [await play(gateways[0]!, script), await play(gateways[1]!, script)];
    const shown = ({ overdraft, refused }: typeof now) => `${formatUsd(overdraft)} USD (${refused} of 100 refused)`;
    process.stdout.write(`${script.name}: overdraft ${shown(now)}, without the factor ${shown(before)}\n`);
    expect(now.overdraft).toBeLessThanOrEqual(OVERDRAFT_MAX);
  },
);

test('BILL-16, BILL-20 a dry run shows the factor after an overage, and a new API key has it', async () => {
  const [gateway] = gateways;
  const { accountId, apiKey, hash } = await gateway!.issue();
  const body = scripts[0]!.bodyOf(2_000, randomFrom(1));
  const before = await dryRun(gateway!, apiKey, body);
  expect(before.factor).toBe(1);
  vendor.setScenario((request) => ({ claimedUsage: { input: promptTokensOf(request), output: 16 } }));
  await (await ask(gateway!, apiKey, { ...body, stream: true })).text();
  const after = await dryRun(gateway!, apiKey, body);
  expect(after.factor).toBeGreaterThan(3);
  expect(after.holdPicos > 3n * before.holdPicos).toBe(true);
  const rotated = await rotateKey(gateway!.deps, { accountId, keyId: keyIdOf(hash) });
  expect(await dryRun(gateway!, rotated.apiKey, body)).toEqual(after);
});
