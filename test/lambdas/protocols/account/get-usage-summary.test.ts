import { expect, test } from 'vitest';
import { FIRST_KEY_PROPERTIES, type KeyRing } from '../../../../lambdas/core/accounts/key-ring.ts';
import { keyIdOf } from '../../../../lambdas/core/accounts/keys.ts';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import type { UsageCell } from '../../../../lambdas/core/ledger/usage-sums.ts';
import { renderRequestId } from '../../../../lambdas/core/request-id.ts';
import type { Exchange } from '../../../../lambdas/http/exchange.ts';
import { createGetUsageSummary, readSummaryQuery } from '../../../../lambdas/protocols/account/get-usage-summary.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { MemoryLedgerStore } from '../../../support/memory/memory-ledger-store.ts';
import { functionUrlEvent } from '../../http/function-url.ts';

const NOW = Date.UTC(2026, 10, 26, 12);
const ID = 'account-1';

test('BILL-23 without parameters the summary has the last thirty days, by day', () => {
  const day = new Set(['day']);
  const last = { fromDay: '2026-10-28', toDay: '2026-11-26', groups: day, format: 'json' };
  expect(readSummaryQuery({}, NOW)).toEqual(last);
  expect(readSummaryQuery({ from: '', to: '', group_by: '', format: '' }, NOW)).toEqual(last);
  expect(readSummaryQuery({ to: '2026-03-01' }, NOW)).toEqual({ ...last, fromDay: '2026-01-31', toDay: '2026-03-01' });
});

test('BILL-23 a summary has at most 92 days and any groups', () => {
  const query = { from: '2026-08-27', to: '2026-11-26', group_by: 'end_user,key,model,day', format: 'csv' };
  expect(readSummaryQuery(query, NOW)).toEqual({
    fromDay: '2026-08-27',
    toDay: '2026-11-26',
    groups: new Set(['end_user', 'key', 'model', 'day']),
    format: 'csv',
  });
});

test.each<readonly [param: string, query: Readonly<Record<string, string>>]>([
  ['from', { from: '2026-08-26', to: '2026-11-26' }],
  ['from', { from: '2026-11-20T08:00:00Z' }],
  ['from', { from: '2026-02-30' }],
  ['to', { from: '2026-11-20', to: '2026-11-19' }],
  ['to', { from: '2026-11-27' }],
  ['to', { to: 'today' }],
  ...['hour', 'day,', 'Day', 'day;model', 'key_id'].map((group_by) => ['group_by', { group_by }] as const),
  ['format', { format: 'xml' }],
  ['model', { model: 'alpha-1' }],
])('BILL-23 a wrong %s gets an error that names it: %o', (param, query) => {
  const refused = () => readSummaryQuery(query, NOW);
  expect(refused).toThrow(GatewayError);
  expect(refused).toThrow(new RegExp(`^${param}: `));
  try {
    refused();
  } catch (error) {
    expect(error).toMatchObject({ code: 'invalid_request_error', param });
  }
});

const label = { prefix: 'sk', lastFour: 'last' };
const first = { hash: 'first', label, issuedAtMs: NOW, isShown: true, isRevoked: false };
const ringOf = (...names: readonly string[]): KeyRing => ({
  version: 1,
  first,
  firstProperties: FIRST_KEY_PROPERTIES,
  named: names.map((name) => ({ name, hash: name, label, createdAtMs: NOW, manage: false, version: 1, limits: {} })),
});

/** Returns the response for an account with these charges of today. */
const summaryOf = async (
  query: string,
  charges: readonly Partial<UsageCell>[] = [],
  ring = ringOf(),
  callerHash?: string,
) => {
  const memory = new MemoryLedgerStore();
  await memory.createAccount(ID, NOW);
  for (const [index, { amountPicos = 1n, ...names }] of charges.entries()) {
    const requestId = renderRequestId({ atMs: NOW - 1_000, random: index });
    const record = { accountId: ID, requestId, holdId: `${requestId}.0`, outcome: 'settled', at: NOW } as const;
    await memory.putRecord({ ...record, amountPicos, usage: { input: 2, output: 1 }, ...toNames(names) });
  }
  const rings: string[] = [];
  const keys = {
    ring: async (accountId: string) => {
      rings.push(accountId);
      return ring;
    },
  };
  const deps = { store: memory, records: memory, keys, clock: new ManualClock(NOW), random: () => 0 };
  const handle = createGetUsageSummary(deps, () => ID);
  const admission = callerHash === undefined ? undefined : { key: { keyId: keyIdOf(callerHash) } };
  const exchange = {
    admission,
    event: {
      ...functionUrlEvent({ path: '/api/usage/summary' }),
      queryStringParameters: Object.fromEntries(new URLSearchParams(query)),
    },
    startedAtMs: NOW,
  };
  const { body, headers } = await handle(exchange as unknown as Exchange);
  return { body: String(body), headers, rings };
};

