import { expect, test } from 'vitest';
import { balanceOf } from '../../../../lambdas/core/ledger/ledger.ts';
import { parseUsd } from '../../../../lambdas/core/money/usd.ts';
import { conflict, losesReply, withFaults } from '../../../support/memory/faults.ts';
import { ACCOUNT, type AppService, createAppService } from '../../functions/wiring/app-service.ts';

const payment = { account: ACCOUNT, ref: 'pay-1', amount_usd: '12.50' };
const refund = { account: ACCOUNT, ref: 'back-1', type: 'refund', of: 'pay-1', amount_usd: '2.5' };
const dispute = { ...refund, ref: 'dispute-1', type: 'chargeback', amount_usd: '12.5' };
const won = { ...dispute, ref: 'won-1', type: 'chargeback_reversed' };

const balance = async ({ ledger }: AppService) => {
  const account = await ledger.readAccount(ACCOUNT);
  return account && balanceOf(account);
};

/** Sends the reports in order. Returns the last response. */
const report = async (service: AppService, ...bodies: readonly object[]) => {
  let last: Awaited<ReturnType<AppService['topUp']>> | undefined;
  for (const body of bodies) last = await service.topUp(body);
  if (!last) throw new Error('no report was sent');
  return last;
};

test('KEY-7 a refund is taken from the balance, once per ref', async () => {
  const service = await createAppService();
  const { status, body } = await report(service, payment, refund);
  expect([status, body]).toEqual([200, { object: 'credit', ...refund, repeated: false, balance_usd: '10' }]);
  expect((await report(service, refund)).body).toMatchObject({ repeated: true, balance_usd: '10' });
  expect(await balance(service)).toBe(parseUsd('10'));
});

test('KEY-7 a chargeback can bring the balance below 0, and its reversal restores it', async () => {
  const service = await createAppService();
  await report(service, payment, refund);
  const { body } = await report(service, { ...dispute, amount_usd: '10' });
  expect(body).toMatchObject({ type: 'chargeback', balance_usd: '0' });
  const restored = await report(service, { ...won, of: 'dispute-1', amount_usd: '10' });
  expect(restored.body).toMatchObject({ type: 'chargeback_reversed', of: 'dispute-1', balance_usd: '10' });
});

const cases: readonly (readonly [
  what: string,
  sent: readonly object[],
  status: number,
  param: string,
  text: string,
])[] = [
  ['a refund before its credit', [refund], 404, 'of', 'Report the credit first'],
  ['a refund of an unknown account', [{ ...refund, account: 'unknown' }], 404, 'account', 'Check the id'],
  ['an amount above the credit', [payment, { ...refund, amount_usd: '12.51' }], 400, 'amount_usd', '12.5 USD'],
  [
    'a second refund above the rest',
    [payment, refund, { ...refund, ref: 'b', amount_usd: '11' }],
    400,
    'amount_usd',
    '10 USD',
  ],
  ['a refund of a refund', [payment, refund, { ...refund, ref: 'b', of: 'back-1' }], 400, 'of', 'the ref of a credit'],
  ['the ref of a credit', [payment, { ...refund, ref: 'pay-1' }], 409, 'type', 'credit of 12.5 USD'],
  [
    'the ref of a refund for a credit',
    [payment, refund, { ...payment, ref: 'back-1' }],
    409,
    'type',
    'refund of 2.5 USD',
  ],
  ['a used ref with another type', [payment, refund, { ...refund, type: 'chargeback' }], 409, 'type', 'Use a new ref'],
  ['a used ref with another amount', [payment, refund, { ...refund, amount_usd: '2' }], 409, 'amount_usd', '2.5 USD'],
  ['a used ref with another of', [payment, refund, { ...refund, of: 'pay-2' }], 409, 'of', 'of pay-1'],
  ['a reversal without a chargeback', [payment, won], 400, 'of', 'Report the chargeback first'],
  ['a reversal of a part', [payment, dispute, { ...won, amount_usd: '1' }], 400, 'amount_usd', 'of 12.5 USD'],
  ['a second reversal', [payment, dispute, won, { ...won, ref: 'won-2' }], 409, 'of', 'reversed by won-1'],
  ['a reversal of a refund', [payment, refund, { ...won, of: 'back-1' }], 400, 'of', 'the ref of a chargeback'],
  ['a refund without of', [payment, { ...refund, of: undefined }], 400, 'of', 'ref of its credit'],
  ['a credit with of', [{ ...payment, of: 'pay-0' }], 400, 'of', 'Remove of'],
  ['a debit', [{ ...payment, type: 'debit' }], 400, 'type', 'type'],
  ['an unknown type', [{ ...payment, type: 'gift' }], 400, 'type', 'chargeback_reversed'],
  ['the start credit', [{ ...refund, of: 'start' }], 400, 'of', 'not "start"'],
];

test.for(cases)('KEY-7 %s is refused with the field and the fix', async ([, sent, status, param, text]) => {
  const service = await createAppService();
  const earlier = sent.slice(0, -1);
  if (earlier.length > 0) await report(service, ...earlier);
  const before = [service.ledger.accounts(), await service.ledger.readCredits(ACCOUNT)];
  const response = await report(service, sent.at(-1) ?? {});
  expect([response.status, response.body.error.param]).toEqual([status, param]);
  expect(response.body.error.message).toContain(text);
  expect([service.ledger.accounts(), await service.ledger.readCredits(ACCOUNT)]).toEqual(before);
});

test('KEY-7 a conflict is retried; a refund with a lost result counts once', async () => {
  const service = await createAppService(({ ledgerStore }) => ({
    ledgerStore: withFaults(ledgerStore, { credit: [undefined, conflict, losesReply] }),
  }));
  await service.topUp(payment);
  const { status, body } = await service.clock.until(service.topUp(refund));
  expect([status, body.balance_usd]).toEqual([200, '10']);
  expect(await balance(service)).toBe(parseUsd('10'));
});
