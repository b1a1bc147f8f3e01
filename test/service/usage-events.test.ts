import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { formatUsd, parseUsd } from '../../lambdas/core/money/usd.ts';
import { Database } from '../../local/stores/sqlite/database.ts';
import { createUsageEndpoint } from '../../local/usage-endpoint.ts';
import { followQueue } from '../../local/usage-queue.ts';
import { postChat, saying } from '../support/gateway-chat.ts';
import { until } from '../support/gateway-process.ts';
import { type PostRoute, postRoutes } from '../support/hostile-routes.ts';
import { startUsageReceiver } from '../support/usage-receiver.ts';
import { silence } from './silence.ts';
import { startSimulated } from './simulated-gateway.ts';

const { gateway, another } = await startSimulated({ LOCAL_BALANCE_USD: '100' });
/** A second connection, as of another process of the same folder. */
const db = await Database.open({ path: gateway.databasePath });
const receiver = await startUsageReceiver();
afterAll(async () => {
  await receiver.stop();
  await db.close();
});

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const notices: string[] = [];
/** Text of every prompt. */
const canary = `canary-${randomUUID()}`;

const follow = () =>
  followQueue(db, {
    publisherFor: (signal) => createUsageEndpoint({ url: receiver.url, secret: SECRET, now: Date.now, signal }),
    source: 'gateway-local',
    endpoint: '127.0.0.1',
    reporting: { notice: (name) => notices.push(name) },
    onFailure: (message) => notices.push(message),
    pollMs: 5,
    retryMsMax: 20,
  });

const schema = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../docs/operations/usage-event.schema.json'), 'utf8'),
);
/** The schema also has a pattern for times. */
const isUsageEvent = new Ajv2020({ strict: true, formats: { 'date-time': true } }).compile(schema);

const rows = z.object({ data: z.array(z.looseObject({ id: z.string(), cost_usd: z.string() })) });
const usage = async () => {
  const response = await fetch(`${gateway.url}/api/usage?limit=1000`, {
    headers: { authorization: `Bearer ${gateway.apiKey}` },
  });
  return rows.parse(await response.json()).data;
};

const send = async ({ target, headers, body }: PostRoute): Promise<number> => {
  const lines = headers(gateway.apiKey).map((line) => line.split(/: (.*)/s).slice(0, 2));
  const response = await fetch(`${gateway.url}${target}`, {
    method: 'POST',
    headers: Object.fromEntries(lines),
    body: JSON.stringify(body(canary)),
  });
  await response.arrayBuffer();
  return response.status;
};

const transcribe = async (): Promise<number> => {
  const body = new FormData();
  body.set('model', 'gpt-4o-mini-transcribe');
  body.set('prompt', canary);
  body.set('file', new File([Uint8Array.from(silence())], `${canary}.wav`, { type: 'audio/wav' }));
  const headers = { authorization: `Bearer ${gateway.apiKey}` };
  const response = await fetch(`${gateway.url}/v1/audio/transcriptions`, { method: 'POST', headers, body });
  await response.text();
  return response.status;
};

/** Receipts in the events, without the fields that only an operator sees. */
const receipts = () =>
  [...receiver.byId().values()].map(({ data }) => {
    const { account_id, provider_cost_usd, ...receipt } = Object(data);
    expect([account_id, provider_cost_usd !== null]).toEqual([gateway.accountId, receipt.outcome === 'charged']);
    return receipt;
  });

test('OPS-20 a receiver that is down at first gets every receipt exactly as GET /api/usage lists it', async () => {
  receiver.state.status = 503;
  const stop = await follow();
  for (const route of postRoutes) expect([route.name, await send(route)]).toEqual([route.name, 200]);
  const answer = await postChat(gateway, { messages: saying(`[[status 500]] ${canary}`), user: 'user-7' });
  expect(answer.status).toBe(502);
  expect(await transcribe()).toBe(200);
  await until('a failed delivery', () => (notices.includes('usage_events_failed') ? true : undefined));
  await stop();
  await gateway.untilSettled();
  receiver.state.status = 204;
  const again = await follow();
  const listed = await until('every event', async () => {
    const all = await usage();
    return receiver.byId().size >= all.length && all.length > 0 ? all : undefined;
  });
  await again();
  const byId = (one: { id: string }, other: { id: string }): number => (one.id < other.id ? -1 : 1);
  expect(receipts().toSorted(byId)).toEqual(listed.toSorted(byId));
  expect(new Set(listed.map(({ outcome }) => outcome))).toEqual(new Set(['charged', 'released']));
  expect(new Set(listed.map(({ endpoint }) => endpoint)).size).toBeGreaterThan(8);
});

test('OPS-20 the costs of all events by id are the charges of the ledger, to the pico-dollar', async () => {
  const { balance } = await gateway.account();
  const sum = receipts().reduce((total, { cost_usd }) => total + parseUsd(cost_usd), 0n);
  expect(formatUsd(sum)).toBe(formatUsd(parseUsd('100') - balance));
  expect(sum).toBeGreaterThan(0n);
});

test('OPS-20 the event of every kind of request matches the published schema', () => {
  for (const event of receiver.byId().values()) {
    isUsageEvent(event);
    expect([event.id, isUsageEvent.errors]).toEqual([event.id, null]);
  }
  expect(isUsageEvent({ ...[...receiver.byId().values()][0], time: 'yesterday' })).toBe(false);
});

test('OPS-20 no event has a prompt, an API key, a provider key or the signing secret', () => {
  const sent = receiver.state.batches.map(({ headers, body }) => `${JSON.stringify(headers)}${body}`).join('\n');
  for (const secret of [canary, gateway.apiKey, SECRET, SECRET.slice(6)]) expect(sent).not.toContain(secret);
  expect(JSON.stringify(notices)).not.toContain(canary);
});

const storeCalls = ['write', 'writeDurably', 'read', 'peek', 'checkDisk', 'foreignCommits'] as const;

test('OPS-20 a request makes the same store calls with usage events, also while the receiver is down', async () => {
  const other = await another({});
  const watcher = await Database.open({ path: other.databasePath });
  const chat = async (): Promise<void> => {
    await (await postChat(other, { messages: saying('hello') })).text();
    await other.untilSettled();
  };
  /** Calls of the gateway, without those of the process that delivers. */
  const callsOf = async (request: () => Promise<void>): Promise<readonly number[]> => {
    const spies = storeCalls.map((name) => vi.spyOn(Database.prototype, name));
    await request();
    const counts = spies.map(({ mock }) => mock.contexts.filter((context) => context !== watcher).length);
    for (const spy of spies) spy.mockRestore();
    return counts;
  };
  await chat();
  const without = await callsOf(chat);
  const stop = await followQueue(watcher, {
    publisherFor: () => async (events) => ({ failed: new Set(events.map(({ id }) => id)), reason: 'down' }),
    source: 'gateway-local',
    endpoint: '127.0.0.1',
    reporting: { notice: () => undefined },
    onFailure: (message) => expect.unreachable(message),
    pollMs: 5,
  });
  expect(await callsOf(chat)).toEqual(without);
  expect(without[1]).toBeGreaterThan(0);
  await stop();
  expect(watcher.sql('SELECT count(*) AS waiting FROM usage_events').get()).toEqual({ waiting: 1n });
  await watcher.close();
});