const toNames = ({ model, keyId, endUser }: Partial<UsageCell>) => ({
  ...(model !== undefined && { model }),
  ...(keyId !== undefined && { keyId }),
  ...(endUser !== undefined && { endUser }),
});

test('BILL-23 a row has the names of its groups, and a missing name is null', async () => {
  const sums = { input_tokens: 2, output_tokens: 1, requests: 1 };
  const { body } = await summaryOf('group_by=model,key&from=2026-11-26', [
    { model: 'alpha-1', keyId: '0123456789abcdef', amountPicos: 1_500_000_000_000n },
    { model: 'beta-2' },
  ]);
  expect(JSON.parse(body)).toEqual({
    object: 'usage_summary',
    from: '2026-11-26',
    to: '2026-11-26',
    group_by: ['model', 'key'],
    total: { requests: 2, cost_usd: '1.500000000001', input_tokens: 4, output_tokens: 2 },
    data: [
      { model: 'alpha-1', key_id: '0123456789abcdef', key_name: null, other: false, cost_usd: '1.5', ...sums },
      { model: 'beta-2', key_id: null, key_name: null, other: false, cost_usd: '0.000000000001', ...sums },
    ],
    complete: true,
    incomplete_days: [],
  });
});

test('BILL-23 an account without charges has an empty summary with a total of 0', async () => {
  const { body } = await summaryOf('');
  const total = { requests: 0, cost_usd: '0', input_tokens: 0, output_tokens: 0 };
  expect(JSON.parse(body)).toMatchObject({ group_by: ['day'], total, data: [], complete: true });
});

test('BILL-23 CSV has one line per row, and a formula in an end user is defused', async () => {
  const { body, headers } = await summaryOf('group_by=end_user&format=csv&from=2026-11-26', [
    { endUser: '=HYPERLINK("x")', amountPicos: 2n },
    { endUser: 'a,b' },
  ]);
  expect(headers).toMatchObject({
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': 'attachment; filename="usage-2026-11-26-2026-11-26.csv"',
  });
  expect(body.split('\r\n')).toEqual([
    'end_user,other,requests,cost_usd,input_tokens,output_tokens,complete',
    '"\'=HYPERLINK(""x"")",false,1,0.000000000002,2,1,true',
    '"a,b",false,1,0.000000000001,2,1,true',
    '',
  ]);
});

test('BILL-23 a row has the present name of its API key, defused in CSV', async () => {
  const charges = ['first', '=Shop', 'deleted'].map((hash, index) => ({
    keyId: keyIdOf(hash),
    amountPicos: BigInt(9 - index),
  }));
  const { body } = await summaryOf('group_by=key', charges, ringOf('=Shop'));
  const namesIn = (text: string) => JSON.parse(text).data.map((row: Record<string, string>) => row.key_name);
  expect(namesIn(body)).toEqual(['First key', '=Shop', null]);
  const csv = await summaryOf('group_by=key&format=csv', charges, ringOf('=Shop'));
  expect(csv.body.split('\r\n').map((line) => line.split(',').slice(0, 2))).toEqual([
    ['key_id', 'key_name'],
    [keyIdOf('first'), 'First key'],
    [keyIdOf('=Shop'), "'=Shop"],
    [keyIdOf('deleted'), ''],
    [''],
  ]);
});

test('BILL-23 a summary without the group of the keys does not read them', async () => {
  expect((await summaryOf('group_by=key')).rings).toEqual([ID]);
  expect((await summaryOf('group_by=model,end_user')).rings).toEqual([]);
});

test('BILL-23 an API key without manage reads only its own name in the summary', async () => {
  const charges = ['first', 'shop', 'other'].map((hash, index) => ({
    keyId: keyIdOf(hash),
    amountPicos: BigInt(9 - index),
  }));
  const namesFor = async (callerHash: string) => {
    const { body } = await summaryOf('group_by=key', charges, ringOf('shop', 'other'), callerHash);
    return JSON.parse(body).data.map((row: Record<string, string>) => row.key_name);
  };
  expect(await namesFor('first')).toEqual(['First key', 'shop', 'other']);
  expect(await namesFor('shop')).toEqual([null, 'shop', null]);
});
