import { afterAll, beforeAll, expect, test } from 'vitest';
import { postChat, saying } from '../support/gateway-chat.ts';
import { type CliScene, openCliScene } from './cli-scene.ts';

let scene: CliScene;
beforeAll(async () => {
  scene = await openCliScene();
});
afterAll(() => scene?.stop());

let count = 0;
const because = ['--reason', 'ticket 7', '--yes'];

/** Creates an account with a credit of 10 USD under the ref "pay-1". */
const open = async (): Promise<readonly [id: string, apiKey: string]> => {
  count += 1;
  const id = `returned-${count}`;
  const { stdout } = await scene.cli('keys', 'issue', id, '--create', ...because);
  await scene.json('accounts', 'credit', id, '--amount', '10', '--ref', 'pay-1', ...because);
  return [id, stdout.trim()];
};

const send = (command: string, id: string, amount: string, ref: string, ...more: readonly string[]) =>
  scene.json('accounts', command, id, '--amount', amount, '--ref', ref, ...because, ...more);
const ofPayment = ['--of', 'pay-1'];

test('KEY-7 refunds, chargebacks and a reversal count once, and the audit is clean', async () => {
  const [id] = await open();
  const refund = await send('refund', id, '2.5', 'back-1', ...ofPayment);
  expect(refund).toMatchObject({
    status: 0,
    value: { ref: 'back-1', of: 'pay-1', balance_before_usd: '10', balance_after_usd: '7.5', repeated: false },
  });
  const again = await send('refund', id, '2.5', 'back-1', ...ofPayment);
  expect(again).toMatchObject({ status: 0, value: { balance_after_usd: '7.5', repeated: true } });
  expect((await send('chargeback', id, '7.5', 'dispute-1', ...ofPayment)).value.balance_after_usd).toBe('0');
  const won = await send('reverse-chargeback', id, '7.5', 'won-1', '--of', 'dispute-1');
  expect(won.value.balance_after_usd).toBe('7.5');
  const { value } = await scene.json('accounts', 'show', id);
  expect(value.credits).toMatchObject([
    { ref: 'pay-1', type: 'credit', of: null, amount_usd: '10', returned_usd: '2.5' },
    { ref: 'back-1', type: 'refund', of: 'pay-1', amount_usd: '2.5' },
    { ref: 'dispute-1', type: 'chargeback', of: 'pay-1', amount_usd: '7.5' },
    { ref: 'won-1', type: 'chargeback_reversed', of: 'dispute-1', amount_usd: '7.5' },
  ]);
  expect((await scene.cli('audit', '--account', id)).status).toBe(0);
});

test.for<readonly [what: string, args: readonly [string, string, string, ...string[]], status: number, text: string]>([
  ['an unknown credit', ['refund', '1', 'b', '--of', 'pay-2'], 1, '--of: the account has no credit with the ref pay-2'],
  ['an amount above the credit', ['refund', '11', 'b', '--of', 'pay-1'], 3, '--amount: 10 USD of the credit pay-1'],
  ['the ref of the credit', ['refund', '1', 'pay-1', '--of', 'pay-1'], 3, '--ref pay-1: this ref is already used'],
  ['no chargeback', ['reverse-chargeback', '1', 'w', '--of', 'pay-1'], 3, '--of: pay-1 has no chargeback'],
  ['the free credit', ['refund', '1', 'b', '--of', 'start'], 2, 'This is the free credit of a new account'],
  ['no --of', ['refund', '1', 'b'], 2, '--of'],
  ['an amount of 0', ['refund', '0', 'b', '--of', 'pay-1'], 2, 'above 0'],
  ['a debit below 0', ['debit', '11', 'd'], 3, '--amount: 10 USD are available. Nothing was changed.'],
])('KEY-7 %s ends with the fix, and nothing is changed', async ([, [command, amount, ref, ...more], status, text]) => {
  const [id] = await open();
  const before = await scene.json('accounts', 'show', id);
  const result = await send(command, id, amount, ref, ...more);
  expect([result.status, result.value]).toEqual([status, undefined]);
  expect(result.stderr).toContain(text);
  expect((await scene.json('accounts', 'show', id)).value).toEqual(before.value);
});

test('KEY-7 a debit of an unknown account exits with 1', async () => {
  const { status, stderr } = await send('debit', 'no-such-account', '1', 'd');
  expect(status).toBe(1);
  expect(stderr).toContain('no-such-account: no such account');
  expect((await scene.cli('accounts', 'show', 'no-such-account')).status).toBe(1);
});

test('AUTH-4 an account below 0 after a debit is rejected with 402 until it is credited', async () => {
  const [id, apiKey] = await open();
  const chat = async () =>
    (await postChat({ ...scene.gateway, apiKey }, { messages: saying('one'), max_tokens: 20 })).status;
  const dry = await send('debit', id, '11', 'fix-1', '--allow-negative', '--dry-run');
  expect(dry.value).toMatchObject({ balance_before_usd: '10', balance_after_usd: '-1', repeated: false });
  expect(await chat()).toBe(200);
  const debit = await send('debit', id, '11', 'fix-1', '--allow-negative');
  expect(debit.value.balance_after_usd).toMatch(/^-1\.0/);
  expect(await chat()).toBe(402);
  expect((await scene.cli('audit', '--account', id)).status).toBe(0);
  await send('credit', id, '5', 'pay-2');
  expect(await chat()).toBe(200);
});
