import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LOW_BALANCE_THRESHOLD_DEFAULT } from '../../lambdas/core/accounts/low-balance.ts';
import type { Notification } from '../../lambdas/core/accounts/send-notifications.ts';
import { type DataFolder, joinDataFolder } from '../../local/data-folder.ts';
import { openEmbeddedEngine } from '../../local/embedded-engine.ts';
import { DATABASE_FILE } from '../../local/embedded-stores.ts';
import type { Engine } from '../../local/engine.ts';
import type { LocalSettings } from '../../local/local-settings.ts';
import type { LedgerChange } from '../../local/page/ledger-feed.ts';
import { openLocalPages } from '../../local/pages.ts';
import { accountNamed } from '../contracts/account-subjects.ts';
import { quietParts } from '../lambdas/functions/wiring/quiet-parts.ts';

let path: string;
const endings: (() => unknown)[] = [];
beforeEach(() => {
  path = join(mkdtempSync(join(tmpdir(), 'engine-')), 'data');
});
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
  rmSync(path, { recursive: true, force: true });
});

const BOT_TOKEN = '123456:token-of-the-tests';

const open = async (
  environment: Readonly<Record<string, string>> = { BOT_TOKEN },
  MODE: LocalSettings['MODE'] = 'development',
  onFailure = (message: string): void => expect.unreachable(message),
): Promise<Engine> => {
  const folder: DataFolder = joinDataFolder(path);
  endings.push(folder.close);
  const engine = await openEmbeddedEngine({
    folder,
    settings: { MODE },
    reporting: quietParts([]).reporting,
    environment: { KEY_PEPPER: 'a pepper of the tests', MEDIA_URL: 'http://127.0.0.1', ...environment },
    onFailure,
    pages: openLocalPages({ prefersBuilt: false, onFailure }),
  });
  endings.push(engine.stop);
  return engine;
};

const record = {
  accountId: 'one',
  holdId: 'r.0',
  requestId: 'r',
  outcome: 'settled',
  amountPicos: 2n,
  at: 1,
} as const;

/** Opens an account and charges it once, which takes its balance below its notification threshold. */
const cross = async ({ deps: { accounts, ledgerStore } }: Engine): Promise<void> => {
  await accounts.open(accountNamed('one', { creditPicos: LOW_BALANCE_THRESHOLD_DEFAULT + 1n }));
  const times = { expiresAtMs: 1, sweepAtMs: 1, previousHoldId: undefined };
  await ledgerStore.hold({ accountId: 'one', holdId: 'r.0', amountPicos: 5n, ...times });
  await ledgerStore.putRecord(record);
  await ledgerStore.apply(record, 5n, 0);
};

test('KEY-3 a pending notification of a low balance is sent after a prune', async () => {
  const engine = await open();
  await cross(engine);
  await engine.prune();
  const notices: Notification[] = [];
  await engine.follow({
    sendNotification: async (notice) => {
      notices.push(notice);
      return { kind: 'sent' };
    },
  });
  await expect.poll(() => notices.map(({ chatId }) => chatId)).toEqual(['one-chat']);
});

test('KEY-3 without a bot a prune removes pending notifications', async () => {
  const silent = await open({});
  await cross(silent);
  await silent.prune();
  const db = new DatabaseSync(join(path, 'database/gateway.db'), { readOnly: true });
  expect(db.prepare('SELECT * FROM low_balances').all()).toEqual([]);
  db.close();
});

test('KEY-3 the changes of this process and of others are followed, each once', async () => {
  const [one, other] = [await open(), await open()];
  const seen: LedgerChange[] = [];
  await one.follow({ onChange: (change) => void seen.push(change) });
  await cross(one);
  await other.deps.ledgerStore.credit({ accountId: 'one', ref: 'ref', amountPicos: 7n, reason: 'test', at: 1 });
  await expect.poll(() => seen.at(-1)?.after.creditedPicos).toBe(LOW_BALANCE_THRESHOLD_DEFAULT + 8n);
  expect(seen.map(({ after }) => after.version)).toEqual([0, 1, 2, 3]);
  expect(seen.map(({ recordOf }) => recordOf('r.0'))).toEqual([undefined, undefined, record, undefined]);
});

test.each(['development', 'production'] as const)(
  'OPS-6 data of %s mode is rejected in the other mode',
  async (first) => {
    const second = first === 'production' ? 'development' : 'production';
    await open({}, first);
    await expect(open({}, second)).rejects.toThrow(
      `${path} holds the data of a gateway in ${first}. Set MODE=${first}, or DATA_DIR to another folder.`,
    );
    await open({}, first);
  },
);

test('OPS-20 without the setting a prune ends the queue a day after the last delivery', async () => {
  const down = {
    publisherFor: () => async () => ({ failed: new Set<string>() }),
    source: 'gateway-local',
    endpoint: 'receiver',
  };
  const before = await open({});
  await before.follow({ usage: down });
  await before.stop();
  const file = new DatabaseSync(join(path, 'database', DATABASE_FILE));
  endings.push(() => file.close());
  const isQueueing = () =>
    file.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'usage_events_of_charges'").get() !== undefined;
  const messages: string[] = [];
  const engine = await open({}, 'development', (message) => messages.push(message));
  await engine.follow({});
  await engine.prune();
  expect([isQueueing(), messages]).toEqual([true, []]);
  file.exec("UPDATE facts SET value = '1' WHERE name = 'usage_events_queued_until'");
  await engine.prune();
  expect([isQueueing(), messages]).toEqual([
    false,
    [expect.stringContaining('USAGE_EVENTS_URL was not set for a day')],
  ]);
  await engine.prune();
  expect(messages).toHaveLength(1);
});

test('OPS-20 a prune before the gateway follows its changes does not end the queue', async () => {
  const engine = await open({});
  const file = new DatabaseSync(join(path, 'database', DATABASE_FILE));
  endings.push(() => file.close());
  file.exec('CREATE TRIGGER usage_events_of_charges AFTER INSERT ON charges BEGIN SELECT 1; END');
  await engine.prune();
  expect(file.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").all()).toHaveLength(1);
});

test('GEN-10 BILL-13 a process sweeps and prunes nothing while another one has an earlier time', async () => {
  const { deps, prune } = await open({});
  const database = new DatabaseSync(join(path, 'database', DATABASE_FILE));
  endings.push(() => database.close());
  let count = 0;
  const beat = (): void => {
    count += 1;
    const value = `${Date.now() - 3_600_000} ${count}`;
    database.exec(`INSERT INTO facts (name, value) VALUES ('clock#other', '${value}')
      ON CONFLICT DO UPDATE SET value = excluded.value`);
  };
  expect([await deps.clockProblem?.(), await deps.problems?.()]).toEqual([undefined, []]);
  for (let turn = 0; turn < 2; turn += 1) {
    beat();
    expect(await deps.clockProblem?.()).toBeDefined();
  }
  const aheadSeconds = /^the clock of this process is (\d+) s ahead of the store$/.exec(
    (await deps.clockProblem?.()) ?? '',
  );
  expect(Math.abs(Number(aheadSeconds?.[1]) - 3_600)).toBeLessThanOrEqual(60);
  database.exec("INSERT INTO bot_updates (key, expires_at) VALUES ('old', 1)");
  const updates = () => database.prepare('SELECT count(*) AS rows FROM bot_updates').get();
  await prune();
  expect(updates()).toEqual({ rows: 1 });
  database.exec("DELETE FROM facts WHERE name = 'clock#other'");
  await prune();
  expect(updates()).toEqual({ rows: 0 });
});
