import { expect, test } from 'vitest';
import * as z from 'zod';
import { formatUsd, parseUsd } from '../../lambdas/core/money/usd.ts';
import type { TestGateway } from '../support/gateway.ts';
import { allEvents, MODEL, postChat, readError, saying } from '../support/gateway-chat.ts';
import { startSimulated } from './simulated-gateway.ts';

const { gateway } = await startSimulated();

const rowSchema = z.strictObject({
  id: z.string().regex(/^[0-9A-HJKMNP-TV-Z]{26}$/),
  object: z.literal('usage'),
  created_at: z.iso.datetime(),
  outcome: z.enum(['charged', 'released', 'open']),
  reason: z.string().nullable(),
  model: z.string().nullable(),
  usage: z.record(z.string(), z.int()).nullable(),
  prices_usd: z.record(z.string(), z.string()).nullable(),
  cost_usd: z.string().nullable(),
  overage: z.boolean(),
  implausible: z.boolean(),
  cut_at_stop: z.boolean(),
  end_user: z.string().nullable(),
  ignored: z.array(z.string()),
  uncollected_usd: z.string().nullable(),
  endpoint: z.string().nullable(),
  key_id: z
    .string()
    .regex(/^[0-9a-f]{16}$/)
    .nullable(),
  provider: z.string().nullable(),
  first_byte_ms: z.int().nullable(),
  total_ms: z.int().nullable(),
});
const openSchema = rowSchema.extend({ held_usd: z.string() });
const listSchema = z.strictObject({
  object: z.literal('list'),
  data: z.array(rowSchema),
  has_more: z.boolean(),
  next_cursor: z.string().nullable(),
});

/** Creates an account whose usage contains only this test's requests. */
const newcomer = async (): Promise<TestGateway> => ({ ...gateway, ...(await gateway.issue({ balanceUsd: '5' })) });

const get = ({ url, apiKey }: TestGateway, target: string): Promise<Response> =>
  fetch(`${url}${target}`, { headers: { authorization: `Bearer ${apiKey}` } });

const list = async (asked: TestGateway, query = '') => {
  const response = await get(asked, `/api/usage${query}`);
  expect(response.status).toBe(200);
  return listSchema.parse(await response.json());
};

const idOf = ({ headers }: Response): string => headers.get('x-request-id') ?? '';

const asked = async (by: TestGateway, body: object): Promise<Response> => {
  const response = await postChat(by, body);
  await response.text();
  return response;
};

test('BILL-15 charged and released requests are listed, newest first, to the pico-dollar', async () => {
  const mine = await newcomer();
  const good = await asked(mine, { messages: saying('hello'), user: 'user-7' });
  const bad = await asked(mine, { messages: saying('hello [[status 500]]') });
  const refused = await asked(mine, { messages: [] });
  expect([good.status, bad.status, refused.status]).toEqual([200, 502, 400]);
  const stream = await postChat(mine, { messages: saying('hello'), stream: true });
  await allEvents(stream);

  const { data, has_more } = await list(mine);
  expect(data.map(({ id }) => id)).toEqual([stream, bad, good].map(idOf));
  expect(has_more).toBe(false);
  const [, released, charged] = data;
  expect(released).toMatchObject({ outcome: 'released', reason: 'upstream_error', model: MODEL, cost_usd: '0' });
  expect(charged).toMatchObject({ outcome: 'charged', reason: null, model: MODEL, end_user: 'user-7', overage: false });
  expect(charged?.cost_usd).toBe(good.headers.get('x-service-cost-usd'));
  const { usage, prices_usd: prices } = charged ?? {};
  const priced = (count: string, price: string) => BigInt(usage?.[count] ?? 0) * parseUsd(prices?.[price] ?? '0');
  const total = priced('input', 'input') + priced('output', 'output') + priced('reasoning', 'output');
  expect(formatUsd(total)).toBe(charged?.cost_usd);
  for (const row of data) {
    expect([row.endpoint, row.key_id, row.provider]).toEqual(['/v1/chat/completions', charged?.key_id, 'openai']);
    const { first_byte_ms: first, total_ms: total } = row;
    expect(total).toBeGreaterThanOrEqual(row === released ? 0 : (first ?? Infinity));
    const one = await get(mine, `/api/usage/${row.id}`);
    expect([one.status, await one.json()]).toEqual([200, row]);
  }
});

