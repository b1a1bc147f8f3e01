import { ulid } from 'ulid';
import { expect, test } from 'vitest';
import {
  createGetUsage,
  createListUsage,
  type UsageDependencies,
} from '../../../../lambdas/protocols/account/handlers.ts';
import { fails, withFaults, withRecordFaults } from '../../../support/memory/faults.ts';
import { MemoryLedgerStore } from '../../../support/memory/memory-ledger-store.ts';
import { createChain } from '../../http/chain.ts';
import { functionUrlEvent, invoke } from '../../http/function-url.ts';

const at = Date.UTC(2026, 10, 20);
const requestId = ulid(at);

const charged = (accountId: string, id = requestId) =>
  ({ accountId, holdId: `${id}.0`, requestId: id, outcome: 'settled', amountPicos: 5n, at }) as const;

/** Sends a GET request to the route of this path, as the owner of `account-1`. */
const ask = async (deps: Partial<UsageDependencies>, target: string) => {
  const memory = new MemoryLedgerStore();
  const all = { ledgerStore: memory, ledgerRecords: memory, ...deps };
  const { pathname, searchParams } = new URL(target, 'https://gateway.test');
  const handle = pathname === '/api/usage' ? createListUsage(all) : createGetUsage(all);
  const { handler, apiKey } = await createChain({ handle });
  const event = functionUrlEvent({ path: pathname, headers: { authorization: `Bearer ${apiKey}` } });
  const answer = await invoke(handler, { ...event, queryStringParameters: Object.fromEntries(searchParams) });
  return { ...answer, body: answer.text.startsWith('{') ? JSON.parse(answer.text) : undefined };
};

test.for(['/api/usage', `/api/usage/${requestId}`])('BILL-14 %s is 503 while the store is down', async (target) => {
  const memory = new MemoryLedgerStore();
  const down = { listRecords: fails, recordsOfRequest: fails };
  const { status, headers, body } = await ask({ ledgerRecords: withRecordFaults(memory, down) }, target);
  expect([status, body.error.code, headers['retry-after']]).toEqual([503, 'service_unavailable', '30']);
});

test.for([
  'x',
  'a%00b',
  `${requestId}.0`,
  requestId.toLowerCase(),
  `8${requestId.slice(1)}`,
  'x'.repeat(3_000),
  '__proto__',
])('BILL-15 %s is not a request id: 404 without reading the store', async (id) => {
  const ledgerRecords = withRecordFaults(new MemoryLedgerStore(), { recordsOfRequest: fails });
  expect(await ask({ ledgerRecords }, `/api/usage/${id}`)).toMatchObject({
    status: 404,
    body: { error: { code: 'not_found' } },
  });
  expect(ledgerRecords.calls).toEqual([]);
});

test('BILL-15 a header has the cursor of the next page of a CSV, and is missing on the last page', async () => {
  const memory = new MemoryLedgerStore();
  for (let second = 0; second < 3; second += 1) await memory.putRecord(charged('account-1', ulid(at + second * 1_000)));
  const deps = { ledgerStore: memory, ledgerRecords: memory };
  const first = await ask(deps, '/api/usage?format=csv&limit=2');
  expect(first.headers['content-type']).toBe('text/csv; charset=utf-8');
  expect(first.headers['content-disposition']).toMatch(/^attachment/);
  const cursor = first.headers['x-service-next-cursor'];
  const second = await ask(deps, `/api/usage?format=csv&limit=2&cursor=${cursor}`);
  expect(second.headers).not.toHaveProperty('x-service-next-cursor');
  expect([first, second].map(({ text }) => text.split('\r\n').length - 2)).toEqual([2, 1]);
  const last = await ask(deps, `/api/usage?limit=2&cursor=${cursor}`);
  expect(last.body).toMatchObject({ has_more: false, next_cursor: null, data: [{ cost_usd: '0.000000000005' }] });
});

test('BILL-14 a request that is not stored yet is 503 while its account cannot be read', async () => {
  const ledgerStore = withFaults(new MemoryLedgerStore(), { readAccount: fails });
  expect((await ask({ ledgerStore }, `/api/usage/${requestId}`)).status).toBe(503);
});
