import { expect, test } from 'vitest';
import { balanceOf } from '../../../../lambdas/core/ledger/ledger.ts';
import { parseUsd } from '../../../../lambdas/core/money/usd.ts';
import { conflict, fails, losesReply, withFaults } from '../../../support/memory/faults.ts';
import { ACCOUNT, type AppService, createAppService } from '../../functions/wiring/app-service.ts';

const payment = { account: ACCOUNT, ref: 'pi_3Nx/2026:11', amount_usd: '12.50' };

const balance = async ({ ledger }: AppService) => {
  const account = await ledger.readAccount(ACCOUNT);
  return account && balanceOf(account);
};

test('KEY-6 a repeated ref with another amount is 409, shows the first and credits nothing', async () => {
  const service = await createAppService();
  await service.topUp(payment);
  const { status, body } = await service.topUp({ ...payment, amount_usd: '13' });
  expect([status, body.error]).toMatchObject([409, { code: 'credit_mismatch', param: 'amount_usd' }]);
  expect(body.error.message).toContain('12.5 USD');
  expect(await balance(service)).toBe(parseUsd('12.5'));
});

test.for(['another', ACCOUNT.toUpperCase(), 'a'.repeat(64)])(
  'KEY-6 %s is not an account: 404 with its id, and nothing is written',
  async (account) => {
    const service = await createAppService();
    const before = service.ledger.accounts();
    const { status, body } = await service.topUp({ ...payment, account });
    expect([status, body.error]).toMatchObject([404, { code: 'not_found', param: 'account' }]);
    expect(service.ledger.accounts()).toEqual(before);
  },
);

test('KEY-6 an invalid account id is not looked up, and the error shows the valid form', async () => {
  const service = await createAppService();
  const account = `${ACCOUNT}#KEY`;
  await service.ledger.createAccount(account, 0);
  const { status, body } = await service.topUp({ ...payment, account });
  expect([status, body.error]).toMatchObject([400, { code: 'invalid_request_error', param: 'account' }]);
  expect(body.error.message).toContain('1 to 64 letters, digits and . _ @ : + -');
});

test.for<readonly [param: string, change: object]>([
  ...['', 'a\n', '\u202e', 'a'.repeat(65), `x#${ACCOUNT}`, '-a'].map((account) => ['account', { account }] as const),
  ['account', { account: undefined }],
  ['account', { account: 7 }],
  ...['', 'a b', 'a#b', 'é', '\u007f', 'x'.repeat(201), 'start'].map((ref) => ['ref', { ref }] as const),
  ['ref', { ref: undefined }],
  ['ref', { ref: 7 }],
  ...['0', '-1', '1000000.1', '1e3', ''].map((amount_usd) => ['amount_usd', { amount_usd }] as const),
  ['amount_usd', { amount_usd: 12.5 }],
  ['amount_usd', { amount_usd: undefined }],
  ['currency', { currency: 'EUR' }],
])('KEY-6 a wrong %s gets an error that names it: %o', async ([param, change]) => {
  const service = await createAppService();
  const { status, body } = await service.topUp({ ...payment, ...change });
  expect([status, body.error]).toMatchObject([400, { code: 'invalid_request_error', param }]);
  expect(body.error.message).toContain(param);
  expect(body.error.message).not.toMatch(/\.\.$/);
  expect(await balance(service)).toBe(0n);
});

test.for(['1000000', '0.000000000001', '999999.999999999999'])('KEY-6 %s USD are credited exactly', async (usd) => {
  const { topUp } = await createAppService();
  const { body } = await topUp({ ...payment, ref: '!~'.repeat(100), amount_usd: usd });
  expect([body.amount_usd, body.balance_usd]).toEqual([usd, usd]);
});

test('KEY-6 a conflict is retried; a lost result is credited once', async () => {
  const service = await createAppService(({ ledgerStore }) => ({
    ledgerStore: withFaults(ledgerStore, { credit: [conflict, losesReply] }),
  }));
  const { status, body } = await service.clock.until(service.topUp(payment));
  expect([status, body.balance_usd]).toEqual([200, '12.5']);
  expect(await balance(service)).toBe(parseUsd('12.5'));
});

test.for(['credit', 'readAccount'] as const)(
  'KEY-6 a top-up is 503 while %s fails, and a retry is safe',
  async (method) => {
    let isDown = true;
    const service = await createAppService(({ ledgerStore }) => ({
      ledgerStore: withFaults(ledgerStore, (called) => (isDown && called === method ? fails : undefined)),
    }));
    const { status, headers, body } = await service.clock.until(service.topUp(payment));
    expect([status, body.error.code, headers['retry-after']]).toEqual([503, 'service_unavailable', '30']);
    expect(body.error.message).toContain('same ref');
    isDown = false;
    expect((await service.topUp(payment)).body).toMatchObject({ balance_usd: '12.5', repeated: method !== 'credit' });
  },
);
