import { expect, test } from 'vitest';
import { formatUsd, parseUsd } from '../../../../lambdas/core/money/usd.ts';
import { fails, withRecordFaults } from '../../../support/memory/faults.ts';
import { createAppService, ended } from '../../functions/wiring/app-service.ts';

const spend = '/app/api/spend';
const nothing = { cost_usd: '0', requests: 0, failed: 0, models: [] };
const failed = { outcome: 'released', amountPicos: 0n, reason: 'upstream_error' } as const;

test('KEY-4 spend is exact per day and per model, and includes every day', async () => {
  const { get, ledger } = await createAppService();
  const cost = (usd: string, model: string) => ({ amountPicos: parseUsd(usd), model });
  await ledger.putRecord(ended(Date.UTC(2026, 10, 20, 11), cost('0.000000000001', 'alpha-1')));
  await ledger.putRecord(ended(Date.UTC(2026, 10, 20), cost('2', 'beta-1')));
  await ledger.putRecord(ended(Date.UTC(2026, 10, 20, 3), failed));
  await ledger.putRecord(ended(Date.UTC(2026, 10, 18, 23, 59, 59, 999), cost('999999999.1', 'alpha-1')));
  await ledger.putRecord(ended(Date.UTC(2026, 10, 17, 23, 59, 59, 999), cost('7', 'alpha-1')));
  const { status, body } = await get(`${spend}?days=3`);
  expect([status, body]).toEqual([
    200,
    {
      object: 'spend',
      from: '2026-11-18',
      to: '2026-11-20',
      complete: true,
      requests: 3,
      failed: 1,
      total_usd: '1000000001.100000000001',
      days: [
        {
          day: '2026-11-18',
          cost_usd: '999999999.1',
          requests: 1,
          failed: 0,
          models: [{ model: 'alpha-1', cost_usd: '999999999.1', requests: 1 }],
        },
        { day: '2026-11-19', ...nothing },
        {
          day: '2026-11-20',
          cost_usd: '2.000000000001',
          requests: 2,
          failed: 1,
          models: [
            { model: 'beta-1', cost_usd: '2', requests: 1 },
            { model: 'alpha-1', cost_usd: '0.000000000001', requests: 1 },
          ],
        },
      ],
      models: [
        { model: 'alpha-1', cost_usd: '999999999.100000000001', requests: 2 },
        { model: 'beta-1', cost_usd: '2', requests: 1 },
      ],
    },
  ]);
});

test.for([
  ['', 30, '2026-10-22'],
  ['?days=', 30, '2026-10-22'],
  ['?days=1', 1, '2026-11-20'],
  ['?days=90', 90, '2026-08-23'],
] as const)('KEY-4 %s returns %i days from %s on, including empty ones', async ([query, count, from]) => {
  const { get } = await createAppService();
  const { body } = await get(`${spend}${query}`);
  expect(body).toMatchObject({ from, to: '2026-11-20', complete: true, total_usd: '0', models: [] });
  expect(body.days).toHaveLength(count);
  expect(new Set(body.days.map(({ day }: { day: string }) => day)).size).toBe(count);
  expect(body.days.at(-1)).toEqual({ day: '2026-11-20', ...nothing });
});

test.for([
  ...['0', '91', '1.5', '007'].map((days) => ['days', `?days=${days}`] as const),
  ['account', '?account=another'],
] as const)('KEY-4 a wrong %s gets an error that names it: %s', async ([param, query]) => {
  const { get } = await createAppService();
  const { status, body } = await get(`${spend}${query}`);
  expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_request_error', param]);
});

test('KEY-4 spend of more records than the limit is marked as incomplete and has the latest ones', async () => {
  let read = 0;
  const { get } = await createAppService(({ ledgerRecords, clock }) => ({
    ledgerRecords: {
      ...withRecordFaults(ledgerRecords, {}),
      listRecords: async (_id, { limit }) => {
        const record = ended(clock.now(), { amountPicos: 1n });
        const records = Array.from({ length: limit }, () => {
          read += 1;
          const requestId = `${record.requestId.slice(0, 10)}${String(read).padStart(16, '0')}`;
          return { ...record, requestId, holdId: `${requestId}.0` };
        });
        return { records, more: true };
      },
    },
  }));
  const { body } = await get(spend);
  expect(read).toBe(20_000);
  // The day of the last request that was read may be incomplete.
  expect(body).toMatchObject({ complete: false, requests: 19_999, total_usd: formatUsd(19_999n) });
});

test('BILL-14 spend is 503 while the records cannot be read', async () => {
  const { get } = await createAppService(({ ledgerRecords }) => ({
    ledgerRecords: withRecordFaults(ledgerRecords, { listRecords: fails }),
  }));
  const { status, body, headers } = await get(spend);
  expect([status, body.error.code, headers['retry-after']]).toEqual([503, 'service_unavailable', '30']);
});
