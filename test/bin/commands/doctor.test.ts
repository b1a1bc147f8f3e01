import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { checkLocalClocks } from '../../../bin/commands/doctor/store-checks.ts';
import { joinDataFolder, readOrCreateSecret } from '../../../local/data-folder.ts';
import { openEmbeddedStores } from '../../../local/embedded-stores.ts';
import type { Environment } from '../../support/gateway-process.ts';
import { runHere } from '../../support/scripted-terminal.ts';

let DATA_DIR: string;
beforeAll(async () => {
  DATA_DIR = join(mkdtempSync(join(tmpdir(), 'doctor-')), 'data');
  const folder = joinDataFolder(DATA_DIR);
  readOrCreateSecret(folder, 'pepper', () => 'p'.repeat(64));
  await (await openEmbeddedStores(folder.room('database'), { filesFolder: folder.room('files') })).close();
  folder.close();
});

const examine = async (environment: Environment) => {
  const { status, stdout } = await runHere(['doctor'], { DATA_DIR, ...environment });
  const statusOf = (check: string) =>
    stdout
      .split('\n')
      .find((line) => line.includes(`  ${check} `))
      ?.split(' ')[0];
  return { status, stdout, statusOf };
};

test('OPS-5 the doctor reports no failure for the data folder of a development machine', async () => {
  const { status, stdout, statusOf } = await examine({});
  expect([status, statusOf('data folder'), statusOf('settings'), statusOf('pepper')]).toEqual([0, 'ok', 'ok', 'ok']);
  expect(stdout).toContain('`npm start` simulates these providers');
  expect(stdout).not.toMatch(/^failure/m);
});

const production = { MODE: 'production', PUBLIC_URL: 'https://api.example.com', OPENAI_API_KEY: 'key' };

test('OPS-5 the doctor expects neither simulators nor AWS on a production host', async () => {
  const { status, stdout, statusOf } = await examine({ ...production, CREDITS: 'off' });
  const checks = ['data folder', 'settings', 'addresses', 'pepper', 'top-up key', 'provider keys', 'bot token'];
  const expected = checks.map((check) => (check === 'provider keys' ? 'warning' : 'ok'));
  expect([status, ...checks.map(statusOf)]).toEqual([0, ...expected]);
  expect(stdout).not.toMatch(/npm start|credentials|tables|bucket/);
});

test('OPS-5 OPS-6 the doctor names the settings that prevent a host from starting', async () => {
  const { status, stdout, statusOf } = await examine({
    ...production,
    PORT: 'eighty',
    TOP_UP_KEY: 'short',
    PUBLIC_URL: '',
  });
  expect([status, statusOf('settings'), statusOf('addresses')]).toEqual([1, 'failure', 'warning']);
  expect(stdout).toMatch(/^failure +settings +PORT: must be .* TOP_UP_KEY: must have at least 16 characters/m);
  expect((await examine({ ...production, OPENAI_API_KEY: '' })).statusOf('provider keys')).toBe('failure');
});

test('ERR-10 the doctor counts the credentials of a list, and names the place of a malformed one', async () => {
  const list = '[{"key":"sk-canary-1"},{"key":"sk-canary-2","weight":3}]';
  const { stdout, statusOf } = await examine({ ...production, OPENAI_API_KEY: list });
  expect(statusOf('provider keys')).toBe('warning');
  expect(stdout).toContain('several credentials: OPENAI_API_KEY (2)');
  const wrong = await examine({ ...production, OPENAI_API_KEY: '[{"key":"sk-canary-1","weight":"3"}]' });
  expect([wrong.status, wrong.statusOf('provider keys')]).toEqual([1, 'failure']);
  expect(wrong.stdout).toContain('OPENAI_API_KEY[0].weight: must be a number.');
  expect(stdout + wrong.stdout).not.toContain('canary');
});

test('OPS-5 the doctor reports a running gateway with another clock, and no clock of one that ended', async () => {
  const nowMs = Date.UTC(2026, 10, 20);
  const beat = (name: string, aheadMs: number) => ({
    name,
    atMs: nowMs + aheadMs,
    count: 1,
    stepAgeMs: Number.POSITIVE_INFINITY,
  });
  const examineClocks = async (rows: ReturnType<typeof beat>[], beats: string[]) => {
    let reads = 0;
    let waitedMs = 0;
    const stores = {
      beats: () => {
        reads += 1;
        return rows.map((row) => (reads > 5 && beats.includes(row.name) ? { ...row, count: 2 } : row));
      },
    };
    const wait = async (ms: number) => (waitedMs += ms);
    const { status, detail } = await checkLocalClocks({ stores }, { now: () => nowMs, wait });
    return { status, detail, waitedMs };
  };
  const agreed = { status: 'ok', detail: '1 running gateways agree' };
  expect(await examineClocks([beat('a', -60_000)], [])).toEqual({ ...agreed, waitedMs: 0 });
  expect(await examineClocks([beat('a', 0), beat('b', 3_600_000)], ['a'])).toEqual({ ...agreed, waitedMs: 21_000 });
  const detail = 'a gateway of this data folder is 3600 s ahead of this machine';
  expect(await examineClocks([beat('b', 3_600_000)], ['b'])).toEqual({ status: 'failure', detail, waitedMs: 4_000 });
});
