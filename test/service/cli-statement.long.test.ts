import { afterAll, beforeAll, expect, test } from 'vitest';
import { monthAfter, monthBefore, monthOf } from '../../lambdas/core/ledger/month.ts';
import { postChat, saying } from '../support/gateway-chat.ts';
import { type CliScene, openCliScene } from './cli-scene.ts';

const ID = 'statement-1';
const because = ['--reason', 'ticket 7', '--yes'];
let scene: CliScene;
let apiKey: string;
/** Month in which the account was created. The tests also pass if a month ends while they run. */
let month: string;

beforeAll(async () => {
  scene = await openCliScene();
  month = monthOf(Date.now());
  const { stdout } = await scene.cli('keys', 'issue', ID, '--create', ...because);
  apiKey = stdout.trim();
  await scene.json('accounts', 'credit', ID, '--amount', '10', '--ref', 'pay-1', ...because);
  await scene.json('accounts', 'refund', ID, '--amount', '2.5', '--ref', 'back-1', '--of', 'pay-1', ...because);
  await (await postChat({ ...scene.gateway, apiKey }, { messages: saying('hello') })).text();
});
afterAll(() => scene?.stop());

const fetched = (path: string) =>
  fetch(`${scene.gateway.url}/api/statements/${path}`, { headers: { authorization: `Bearer ${apiKey}` } });

test('BILL-22 the command line and the API return the same statement', async () => {
  const { status, value } = await scene.json('accounts', 'statement', ID, month);
  expect([status, value.credits_usd, value.returns_usd, value.held_usd]).toEqual([0, '10', '2.5', '0']);
  expect(value.returns).toMatchObject([{ ref: 'back-1', type: 'refund', of: 'pay-1', amount_usd: '2.5' }]);
  expect(value.charges).toMatchObject([{ requests: 1, cost_usd: value.charges_usd }]);
  const shown = await scene.json('accounts', 'show', ID);
  expect(value.closing_usd).toBe(shown.value.balance_usd);
  expect(await (await fetched(month)).json()).toEqual(value);
  const csv = await scene.cli('accounts', 'statement', ID, month, '--csv');
  expect(csv.stdout).toBe(await (await fetched(`${month}?format=csv`)).text());
  const text = await scene.cli('accounts', 'statement', ID, month);
  expect(text.stdout).toMatch(/^closing_usd +\d/m);
  expect((await scene.cli('audit', '--account', ID)).status).toBe(0);
});

test.for<readonly [what: string, args: () => readonly string[], status: number, text: string]>([
  ['an earlier month', () => [ID, monthBefore(month)], 3, 'Its first statement is of'],
  ['a future month', () => [ID, monthAfter(monthAfter(month))], 2, 'has not begun'],
  ['another form', () => [ID, '2026-13'], 2, 'Must be a month such as 2026-11.'],
  ['an unknown account', () => ['unknown', month], 1, 'no such account'],
  ['two formats', () => [ID, month, '--csv', '--json'], 2, 'mutually exclusive'],
])('BILL-22 a statement of %s ends with the fix', async ([, args, status, text]) => {
  const result = await scene.cli('accounts', 'statement', ...args());
  expect([result.status, result.stdout]).toEqual([status, '']);
  expect(result.stderr).toContain(text);
});
