import * as z from 'zod';
import { parseUsd } from '../../../lambdas/core/money/usd.ts';
import { until } from '../../support/gateway-process.ts';
import { ask } from '../../support/hostile-wire.ts';

const accountBody = z.object({
  balance_usd: z.string(),
  available_usd: z.string(),
  held_usd: z.string(),
  open_holds: z.int(),
});
const row = z.object({
  id: z.string(),
  outcome: z.string(),
  reason: z.string().nullable(),
  model: z.string().nullable(),
  usage: z.record(z.string(), z.int()).nullable(),
  cost_usd: z.string().nullable(),
  overage: z.boolean(),
});
const list = z.object({ data: z.array(row), has_more: z.boolean() });

export type UsageRow = z.infer<typeof row>;

/** Pico-USD. */
export interface Money {
  readonly balance: bigint;
  readonly available: bigint;
  readonly held: bigint;
  readonly openHolds: number;
}

const LIMIT_MS = 30_000;

/** Reads an account's balance and usage over connections that close after each request. */
export const openBook = (port: number, apiKey: string) => {
  const get = async (target: string): Promise<unknown> => {
    const { status, body } = await ask(port, { target, headers: [`authorization: Bearer ${apiKey}`] }, LIMIT_MS);
    if (status !== 200) throw new Error(`${target} is ${status}: ${body}`);
    return JSON.parse(body);
  };
  const money = async (): Promise<Money> => {
    const reported = accountBody.parse(await get('/api/account'));
    return {
      balance: parseUsd(reported.balance_usd),
      available: parseUsd(reported.available_usd),
      held: parseUsd(reported.held_usd),
      openHolds: reported.open_holds,
    };
  };
  return {
    money,
    /** Resolves when no hold is open. */
    settled: () =>
      until('the end of every hold', async () => {
        const now = await money();
        return now.openHolds === 0 && now.held === 0n ? now : undefined;
      }),
    /** Returns every usage row. */
    rows: async (): Promise<readonly UsageRow[]> => {
      const { data, has_more } = list.parse(await get('/api/usage'));
      if (has_more) throw new Error('more records than fit a page');
      return data;
    },
    row: async (requestId: string): Promise<UsageRow> => row.parse(await get(`/api/usage/${requestId}`)),
  };
};
