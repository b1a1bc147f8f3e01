import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AppGateway, codeOf, startAppGateway } from '../support/app-gateway.ts';

let app: AppGateway;

beforeAll(async () => {
  app = await startAppGateway();
});
afterAll(() => app.stop());

test('KEY-6 a top-up makes an account without money work, and the books agree', async () => {
  const owner = await app.openApp(1);
  const poor = await app.chat(owner.apiKey);
  expect([poor.status, codeOf(poor)]).toEqual([402, 'insufficient_balance']);
  const payment = { account: owner.accountId, ref: 'payment-1', amount_usd: '2' };
  expect((await app.topUp(payment)).body).toEqual({
    object: 'credit',
    ...payment,
    repeated: false,
    balance_usd: '2',
  });
  expect((await app.chat(owner.apiKey)).status).toBe(200);
  expect(await app.audit()).toMatchObject({ status: 0, stdout: expect.stringContaining(': ok') });
});

test('KEY-6 the same payment fifty times at once is one credit on the real table', async () => {
  const { accountId } = await app.openApp(2);
  const payment = { account: accountId, ref: 'payment-1', amount_usd: '0.000000000001' };
  const send = async () => {
    // Nobody is let wait for ever by a store that is busy with so many; a provider repeats what was no success.
    for (;;) {
      const answer = await app.topUp(payment);
      if (answer.status !== 503) return answer;
    }
  };
  const answers = await Promise.all(Array.from({ length: 50 }, send));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(answers.filter(({ body }) => body.repeated === false).length).toBeLessThanOrEqual(1);
  const other = await app.topUp({ ...payment, amount_usd: '3' });
  expect([other.status, codeOf(other)]).toEqual([409, 'credit_mismatch']);
  const again = await app.topUp(payment);
  expect(again.body).toMatchObject({ repeated: true, balance_usd: '0.000000000001' });
  expect(await app.audit()).toMatchObject({ status: 0, stdout: expect.stringContaining(': ok') });
});

test('KEY-6 an account that is not there is 404, what is no id is 400, and what another secret has signed is 401', async () => {
  const { accountId } = await app.openApp(3);
  const payment = { account: accountId, ref: 'payment-1', amount_usd: '1' };
  for (const [account, refused, code] of [
    ['nobody', 404, 'not_found'],
    [`${accountId}#KEY`, 400, 'invalid_request_error'],
  ]) {
    const { status, body } = await app.topUp({ ...payment, account });
    expect([status, body.error]).toMatchObject([refused, { code, param: 'account' }]);
  }
  const forged = await app.topUp(payment, 'another-secret-of-somebody');
  expect([forged.status, codeOf(forged)]).toEqual([401, 'invalid_signature']);
  expect((await app.topUp(payment)).body.balance_usd).toBe('1');
  expect(await app.audit()).toMatchObject({ status: 0, stdout: expect.stringContaining(': ok') });
});
