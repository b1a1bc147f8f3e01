import { expect, test } from 'vitest';
import { type CallOptions, callModel, expectOpen } from '../support/circuit-calls.ts';
import type { InProcessGateway } from '../support/in-process-gateway.ts';
import { circuitSuite } from './circuit-hostile-suite.ts';
import { hasty } from './simulated-gateway.ts';

const { open, vendor } = circuitSuite();

const stream: CallOptions = { stream: true };
const speech = (input: string): CallOptions => ({
  path: '/v1/audio/speech',
  body: { model: 'tts-1', input, voice: 'alloy' },
});
const HANGS = '[[hang]]';

/** Sends the same request of each account concurrently. Returns the statuses without repetitions. */
const statusesOf = async (
  gateway: InProcessGateway,
  accounts: readonly { readonly apiKey: string }[],
  model: string,
  words: string,
  more?: CallOptions,
): Promise<readonly number[]> => {
  const answers = await Promise.all(accounts.map((account) => callModel(gateway, account, model, words, more)));
  return [...new Set(answers.map(({ status }) => status))];
};

const accountsOf = (gateway: InProcessGateway, count: number) =>
  Promise.all(Array.from({ length: count }, () => gateway.issue({ balanceUsd: '10' })));

test.each([
  ['plain chats that take long', 'gpt-4.1-mini', HANGS, {}, 504],
  ['streams that start late', 'gpt-6-luna', HANGS, stream, 504],
  ['streams that take long', 'gpt-5.5', '[[words 20]] [[stall 5]]', stream, 200],
  ['plain chats of Gemini that take long', 'gemini-3.8-flash', HANGS, {}, 504],
  ['long speech', 'tts-1', 'hello', speech(`A ${HANGS}`), 504],
] as const)(
  'FALL-1 %s of two accounts open the circuit for no other account',
  async (_, model, words, more, status) => {
    const gateway = await open({ environment: hasty });
    const [one, other, third] = await accountsOf(gateway, 3);
    if (!one || !other || !third) throw new Error('an account is missing');
    const senders = [one, other, one, other, one, other];
    expect(await statusesOf(gateway, senders, model, words, more)).toEqual([status]);
    const short = 'path' in more ? speech('hello') : {};
    expect((await callModel(gateway, third, model, 'hello', short)).status).toBe(200);
  },
);

test('FALL-1 a dead provider opens the circuit for one account after five calls, for all after five accounts', async () => {
  const gateway = await open({ environment: hasty });
  const [first, ...others] = await accountsOf(gateway, 6);
  if (!first) throw new Error('an account is missing');
  const model = 'gpt-4.1-mini';
  expect(
    await statusesOf(
      gateway,
      Array.from({ length: 5 }, () => first),
      model,
      HANGS,
    ),
  ).toEqual([504]);
  expectOpen(await callModel(gateway, first, model, HANGS));
  expect(await statusesOf(gateway, others.slice(0, 4), model, HANGS)).toEqual([504]);
  const calls = vendor().requests.length;
  expectOpen(await callModel(gateway, others[4] ?? first, model, 'hello'));
  expect(vendor().requests).toHaveLength(calls);
});
