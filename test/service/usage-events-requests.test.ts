import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { formatUsd, parseUsd } from '../../lambdas/core/money/usd.ts';
import type { UsageEvent } from '../../lambdas/protocols/account/usage-event.ts';
import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { Database } from '../../local/stores/sqlite/database.ts';
import { followQueue } from '../../local/usage-queue.ts';
import { postChat, saying } from '../support/gateway-chat.ts';
import { until } from '../support/gateway-process.ts';
import { type InProcessGateway, type InProcessOptions, startInProcess } from '../support/in-process-gateway.ts';
import { chatBody, postKeyed } from './keyed-requests.ts';

let vendor: Simulator;
const endings: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  vendor = await startSimulator();
});
beforeEach(() => vendor.reset());
afterAll(async () => {
  for (const end of endings.splice(0).reverse()) await end();
  await vendor.stop();
});

const start = async (options: Omit<InProcessOptions, 'vendorUrl'>): Promise<InProcessGateway> => {
  const gateway = await startInProcess({ vendorUrl: vendor.url, ...options });
  endings.push(gateway.stop);
  return gateway;
};

/** Follows the queue of a gateway from a connection of its own. Returns the events in the order of their delivery. */
const follow = async ({ databasePath }: InProcessGateway): Promise<readonly UsageEvent[]> => {
  const db = await Database.open({ path: databasePath });
  const events: UsageEvent[] = [];
  const stop = await followQueue(db, {
    publisherFor: () => async (delivered) => {
      events.push(...(delivered as readonly UsageEvent[]));
      return { failed: new Set() };
    },
    source: 'gateway-local',
    endpoint: 'receiver',
    reporting: { notice: (name) => expect.unreachable(name) },
    onFailure: (message) => expect.unreachable(message),
    pollMs: 5,
  });
  endings.push(async () => {
    await stop();
    await db.close();
  });
  return events;
};

const outcomesOf = (events: readonly UsageEvent[]) =>
  events.map(({ data }) => ('outcome' in data ? [data.outcome, data.model ?? data.reason] : []));

const sumOf = (events: readonly UsageEvent[]): bigint =>
  events.reduce((sum, { data }) => sum + ('cost_usd' in data ? parseUsd(data.cost_usd ?? '0') : 0n), 0n);

/** Returns the charges of the ledger in USD, after every hold has ended. */
const chargedTo = ({ ledger }: InProcessGateway, accountId: string): Promise<string> =>
  until('the end of every hold', async () => {
    const account = await ledger.readAccount(accountId);
    return account?.holds.size === 0 ? formatUsd(account.spentPicos) : undefined;
  });

test('OPS-20 a request with two holds that its fallback model serves has one event, the charge', async () => {
  let onHeld: (() => Promise<unknown>) | undefined;
  const gateway = await start({
    environment: { CIRCUIT_FAILURES: '1' },
    change: ({ ledgerStore }) => ({
      ledgerStore: {
        ...ledgerStore,
        hold: async (params) => {
          const reply = await ledgerStore.hold(params);
          const work = onHeld;
          onHeld = undefined;
          await work?.();
          return reply;
        },
      },
    }),
  });
  const client = await gateway.issue();
  const events = await follow(gateway);
  // The circuit opens between the first hold and its call.
  onHeld = async () => {
    const failing = { url: gateway.url, apiKey: client.apiKey, model: 'gpt-5.4' };
    expect((await postChat(failing, { messages: saying('[[status 500]]') })).status).toBe(502);
  };
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${client.apiKey}`, 'x-service-fallback-model': 'gpt-5.6-terra' },
    body: JSON.stringify({ model: 'gpt-5.4', messages: saying('hello') }),
  });
  expect([response.status, response.headers.get('x-service-model-used')]).toEqual([200, 'gpt-5.6-terra']);
  await response.text();
  const charged = await chargedTo(gateway, client.accountId);
  const records = await gateway.recordsOf(client.accountId);
  const id = response.headers.get('x-request-id');
  expect(
    records
      .filter(({ requestId }) => requestId === id)
      .map(({ outcome, reason }) => [outcome, reason])
      .toSorted(),
  ).toEqual([
    ['released', 'given_up'],
    ['settled', undefined],
  ]);
  const own = await until('the event', () => {
    const found = events.filter(({ subject }) => subject === id);
    return found.length > 0 ? found : undefined;
  });
  expect(outcomesOf(own)).toEqual([['charged', 'gpt-5.6-terra']]);
  expect(own[0]?.id).toBe(`${client.accountId}/${own[0]?.subject}.1`);
  expect(formatUsd(sumOf(own))).toBe(charged);
});

test('OPS-20 a request that was taken over has several events, and at most one charge counts', async () => {
  let aheadMs = 0;
  const gateway = await start({ now: () => Date.now() + aheadMs });
  const client = await gateway.issue();
  const events = await follow(gateway);
  const gate = vendor.gate();
  const ask = () => postKeyed({ url: gateway.url, apiKey: client.apiKey }, 'one-key', chatBody('hello'));
  const first = ask();
  await gate.waitFor(1);
  aheadMs = 600_000;
  const second = ask();
  await gate.waitFor(2);
  gate.open();
  const [lost, served] = await Promise.all([first, second]);
  expect(served.status).toBe(200);
  const charged = await chargedTo(gateway, client.accountId);
  const all = await until('five events', () => (events.length >= 5 ? events : undefined));
  const byRequest = Object.groupBy(all, ({ subject }) => String(subject));
  const [id, lostId] = [served, lost].map(({ headers }) => String(headers.get('x-request-id')));
  expect(outcomesOf(byRequest[String(lostId)] ?? [])).toEqual(
    Array.from({ length: 4 }, () => ['released', 'taken_over']),
  );
  expect(outcomesOf(byRequest[String(id)] ?? [])).toEqual([['charged', 'gpt-4.1-mini']]);
  expect(new Set(all.map((event) => event.id)).size).toBe(5);
  expect(formatUsd(sumOf(all))).toBe(charged);
});