test('BILL-15 pages have no loss or repetition while new requests arrive', async () => {
  const mine = await newcomer();
  const send = async (count: number): Promise<readonly string[]> => {
    const one = () => asked(mine, { messages: saying('hi'), max_tokens: 20 });
    return (await Promise.all(Array.from({ length: count }, one))).map(idOf);
  };
  const sent = await send(25);
  const pages: string[][] = [];
  let cursor: string | null = null;
  do {
    const page: z.infer<typeof listSchema> = await list(mine, `?limit=10${cursor ? `&cursor=${cursor}` : ''}`);
    pages.push(page.data.map(({ id }) => id));
    expect(page.has_more).toBe(page.next_cursor !== null);
    cursor = page.next_cursor;
    await send(2);
  } while (cursor !== null);
  expect(pages.map(({ length }) => length)).toEqual([10, 10, 5]);
  expect(pages.flat()).toEqual(sent.toSorted().toReversed());
});

test('BILL-15 filters combine, and each of them finds its requests only', async () => {
  const mine = await newcomer();
  const good = await asked(mine, { messages: saying('hello'), user: 'user-7' });
  const bad = await asked(mine, { messages: saying('hello [[status 500]]'), user: 'user-8' });
  const [{ created_at: at = '', key_id: key = '' } = {}] = (await list(mine)).data;
  const found = async (query: string) => (await list(mine, `?${query}`)).data.map(({ id }) => id);
  expect(await found(`key=${key}&model=${MODEL}&day=${at.slice(0, 10)}`)).toEqual([bad, good].map(idOf));
  expect(await found(`key=${key}&outcome=charged`)).toEqual([idOf(good)]);
  expect(await found('outcome=released')).toEqual([idOf(bad)]);
  expect(await found('end_user=user-7')).toEqual([idOf(good)]);
  expect(await found(`end_user=user-7&outcome=released`)).toEqual([]);
  expect(await found('key=0123456789abcdef')).toEqual([]);
  expect(await found('day=2020-01-01')).toEqual([]);
  const wrong = await get(mine, '/api/usage?outcome=open');
  expect([wrong.status, (await readError(wrong)).param]).toEqual([400, 'outcome']);
});

const summarySchema = z.strictObject({
  object: z.literal('usage_summary'),
  from: z.iso.date(),
  to: z.iso.date(),
  group_by: z.array(z.string()),
  total: z.looseObject({ requests: z.int(), cost_usd: z.string() }),
  data: z.array(z.looseObject({ requests: z.int(), cost_usd: z.string(), input_tokens: z.int() })),
  complete: z.boolean(),
  incomplete_days: z.array(z.string()),
});

test('BILL-23 a summary equals the receipts, and its route is not a receipt', async () => {
  const mine = await newcomer();
  for (const user of ['user-7', 'user-8', 'user-7']) await asked(mine, { messages: saying('hello'), user });
  await asked(mine, { messages: saying('hello [[status 500]]'), user: 'user-7' });
  const { data } = await list(mine);
  const charged = data.filter(({ outcome }) => outcome === 'charged');
  const sum = (rows: typeof data) => formatUsd(rows.reduce((all, row) => all + parseUsd(row.cost_usd ?? '0'), 0n));
  const response = await get(mine, '/api/usage/summary?group_by=end_user,model,key');
  const summary = summarySchema.parse(await response.json());
  expect(summary.total).toMatchObject({ requests: 3, cost_usd: sum(charged) });
  const of7 = charged.filter(({ end_user: user }) => user === 'user-7');
  expect(summary.data[0]).toMatchObject({
    model: MODEL,
    key_id: charged[0]?.key_id,
    end_user: 'user-7',
    other: false,
    requests: 2,
    cost_usd: sum(of7),
    input_tokens: of7.reduce((all, { usage }) => all + (usage?.input ?? 0) + (usage?.cache_read ?? 0), 0),
  });
  expect(summary).toMatchObject({ complete: true, group_by: ['model', 'key', 'end_user'] });
  const csv = await get(mine, '/api/usage/summary?format=csv');
  expect(await csv.text()).toMatch(/^day,requests,cost_usd,input_tokens,output_tokens,complete\r\n\d{4}-\d\d-\d\d,3,/);
  const wrong = await get(mine, '/api/usage/summary?group_by=hour');
  expect([wrong.status, (await readError(wrong)).param]).toEqual([400, 'group_by']);
});

