import { expect, test } from 'vitest';
import { LOW_BALANCE_THRESHOLD_DEFAULT } from '../../../../lambdas/core/accounts/low-balance.ts';
import { formatUsd, parseUsd } from '../../../../lambdas/core/money/usd.ts';
import { fails, withFaults, withKeyFaults, withRecordFaults } from '../../../support/memory/faults.ts';
import {
  ACCOUNT,
  type AppService,
  createAppService,
  ended,
  firstKey,
  firstKeyId,
} from '../../functions/wiring/app-service.ts';

const DAY_MS = 86_400_000;

const credit = ({ ledger }: AppService, usd: string) =>
  ledger.credit({ accountId: ACCOUNT, ref: usd, amountPicos: parseUsd(usd), reason: 'test', at: 0 });

test('KEY-4 the account shows its money, key and threshold, and no days if nothing was spent', async () => {
  const service = await createAppService();
  await credit(service, '10.5');
  const hold = {
    holdId: 'h.0',
    amountPicos: parseUsd('0.25'),
    expiresAtMs: 9,
    sweepAtMs: 0,
    previousHoldId: undefined,
  };
  await service.ledger.hold({ accountId: ACCOUNT, ...hold });
  const { status, body } = await service.get('/app/api/account');
  expect([status, body]).toEqual([
    200,
    {
      id: ACCOUNT,
      status: 'active',
      balance_usd: '10.5',
      available_usd: '10.25',
      held_usd: '0.25',
      open_holds: 1,
      days_left: null,
      threshold_usd: formatUsd(LOW_BALANCE_THRESHOLD_DEFAULT),
      key: {
        id: firstKeyId,
        masked: `${firstKey.slice(0, 15)}…${firstKey.slice(-4)}`,
        issued_at: '2026-11-20T12:00:00.000Z',
        revoked: false,
      },
      top_up_url: null,
      top_up_text: null,
    },
  ]);
});

test('KEY-4 the days left follow from the balance and the spend of the last seven days', async () => {
  const service = await createAppService();
  const now = service.clock.now();
  await credit(service, '10');
  const cost = { amountPicos: parseUsd('3.5') };
  await service.ledger.putRecord(ended(now - DAY_MS, cost));
  await service.ledger.putRecord(ended(now - 7 * DAY_MS, cost));
  await service.ledger.putRecord(ended(now - 7 * DAY_MS - 1, cost));
  await service.ledger.putRecord(ended(now - 1, { outcome: 'released', amountPicos: 0n, reason: 'upstream_error' }));
  expect((await service.get('/app/api/account')).body.days_left).toBe(10);
});

test('KEY-4 the account shows that it has no API key, or that the key is revoked', async () => {
  const { get, deps } = await createAppService();
  const current = await deps.keys.currentKey(ACCOUNT);
  await deps.keys.revokeKey(ACCOUNT, current?.hash ?? '');
  expect((await get('/app/api/account')).body.key).toMatchObject({ id: firstKeyId, revoked: true });
  const bare = await createAppService(({ keys }) => ({
    keys: { ...withKeyFaults(keys, {}), currentKey: async () => undefined },
  }));
  expect((await bare.get('/app/api/account')).body.key).toBeNull();
});

test('BILL-14 the account is 503 while its sums or its records cannot be read', async () => {
  const noSums = await createAppService(({ ledgerStore }) => ({
    ledgerStore: withFaults(ledgerStore, { readAccount: fails }),
  }));
  expect((await noSums.get('/app/api/account')).status).toBe(503);
  const noRecords = await createAppService(({ ledgerRecords }) => ({
    ledgerRecords: withRecordFaults(ledgerRecords, { listRecords: fails }),
  }));
  expect((await noRecords.get('/app/api/account')).status).toBe(503);
});

test('KEY-4 with too many requests to read, the latest determine the spend rate', async () => {
  const service = await createAppService();
  const now = service.clock.now();
  await credit(service, '10');
  const cost = { amountPicos: parseUsd('0.001') };
  await service.ledger.putRecord(ended(now - DAY_MS));
  for (let second = 1; second <= 5_001; second += 1) {
    await service.ledger.putRecord(ended(now - second * 1_000, cost));
  }
  // 4,999 thousandths of a USD in 5,000 seconds.
  expect((await service.get('/app/api/account')).body.days_left).toBe(0.1);
  expect(10 / ((4_999 * 0.001) / (5_000 / 86_400))).toBeCloseTo(0.116, 3);
});
