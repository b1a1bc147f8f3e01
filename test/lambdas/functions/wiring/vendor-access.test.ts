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
        reporting: {
          finished: () => undefined,
          measured: () => undefined,
          notice: (name, details) => notices.push([name, details]),
        },
      },
      read,
    );
  return { clock, notices, stored, open };
};

test('ERR-3 a replaced key is used soon, and no request waits for it', async () => {
  const { clock, stored, open } = createScene('{"OPENAI_API_KEY":"old"}');
  const access = await open();
  stored.value = '{"OPENAI_API_KEY":"new","OPENAI_BASE_URL":"https://other.example/v1"}';
  await clock.advance(59_999);
  expect(access('openai')).toEqual({ baseUrl, key: 'old' });
  expect(stored.reads).toBe(1);
  await clock.advance(1);
  for (let index = 0; index < 100; index += 1) expect(access('openai')).toEqual({ baseUrl, key: 'old' });
  await clock.flush();
  expect(access('openai')).toEqual({ baseUrl: 'https://other.example/v1', key: 'new' });
  expect(stored.reads).toBe(2);
});

test.each([
  ['no JSON', 'sk-canary'],
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
  expect(access('openai')).toEqual({ baseUrl, key: 'old' });
  expect(notices).toEqual([['provider_keys_unreadable', { reason: 'Error' }]]);
  stored.value = '{"OPENAI_API_KEY":"new"}';
  await clock.advance(60_000);
  access('openai');
  await clock.flush();
  expect(access('openai')).toEqual({ baseUrl, key: 'new' });
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
  expect(access('openai')).toEqual({ baseUrl, key: 'own' });
  expect(access('nobody')).toBeUndefined();
  expect(stored.reads).toBe(0);
});
