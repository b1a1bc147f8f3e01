import { expect, test } from 'vitest';
import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import type { ReadSecret } from '../../../../lambdas/functions/wiring/secrets.ts';
import { openVendorAccess } from '../../../../lambdas/functions/wiring/vendor-access.ts';
import { readSettings } from '../../../../lambdas/settings.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { noTables } from '../../../support/memory/memory-stores.ts';
import { data, text } from '../../core/catalog/sample-data.ts';

const catalog = loadCatalog(data([text()]));
const baseUrl = 'https://api.openai.com/v1';

/** Scene with a secret that a test changes and whose reads are counted. */
const createScene = (value: string) => {
  const clock = new ManualClock();
  const notices: unknown[] = [];
  const stored = { value, reads: 0 };
  const draws = { next: 0 };
  const read: ReadSecret = async () => {
    stored.reads += 1;
    return stored.value;
  };
  const open = (environment: Readonly<Record<string, string>> = { PROVIDER_KEYS_SECRET: 'arn:keys' }) =>
    openVendorAccess(
      catalog,
      environment,
      {
        settings: readSettings({ ...noTables, ...environment }),
        clock,
        random: () => draws.next,
        reporting: {
          finished: () => undefined,
          measured: () => undefined,
          notice: (name, details) => notices.push([name, details]),
        },
      },
      read,
    );
  return { clock, notices, stored, draws, open };
};

test('ERR-3 a replaced key is used soon, and no request waits for it', async () => {
  const { clock, stored, open } = createScene('{"OPENAI_API_KEY":"old"}');
  const access = await open();
  stored.value = '{"OPENAI_API_KEY":"new","OPENAI_BASE_URL":"https://other.example/v1"}';
  await clock.advance(59_999);
  expect(access('openai')).toMatchObject({ baseUrl, key: 'old' });
  expect(stored.reads).toBe(1);
  await clock.advance(1);
  for (let index = 0; index < 100; index += 1) expect(access('openai')).toMatchObject({ baseUrl, key: 'old' });
  await clock.flush();
  expect(access('openai')).toMatchObject({ baseUrl: 'https://other.example/v1', key: 'new' });
  expect(stored.reads).toBe(2);
});

test.each([
  ['no JSON', 'sk-canary'],
  ['a list with a wrong weight', '{"OPENAI_API_KEY":[{"key":"sk-canary","weight":-1}]}'],
  ['an object of one credential', '{"OPENAI_API_KEY":{"key":"sk-canary"}}'],
  ['no object', '"sk-canary"'],
  ['empty', ''],
  ['a list of things that are not addresses', '{"OPENAI_API_KEY":"sk-canary","OPENAI_BASE_URL":"canary"}'],
])('ERR-3, ERR-5 a secret that has become %s is logged without its text, and old keys remain', async (_name, value) => {
  const { clock, stored, notices, open } = createScene('{"OPENAI_API_KEY":"old"}');
  const access = await open();
  stored.value = value;
  await clock.advance(60_000);
  access('openai');
  await clock.flush();
  expect(access('openai')).toMatchObject({ baseUrl, key: 'old' });
  expect(notices).toEqual([['provider_keys_unreadable', { reason: 'Error' }]]);
  stored.value = '{"OPENAI_API_KEY":"new"}';
  await clock.advance(60_000);
  access('openai');
  await clock.flush();
  expect(access('openai')).toMatchObject({ baseUrl, key: 'new' });
});

test.each(['sk-canary', '"sk-canary"', '', '{"OPENAI_BASE_URL":"canary"}'])(
  'ERR-5 an unusable secret at the start is an Error without its text: %s',
  async (value) => {
    const error: unknown = await createScene(value)
      .open()
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(String(error)).not.toContain('canary');
  },
);

test('ERR-3 provider keys in environment variables are read once', async () => {
  const { clock, stored, open } = createScene('{}');
  const access = await open({ OPENAI_API_KEY: 'own' });
  await clock.advance(120_000);
  expect(access('openai')).toMatchObject({ baseUrl, key: 'own' });
  expect(access('nobody')).toBeUndefined();
  expect(stored.reads).toBe(0);
});

const two = '{"OPENAI_API_KEY":[{"key":"sk-a","name":"main"},{"key":"sk-b","weight":3}]}';

test('ERR-10 a list in the secret and in an environment variable give the same credentials', async () => {
  for (const { open, draws } of [createScene(two)]) {
    const own = { OPENAI_API_KEY: JSON.stringify(JSON.parse(two).OPENAI_API_KEY) };
    for (const access of [await open(), await open(own)]) {
      draws.next = 0.249;
      expect(access('openai')?.key).toBe('sk-a');
      draws.next = 0.25;
      expect(access('openai')?.key).toBe('sk-b');
    }
  }
});

test('ERR-10 a cooldown outlives a list that is read again in another order', async () => {
  const { clock, notices, stored, open } = createScene(two);
  const access = await open();
  expect(access('openai')?.cooldown?.refused()).toBe(true);
  expect(notices).toEqual([['credential_refused', { provider: 'openai', credential: 'main' }]]);
  stored.value = '{"OPENAI_API_KEY":[{"key":"sk-b"},{"key":"sk-a"}]}';
  await clock.advance(60_000);
  access('openai');
  await clock.flush();
  expect(stored.reads).toBe(2);
  for (let index = 0; index < 10; index += 1) expect(access('openai')?.key).toBe('sk-b');
});

test('VID-9 a stored credential is found after a reorder, and a missing one is logged', async () => {
  const { notices, open } = createScene(two);
  const access = await open();
  const created = access('openai')?.credentialId;
  const reordered = await open({ OPENAI_API_KEY: '[{"key":"sk-b"},{"key":"sk-a"}]' });
  expect(reordered('openai', created)?.key).toBe('sk-a');
  expect(notices).toEqual([]);
  const replaced = await open({ OPENAI_API_KEY: 'sk-c' });
  expect(replaced('openai', created)?.key).toBe('sk-c');
  expect(notices).toEqual([['credential_missing', { provider: 'openai', credential: created }]]);
});
