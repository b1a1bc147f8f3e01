import { expect, test } from 'vitest';
import { LOW_BALANCE_THRESHOLD_DEFAULT } from '../../../../lambdas/core/accounts/low-balance.ts';
import { formatUsd } from '../../../../lambdas/core/money/usd.ts';
import { conflict, fails, withAccountFaults } from '../../../support/memory/faults.ts';
import { createAppService } from '../../functions/wiring/app-service.ts';

const set = '/app/api/threshold';

test.for([
  ['2.500', '2.5'],
  ['0', '0'],
  ['0.000000000001', '0.000000000001'],
  ['1000000', '1000000'],
])('KEY-3 a threshold of %s is stored as %s and shown by the account', async ([given, kept]) => {
  const { get, post } = await createAppService();
  expect((await get('/app/api/account')).body.threshold_usd).toBe(formatUsd(LOW_BALANCE_THRESHOLD_DEFAULT));
  const { status, body } = await post(set, { threshold_usd: given });
  expect([status, body]).toEqual([200, { threshold_usd: kept }]);
  expect((await get('/app/api/account')).body.threshold_usd).toBe(kept);
});

test.for<readonly [param: string, body: object]>([
  ...['-0.1', '1000000.000000000001', '1e3', ''].map((threshold_usd) => ['threshold_usd', { threshold_usd }] as const),
  ['threshold_usd', { threshold_usd: 2.5 }],
  ['threshold_usd', {}],
  ['account', { threshold_usd: '1', account: 'another' }],
])('KEY-3 a wrong %s gets an error that names it: %o', async ([param, body]) => {
  const { get, post } = await createAppService();
  const answer = await post(set, body);
  expect([answer.status, answer.body.error]).toMatchObject([400, { code: 'invalid_request_error', param }]);
  expect(answer.body.error.message).not.toMatch(/\.\.$/);
  expect((await get('/app/api/account')).body.threshold_usd).toBe(formatUsd(LOW_BALANCE_THRESHOLD_DEFAULT));
});

test('KEY-3 a conflicting write is retried, and is 503 if the store stays down', async () => {
  const { post, clock } = await createAppService((deps) => ({
    accounts: withAccountFaults(deps.accounts, (method, turn) => {
      if (method !== 'setThreshold') return undefined;
      return turn === 0 ? conflict : turn < 3 ? undefined : fails;
    }),
  }));
  expect((await clock.until(post(set, { threshold_usd: '3' }))).status).toBe(200);
  expect((await clock.until(post(set, { threshold_usd: '4' }))).status).toBe(200);
  const { status, headers, body } = await clock.until(post(set, { threshold_usd: '5' }));
  expect([status, body.error.code, headers['retry-after']]).toEqual([503, 'service_unavailable', '30']);
});
