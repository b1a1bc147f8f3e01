import { expect, test } from 'vitest';
import { CredentialChoice } from '../../../lambdas/providers/credential-choice.ts';
import { parseCredentials } from '../../../lambdas/providers/credentials.ts';

const three = parseCredentials('A_KEY', '[{"key":"a","weight":2},{"key":"b","name":"second"},{"key":"c"}]');
const one = parseCredentials('A_KEY', 'a');

/** Choice with a clock and a random number that a test sets. */
const createScene = (credentials = three) => {
  const state = { now: 1_000, random: 0, draws: 0 };
  const notices: string[] = [];
  const choice = new CredentialChoice({
    now: () => state.now,
    random: () => {
      state.draws += 1;
      return state.random;
    },
    notice: (name, { provider, credential }) => void notices.push(`${name} ${provider} ${credential}`),
  });
  const choose = (wantedId?: string) => choice.choose('openai', credentials, wantedId);
  /** Returns the key that is chosen with each random number. */
  const keysAt = (...randoms: readonly number[]) =>
    randoms.map((random) => {
      state.random = random;
      return choose()?.key;
    });
  const cooldownOf = (key: string) => choose(credentials.find((each) => each.key === key)?.id)?.cooldown;
  return { state, notices, choice, choose, keysAt, cooldownOf };
};

const LAST = 1 - Number.EPSILON;

test('ERR-10 credentials are chosen by weight', () => {
  expect(createScene().keysAt(0, 0.49, 0.5, 0.74, 0.75, LAST)).toEqual(['a', 'a', 'b', 'b', 'c', 'c']);
});

test('ERR-10 one credential is always used, draws no random number and has no cooldown', () => {
  const { choose, state } = createScene(one);
  expect(choose()).toEqual({ key: 'a', credentialId: one[0]?.id });
  expect(state.draws).toBe(0);
  expect(createScene([]).choose()).toBeUndefined();
});

test('ERR-10 a limited credential gets no call for the seconds of the provider', () => {
  const { state, notices, keysAt, cooldownOf } = createScene();
  expect(cooldownOf('a')?.limited(30)).toBe(true);
  expect(keysAt(0, 0.49, 0.5, LAST)).toEqual(['b', 'b', 'c', 'c']);
  state.now += 29_999;
  expect(keysAt(0)).toEqual(['b']);
  state.now += 1;
  expect(keysAt(0)).toEqual(['a']);
  expect(notices).toEqual(['credential_limited openai #1']);
});

test('ERR-10 a refused credential gets no call for 15 minutes, whatever 429 follows', () => {
  const { state, notices, keysAt, cooldownOf } = createScene();
  expect(cooldownOf('b')?.refused()).toBe(true);
  cooldownOf('b')?.limited(1);
  state.now += 899_999;
  expect(keysAt(0.7)).toEqual(['c']);
  state.now += 1;
  expect(keysAt(0.7)).toEqual(['b']);
  expect(notices).toEqual(['credential_refused openai second']);
});

test('ERR-10 calls that were sent together report one cooldown, and a later one reports again', () => {
  const { state, notices, cooldownOf } = createScene();
  for (let index = 0; index < 3; index += 1) cooldownOf('a')?.limited(10);
  for (let index = 0; index < 3; index += 1) cooldownOf('b')?.refused();
  expect(notices).toEqual(['credential_limited openai #1', 'credential_refused openai second']);
  state.now += 10_000;
  cooldownOf('a')?.limited(10);
  expect(notices).toHaveLength(3);
});

test('ERR-10 if all cool down, the credential whose cooldown ends first is used', () => {
  const { state, keysAt, cooldownOf } = createScene();
  expect(cooldownOf('a')?.limited(30)).toBe(true);
  expect(cooldownOf('b')?.limited(20)).toBe(true);
  expect(cooldownOf('c')?.limited(40)).toBe(false);
  expect(keysAt(0, 0.5, LAST)).toEqual(['b', 'b', 'b']);
  expect(cooldownOf('b')?.limited(50)).toBe(false);
  expect(keysAt(0, LAST)).toEqual(['a', 'a']);
  state.now += 30_000;
  expect(cooldownOf('b')?.limited(50)).toBe(true);
});

test('ERR-3 the provider is refused when its last credential is, also if others are only limited', () => {
  const { cooldownOf } = createScene();
  cooldownOf('a')?.limited(30);
  expect(cooldownOf('b')?.refused()).toBe(true);
  expect(cooldownOf('c')?.refused()).toBe(true);
  expect(cooldownOf('a')?.refused()).toBe(false);
});

test('ERR-10 cooldowns of one provider do not concern another one', () => {
  const { choice, cooldownOf } = createScene();
  cooldownOf('a')?.refused();
  expect(choice.choose('relay', three)?.key).toBe('a');
});

test('VID-9 the credential of a job is used, even in a cooldown, and a missing one is replaced and logged', () => {
  const { choose, notices, cooldownOf } = createScene();
  cooldownOf('c')?.refused();
  notices.length = 0;
  expect(choose(three[2]?.id)?.key).toBe('c');
  expect(notices).toEqual([]);
  expect(choose('gone')?.key).toBe('a');
  expect(notices).toEqual(['credential_missing openai gone']);
});

test('ERR-10 a credential of weight 0 serves only its jobs, also if all others cool down', () => {
  const list = parseCredentials('A_KEY', '[{"key":"a"},{"key":"b"},{"key":"old","weight":0}]');
  const { keysAt, choose, cooldownOf, notices } = createScene(list);
  expect(keysAt(0, LAST)).toEqual(['a', 'b']);
  cooldownOf('a')?.limited(60);
  cooldownOf('b')?.limited(60);
  expect(keysAt(0, LAST)).toEqual(['a', 'a']);
  expect(choose(list[2]?.id)?.key).toBe('old');
  expect(cooldownOf('old')?.refused()).toBe(true);
  expect(notices.at(-1)).toBe('credential_refused openai #3');
  const left = createScene(parseCredentials('A_KEY', '[{"key":"a"},{"key":"old","weight":0}]'));
  expect(left.choose()?.cooldown).toBeUndefined();
});

test('ERR-10 a cooldown that started before the clock was set back is over', () => {
  const { state, keysAt, cooldownOf } = createScene();
  state.now = 3_600_000_000;
  cooldownOf('a')?.refused();
  cooldownOf('b')?.limited(30);
  expect(keysAt(0)).toEqual(['c']);
  state.now -= 3_600_000;
  expect(keysAt(0, 0.5)).toEqual(['a', 'b']);
});
