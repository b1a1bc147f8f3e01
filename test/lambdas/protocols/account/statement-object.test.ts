import { expect, test } from 'vitest';
import type { Statement } from '../../../../lambdas/core/ledger/statement.ts';
import { createGetStatement } from '../../../../lambdas/protocols/account/handlers.ts';
import { toStatementCsv, toStatementObject } from '../../../../lambdas/protocols/account/statement-object.ts';
import { fails, withFaults } from '../../../support/memory/faults.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { MemoryLedgerStore } from '../../../support/memory/memory-ledger-store.ts';
import { createChain } from '../../http/chain.ts';
import { functionUrlEvent, invoke } from '../../http/function-url.ts';

const AT = Date.UTC(2026, 10, 20);
const base = { reason: 'test', at: AT, month: '2026-11' } as const;

const statement: Statement = {
  month: '2026-11',
  status: 'closed',
  openingPicos: -1n,
  creditsPicos: 10_000_000_000_000n,
  returnsPicos: 1n,
  chargesPicos: 3n,
  closingPicos: 9_999_999_999_995n,
  heldPicos: 7n,
  changes: [
    { ...base, ref: '=1+2', type: 'credit', amountPicos: 10_000_000_000_000n },
    { ...base, ref: 'back', type: 'refund', amountPicos: 3n, of: '=1+2' },
    { ...base, ref: 'won', type: 'chargeback_reversed', amountPicos: 2n, of: 'a,b' },
  ],
  charges: [
    { model: undefined, requests: 1, amountPicos: 0n },
    { model: 'alpha-1', requests: 2, amountPicos: 4n },
  ],
  chargesComplete: true,
  otherMonthPicos: -1n,
};

test('BILL-22 a statement has exact amounts, and a reversal is below 0', () => {
  expect(toStatementObject(statement)).toEqual({
    object: 'statement',
    month: '2026-11',
    status: 'closed',
    opening_usd: '-0.000000000001',
    credits_usd: '10',
    returns_usd: '0.000000000001',
    charges_usd: '0.000000000003',
    closing_usd: '9.999999999995',
    held_usd: '0.000000000007',
    credits: [{ ref: '=1+2', type: 'credit', of: null, amount_usd: '10', created_at: '2026-11-20T00:00:00.000Z' }],
    returns: [
      {
        ref: 'back',
        type: 'refund',
        of: '=1+2',
        amount_usd: '0.000000000003',
        created_at: '2026-11-20T00:00:00.000Z',
      },
      {
        ref: 'won',
        type: 'chargeback_reversed',
        of: 'a,b',
        amount_usd: '-0.000000000002',
        created_at: '2026-11-20T00:00:00.000Z',
      },
    ],
    charges: [
      { model: null, requests: 1, cost_usd: '0' },
      { model: 'alpha-1', requests: 2, cost_usd: '0.000000000004' },
    ],
    charges_complete: true,
    settled_in_other_month_usd: '-0.000000000001',
  });
});

test('BILL-22 a CSV has one line per amount, and texts of clients are not formulas', () => {
  expect(toStatementCsv(toStatementObject(statement)).split('\r\n')).toEqual([
    'month,line,type,ref,of,model,requests,created_at,amount_usd,charges_complete',
    '2026-11,opening,,,,,,,-0.000000000001,true',
    "2026-11,credit,credit,'=1+2,,,,2026-11-20T00:00:00.000Z,10,true",
    "2026-11,return,refund,back,'=1+2,,,2026-11-20T00:00:00.000Z,0.000000000003,true",
    '2026-11,return,chargeback_reversed,won,"a,b",,,2026-11-20T00:00:00.000Z,-0.000000000002,true',
    '2026-11,charge,,,,,1,,0,true',
    '2026-11,charge,,,,alpha-1,2,,0.000000000004,true',
    '2026-11,settled_in_other_month,,,,,,,-0.000000000001,true',
    '2026-11,closing,,,,,,,9.999999999995,true',
    '2026-11,held,,,,,,,0.000000000007,true',
    '',
  ]);
});

test('BILL-22 an incomplete list of charges has no amount of other months', () => {
  const object = toStatementObject({ ...statement, chargesComplete: false, otherMonthPicos: undefined });
  expect([object.charges_complete, object.settled_in_other_month_usd]).toEqual([false, null]);
  expect([object.charges_usd, object.charges.length]).toEqual(['0.000000000003', 2]);
  const lines = toStatementCsv(object).split('\r\n');
  expect(lines[7]).toBe('2026-11,settled_in_other_month,,,,,,,,false');
});

const opened = async () => {
  const memory = new MemoryLedgerStore();
  await memory.createAccount('account-1', AT);
  await memory.credit({ accountId: 'account-1', ref: 'pay', amountPicos: 5n, reason: 'test', at: AT });
  return memory;
};

/** Sends a GET request as the owner of `account-1`. */
const ask = async (target: string, store: Pick<MemoryLedgerStore, 'closeMonths'> | undefined = undefined) => {
  const memory = await opened();
  const clock = new ManualClock(AT);
  const handle = createGetStatement({ store: store ?? memory, records: memory, clock, random: () => 0 });
  const { handler, apiKey } = await createChain({ handle });
  const { pathname, searchParams } = new URL(target, 'https://gateway.test');
  const event = functionUrlEvent({ path: pathname, headers: { authorization: `Bearer ${apiKey}` } });
  const pending = invoke(handler, { ...event, queryStringParameters: Object.fromEntries(searchParams) });
  if (store) await clock.advance(10_000);
  const answer = await pending;
  return { ...answer, body: answer.text.startsWith('{') ? JSON.parse(answer.text) : undefined };
};

test('BILL-22 the statement of the present month is returned as JSON or CSV', async () => {
  const { status, body } = await ask('/api/statements/2026-11');
  expect([status, body.month, body.status, body.closing_usd]).toEqual([200, '2026-11', 'open', '0.000000000005']);
  const csv = await ask('/api/statements/2026-11?format=csv');
  expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8');
  expect(csv.headers['content-disposition']).toBe('attachment; filename="statement-2026-11.csv"');
  expect(csv.text.split('\r\n')).toHaveLength(7);
  const marked = await ask('/api/statements/2026-11?format=csv&bom=true');
  expect(marked.text).toBe(`\ufeff${csv.text}`);
});

test.for([
  ['2026-13', 'month', 'month: "2026-13" is not a month. Use a form such as 2026-11.'],
  ['2026-12', 'month', 'month: 2026-12 has not begun. Use 2026-11 or an earlier month.'],
  ['2026-11?format=pdf', 'format', 'format: must be one of json, csv.'],
  ['2026-11?from=2026-11-01', 'from', 'from: unknown query parameter. Use one of format, bom.'],
])('BILL-22 %s is 400 for %s', async ([target, param, message]) => {
  const { status, body } = await ask(`/api/statements/${target}`);
  expect([status, body.error.param, body.error.message]).toEqual([400, param, message]);
});

test('BILL-22 a month before the account is 404 and names the first month', async () => {
  const { status, body } = await ask('/api/statements/2026-10');
  expect([status, body.error.code]).toEqual([404, 'not_found']);
  expect(body.error.message).toBe('This account has no statement of 2026-10. Its first statement is of 2026-11.');
});

test('BILL-14 a statement is 503 while the store is down', async () => {
  const { status, body } = await ask('/api/statements/2026-11', withFaults(await opened(), { closeMonths: fails }));
  expect([status, body.error.code]).toEqual([503, 'service_unavailable']);
});
