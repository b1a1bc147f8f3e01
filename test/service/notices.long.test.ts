import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { LOW_BALANCE_THRESHOLD_DEFAULT } from '../../lambdas/core/accounts/low-balance.ts';
import { type PlacedHold, placeHold } from '../../lambdas/core/ledger/hold.ts';
import { apply, commit } from '../../lambdas/core/ledger/resolve.ts';
import { formatUsd, parseUsd } from '../../lambdas/core/money/usd.ts';
import { createClients, createDatabases } from '../../lambdas/functions/wiring/clients.ts';
import { systemClock } from '../../lambdas/functions/wiring/ledger.ts';
import {
  createNoticesHandler,
  noticesDependenciesFromEnvironment,
} from '../../lambdas/functions/wiring/notices-handler.ts';
import { createAccountStore } from '../../lambdas/stores/dynamodb/account-store.ts';
import { createDynamoDB } from '../../lambdas/stores/dynamodb/dynamodb.ts';
import { createLedgerStore } from '../../lambdas/stores/dynamodb/ledger-store.ts';
import { type AccountChanges, followChanges } from '../../local/account-changes.ts';
import { localTableNames } from '../../local/create-tables.ts';
import { startTestDynamodb, type TestDynamodb } from '../support/dynamodb.ts';
import { until } from '../support/gateway-process.ts';
import { MemoryOutbox } from '../support/memory/memory-outbox.ts';
import { noTables } from '../support/memory/memory-stores.ts';
import { type BotApiAnswer, startBotApi } from '../support/scripted-bot-api.ts';

