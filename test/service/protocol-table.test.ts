import { afterAll, beforeEach, expect, test } from 'vitest';
import type { TokenUsage } from '../../lambdas/core/pricing/charge.ts';
import { startSimulator } from '../../local/simulators/server.ts';
import { startGateway } from '../support/gateway.ts';
import { spentBy } from '../support/gateway-chat.ts';
import { tokenPricesOf } from '../support/protocol-prices.ts';
import { chatClient } from './protocol-table/chat.ts';
import type { ProtocolClient, Reply, TextProtocol } from './protocol-table/client.ts';
import { contentClient } from './protocol-table/generate-content.ts';
import { messagesClient } from './protocol-table/messages.ts';
import { responsesClient } from './protocol-table/responses.ts';
import { type Cell, cells, claimedCells } from './protocol-table/table.ts';
import { startTap } from './protocol-table/tap.ts';

const vendor = await startSimulator();
const tap = await startTap(vendor.url);
const gateway = await startGateway({ vendorUrl: tap.url, environment: { LOCAL_BALANCE_USD: '10000' } });
afterAll(async () => {
  await gateway.stop();
  await tap.stop();
  await vendor.stop();
});
const clients: Readonly<Record<TextProtocol, ProtocolClient>> = {
  chat_completions: chatClient(gateway),
  responses: responsesClient(gateway),
  messages: messagesClient(gateway),
  generate_content: contentClient(gateway),
};
beforeEach(async () => {
  await tap.take().catch(() => undefined);
});

/** Returns all responses of a task. */
async function repliesTo({ protocol, task, question }: Cell): Promise<readonly Reply[]> {
  const client = clients[protocol];
  return task === 'tools' ? client.tools(question) : [await client[task](question)];
}

/** CHAT-10: chat shows cached tokens and cache writes as plain input. */
const withoutCache = ({ input, cacheRead, cacheWrite, cacheWrite1h, ...answer }: TokenUsage): TokenUsage => ({
  ...answer,
  input: input + cacheRead + cacheWrite + cacheWrite1h,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
});

const titled = (cell: Cell) => [cell.title, cell] as const;
const isRefused = ({ refused }: Cell): boolean => refused !== undefined;
const servedCells = [...cells.filter((cell) => !isRefused(cell)), ...claimedCells];

test.each(servedCells.map(titled))('%s', async (_, cell) => {
  const { protocol, question, wire, answers, counts, positive } = cell;
  const { result: replies, spent } = await spentBy(gateway, () => repliesTo(cell));

  const { done, calling } = clients[protocol].finishes;
  const finishes = answers.map(({ calls }) => (calls.length > 0 ? calling : done));
  expect(replies.map(({ finish }) => finish)).toEqual(finishes);
  expect(replies.map(({ model }) => model)).toEqual(answers.map(() => question.model));
  expect(replies.map(({ calls }) => calls)).toEqual(answers.map(({ calls }) => calls));
  expect(replies.map(({ text }) => text)).toEqual(answers.map(({ text }) => expect.stringMatching(text)));

  const counted = await tap.take();
  expect(counted.map((answer) => answer.wire)).toEqual(answers.map(() => wire));
  const shown = protocol === 'chat_completions' ? withoutCache : (usage: TokenUsage) => usage;
  expect(replies.map(({ usage }) => usage)).toEqual(counted.map(({ usage }) => shown(usage)));
  for (const { usage } of counted) {
    expect(usage).toMatchObject(counts);
    for (const name of positive) expect(usage[name]).toBeGreaterThan(0);
  }

  const { atOneRate, atCacheRates } = await tokenPricesOf(gateway, question.model);
  const priceOf = protocol === 'messages' ? atCacheRates : atOneRate;
  expect(spent).toBe(counted.reduce((sum, { usage }) => sum + priceOf(usage), 0n));
  expect(spent).toBeGreaterThan(0n);
  expect(await gateway.account()).toMatchObject({ held: 0n, openHolds: 0 });
});

test.each(cells.filter(isRefused).map(titled))('%s is rejected', async (_, cell) => {
  const { result: error, spent } = await spentBy(gateway, () => repliesTo(cell).catch((thrown: unknown) => thrown));
  expect(error).toMatchObject({ status: 400, message: expect.stringContaining(cell.refused ?? '') });
  expect(await tap.take()).toEqual([]);
  expect(spent).toBe(0n);
});

/** Last day of a price and first day of the next one. */
const dated = [
  { model: 'gpt-5.6-sol', last: '2026-11-21', next: '2026-11-22' },
  { model: 'gemini-4-argon', last: '2026-11-30', next: '2026-12-01' },
];

test.each(dated)(
  'BILL-3, CAT-2 $model is sold at the price of the day: $last, $next',
  async ({ model, last, next }) => {
    const spent = [last, next].map(async (day) => {
      const now = () => Date.parse(`${day}T12:00:00Z`);
      const thatDay = await startGateway({ vendorUrl: vendor.url, environment: { LOCAL_BALANCE_USD: '10000' }, now });
      try {
        const ask = () => chatClient(thatDay).text({ model, prompt: 'Say hello', streamed: false });
        const sold = await spentBy(thatDay, ask);
        const { atOneRate } = await tokenPricesOf(thatDay, model, day);
        expect(sold.spent).toBe(atOneRate(sold.result.usage));
        return sold.spent;
      } finally {
        await thatDay.stop();
      }
    });
    const [before = 0n, after = 0n] = await Promise.all(spent);
    expect(after).toBeGreaterThan(before);
  },
);