test('BILL-15 a time range has the requests that arrived in it', async () => {
  const mine = await newcomer();
  await asked(mine, { messages: saying('one') });
  const [only] = (await list(mine)).data;
  const came = only?.created_at ?? '';
  const later = new Date(Date.parse(came) + 1).toISOString();
  const within = async (query: string): Promise<number> => (await list(mine, query)).data.length;
  expect(await within(`?from=${came}&to=${later}`)).toBe(1);
  expect(await within(`?from=${later}`)).toBe(0);
  expect(await within(`?to=${came}`)).toBe(0);
  expect(await within(`?from=${came.slice(0, 10)}&to=${came.slice(0, 10)}`)).toBe(1);
});

test('BILL-15 the CSV list has the same rows', async () => {
  const mine = await newcomer();
  const first = await asked(mine, { messages: saying('hello'), user: '=1+1' });
  const second = await asked(mine, { messages: saying('hello'), user: 'a "b", c' });
  const response = await get(mine, '/api/usage?format=csv&limit=1');
  expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  const newest = await response.text();
  expect(newest).toMatch(/^id,created_at,outcome,[^\r\n]+\r\n/);
  expect(newest).toContain(`\r\n${idOf(second)},`);
  expect(newest).toContain(`,${second.headers.get('x-service-cost-usd')},false,"a ""b"", c",,,/v1/chat/completions,`);
  const next = response.headers.get('x-service-next-cursor') ?? '';
  const older = await (await get(mine, `/api/usage?format=csv&cursor=${next}`)).text();
  expect(older).toContain(`\r\n${idOf(first)},`);
  expect(older).toContain(",false,'=1+1,,,/v1/chat/completions,");
  expect(older).not.toMatch(/[{}]/);
});

test('BILL-15 a running request is open, with its hold, and not in the list', async () => {
  const mine = await newcomer();
  // Only the headers of a stream have the id of a running request.
  const running = await postChat(mine, { messages: saying('hello [[words 30]] [[stall 6]]'), stream: true });
  const row = openSchema.parse(await (await get(mine, `/api/usage/${idOf(running)}`)).json());
  expect(row).toMatchObject({ id: idOf(running), outcome: 'open', cost_usd: null, model: null });
  expect(parseUsd(row.held_usd)).toBeGreaterThan(0n);
  expect((await list(mine)).data).toEqual([]);
  expect(await (await get(mine, '/api/account')).json()).toMatchObject({ open_holds: 1 });
  await running.body?.cancel();
});

test("AUTH-7 another account's request is 404, and its cursor reveals nothing of it", async () => {
  const [mine, other] = [await newcomer(), await newcomer()];
  const theirs = await Promise.all([1, 2, 3].map(() => asked(other, { messages: saying('secret') })));
  const own = await asked(mine, { messages: saying('hello') });
  for (const answer of theirs) {
    const response = await get(mine, `/api/usage/${idOf(answer)}`);
    expect(response.status).toBe(404);
    expect((await readError(response)).code).toBe('not_found');
  }
  const { next_cursor: cursor } = await list(other, '?limit=1');
  const { data } = await list(mine, `?cursor=${cursor}`);
  expect([[], [idOf(own)]]).toContainEqual(data.map(({ id }) => id));
  expect((await list(mine)).data.map(({ id }) => id)).toEqual([idOf(own)]);
});