let database: TestDynamodb;
let clients: ReturnType<typeof createClients>;
const folder = mkdtempSync(join(tmpdir(), 'gateway-notices-'));
beforeAll(async () => {
  database = await startTestDynamodb();
  clients = createClients({ endpoint: database.endpoint, region: 'us-east-1' });
});
afterAll(async () => {
  for (const client of Object.values(clients ?? {})) client.destroy();
  await database?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const endings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

const accountStore = () => createAccountStore(createDynamoDB(clients.repeating, Date.now), localTableNames);
const ledgerDependencies = () => ({
  store: createLedgerStore(createDatabases(clients), localTableNames.accounts),
  outbox: new MemoryOutbox(),
  clock: systemClock,
  random: Math.random,
  shortestLifetimeMs: 300_000,
});

let opened = 0;
/** Opens an account with a bot chat and a balance above its threshold. Its requests are ledger calls. */
const openAccount = async (aboveUsd: string) => {
  opened += 1;
  const [accountId, chatId] = [`account-${opened}`, String(1_000 + opened)];
  const label = { prefix: 'prefix', lastFour: 'last' };
  const key = { hash: `hash-${opened}`, label, pepperId: 'pepper', isShown: true };
  await accountStore().open({
    accountId,
    chatId,
    key,
    creditPicos: LOW_BALANCE_THRESHOLD_DEFAULT + parseUsd(aboveUsd),
    atMs: Date.now(),
  });
  let requests = 0;
  const hold = (amountUsd: string): Promise<PlacedHold> => {
    requests += 1;
    const expiresAtMs = Date.now() + 600_000;
    return placeHold(ledgerDependencies(), {
      accountId,
      requestId: `${accountId}-${requests}`,
      amountPicos: parseUsd(amountUsd),
      expiresAtMs,
    });
  };
  const settle = async ({ requestId, holdId, amountPicos }: PlacedHold, costUsd: string): Promise<void> => {
    const record = { accountId, holdId, requestId, outcome: 'settled' as const, amountPicos: parseUsd(costUsd), at: 1 };
    await apply(ledgerDependencies(), await commit(ledgerDependencies(), record), amountPicos);
  };
  return {
    accountId,
    chatId,
    hold,
    settle,
    request: async (costUsd: string) => settle(await hold('0.05'), costUsd),
    topUp: (ref: string, amountUsd: string) =>
      ledgerDependencies().store.credit({ accountId, ref, amountPicos: parseUsd(amountUsd), reason: 'test', at: 1 }),
    version: async () => (await ledgerDependencies().store.readAccount(accountId))?.version ?? 0,
  };
};
type TestAccount = Awaited<ReturnType<typeof openAccount>>;

/**
 * Starts the function with its AWS handler on the real stream. `plan` returns the messenger's response to each attempt.
 */
const startNotices = async (plan?: (turn: number) => BotApiAnswer | undefined, positionFile?: string) => {
  const api = await startBotApi(plan);
  endings.push(api.stop);
  const handler = createNoticesHandler(
    await noticesDependenciesFromEnvironment({
      ...noTables,
      ACCOUNTS_TABLE: localTableNames.accounts,
      AWS_REGION: 'us-east-1',
      DYNAMODB_ENDPOINT: database.endpoint,
      BOT_TOKEN: '123456:token-of-the-tests',
      BOT_API_URL: api.url,
      LOG_FORMAT: 'line',
    }),
  );
  const failures: string[] = [];
  const changes: AccountChanges = await followChanges({
    endpoint: database.endpoint,
    table: localTableNames.accounts,
    onFailure: (message) => failures.push(message),
    pollMs: 10,
    retryDelaysMs: Array(20).fill(5),
    ...(positionFile === undefined ? {} : { positionFile }),
  });
  endings.push(changes.stop);
  const done = new Map<string, number>();
  changes.subscribe(async (event) => {
    const answer = await handler(event);
    if (answer.batchItemFailures.length > 0) return answer;
    for (const { dynamodb } of event.Records) {
      const { pk, version } = dynamodb?.NewImage ?? {};
      if (pk?.S && version?.N) done.set(pk.S, Number(version.N));
    }
    return answer;
  });
  return {
    failures,
    attempts: api.paths,
    messages: () => api.taken.map(({ chat_id, text }) => ({ chat: String(chat_id), text })),
    /** Resolves when the function has handled every write of the account. */
    caughtUp: async (account: TestAccount) => {
      const version = await account.version();
      await until('the last change', () =>
        (done.get(`account#${account.accountId}`) ?? -1) >= version ? true : undefined,
      );
    },
  };
};

test('KEY-3 a hundred requests that cross the threshold, ten at a time, send one message', async () => {
  const account = await openAccount('2');
  const notices = await startNotices();
  for (let round = 0; round < 10; round += 1)
    await Promise.all(Array.from({ length: 10 }, () => account.request('0.025')));
  await notices.caughtUp(account);
  expect(await account.version()).toBe(200);
  const [message, ...others] = notices.messages();
  expect([message?.chat, others]).toEqual([account.chatId, []]);
  const [, told = ''] = /low<\/b>: (\S+) USD/.exec(message?.text ?? '') ?? [];
  // The message has the balance of the request that crossed the threshold, not of the last one.
  expect([told, notices.failures]).toEqual([formatUsd(LOW_BALANCE_THRESHOLD_DEFAULT), []]);
});

test('KEY-3 after an outage of the messenger, one message is sent', async () => {
  const account = await openAccount('0.01');
  const down: readonly BotApiAnswer[] = [
    { status: 500, description: 'Internal Server Error' },
    'no answer',
    { status: 502, html: '<html>Bad Gateway</html>' },
    { status: 429, description: 'Too Many Requests', retryAfter: 60 },
    { status: 401, description: 'Unauthorized' },
  ];
  const notices = await startNotices((turn) => down[turn]);
  for (let count = 0; count < 5; count += 1) await account.request('0.01');
  await notices.caughtUp(account);
  expect(notices.attempts).toHaveLength(down.length + 1);
  expect(notices.messages()).toHaveLength(1);
  expect(await accountStore().chat(account.chatId)).toMatchObject({ isClosed: false });
});

test('KEY-3 a restarted function reads all remaining records and sends no message twice', async () => {
  const account = await openAccount('0.01');
  const first = await startNotices();
  await account.request('0.02');
  await first.caughtUp(account);
  expect(first.messages()).toHaveLength(1);
  const second = await startNotices(undefined, join(folder, 'no-note-yet'));
  await second.caughtUp(account);
  expect([second.messages(), second.attempts, second.failures]).toEqual([[], [], []]);
});
