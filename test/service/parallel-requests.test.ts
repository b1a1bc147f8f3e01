import { afterAll, beforeAll, expect, test } from 'vitest';
import { formatUsd } from '../../lambdas/core/money/usd.ts';
import { type Simulator, startSimulator } from '../../lib/local/upstreams/server.ts';
import { startGateway } from '../support/gateway.ts';
import { MODEL, postChat, pricesOf, readError, saying } from '../support/gateway-chat.ts';
import { until, within } from '../support/gateway-process.ts';

const REQUESTS = 200;
const PAID_FOR = 7;
const body = { messages: saying('All say the same'), max_tokens: 400 };

let vendor: Simulator;

beforeAll(async () => {
  vendor = await startSimulator();
});
afterAll(() => vendor.stop());

/** What one such request reserves, as the account of a program of its own tells while the vendor is silent. */
async function measureHold(): Promise<bigint> {
  const gateway = await startGateway({ vendorUrl: vendor.url });
  const gate = vendor.gate();
  try {
    const pending = postChat(gateway, body);
    await within('the request at the vendor', gate.waitFor(1));
    const { held, openHolds } = await gateway.account();
    expect(openHolds).toBe(1);
    gate.open();
    await (await pending).text();
    return held;
  } finally {
    vendor.reset();
    await gateway.stop();
  }
}

test('BILL-1 of 200 requests at once with money for 7, exactly 7 are served and nothing is ever overdrawn', async () => {
  const hold = await measureHold();
  // One pico-dollar short of an eighth.
  const funds = hold * BigInt(PAID_FOR + 1) - 1n;
  const gateway = await startGateway({
    vendorUrl: vendor.url,
    environment: { LOCAL_BALANCE_USD: formatUsd(funds) },
  });
  try {
    const priceOf = await pricesOf(gateway, MODEL);
    const used = { prompt_tokens: 60, completion_tokens: 40 };
    vendor.setScenario(() => ({ claimedUsage: { input: used.prompt_tokens, output: used.completion_tokens } }));
    const gate = vendor.gate();
    let answered = 0;
    const ask = async (): Promise<string> => {
      const response = await postChat(gateway, body);
      answered += 1;
      return response.status === 200 ? 'served' : `${response.status} ${(await readError(response)).code}`;
    };
    const answers = Array.from({ length: REQUESTS }, () => ask().catch((error: unknown) => `failed: ${error}`));

    const seen: bigint[] = [];
    let polling = true;
    const poll = (async () => {
      while (polling) seen.push((await gateway.account()).available);
    })();
    await until('every request at the vendor or refused', () => gate.arrived() + answered >= REQUESTS || undefined);
    const meanwhile = await gateway.account();
    gate.open();
    const outcomes = Map.groupBy(await Promise.all(answers), (outcome) => outcome);
    const after = await gateway.untilSettled();
    polling = false;
    await poll;

    expect(new Map([...outcomes].map(([outcome, all]) => [outcome, all.length]))).toEqual(
      new Map([
        ['served', PAID_FOR],
        ['402 insufficient_balance', REQUESTS - PAID_FOR],
      ]),
    );
    expect(gate.arrived()).toBe(PAID_FOR);
    expect(meanwhile).toEqual({
      balance: funds,
      available: hold - 1n,
      held: hold * BigInt(PAID_FOR),
      openHolds: PAID_FOR,
    });
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.filter((available) => available < 0n)).toEqual([]);
    const left = funds - priceOf(used) * BigInt(PAID_FOR);
    expect(after).toEqual({ balance: left, available: left, held: 0n, openHolds: 0 });
  } finally {
    await gateway.stop();
  }
});
