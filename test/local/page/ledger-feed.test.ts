import { afterAll, beforeAll, expect, test as plainTest } from 'vitest';
import { createClients, createDatabases } from '../../../lambdas/functions/wiring/clients.ts';
import { createLedgerStore } from '../../../lambdas/stores/dynamodb/ledger-store.ts';
import { type AccountChanges, followChanges } from '../../../local/account-changes.ts';
import { localTableNames } from '../../../local/create-tables.ts';
import { fromStream } from '../../../local/emulators/ledger-stream.ts';
import { createLedgerFeed } from '../../../local/page/ledger-feed.ts';
import type { LedgerEvent } from '../../../local/page/ui/wire.ts';
import { hasDynamodb, startTestDynamodb, type TestDynamodb } from '../../support/dynamodb.ts';
import { until } from '../../support/gateway-process.ts';

const test = plainTest.skipIf(!hasDynamodb);

let database: TestDynamodb;
let changes: AccountChanges;
const told: LedgerEvent[] = [];
beforeAll(async () => {
  if (!hasDynamodb) return;
  database = await startTestDynamodb();
  changes = await followChanges({
    endpoint: database.endpoint,
    table: localTableNames.accounts,
    onFailure: (message) => {
      throw new Error(message);
    },
    pollMs: 20,
  });
  const feed = fromStream(createLedgerFeed((event) => told.push(event)));
  changes.subscribe(feed);
  // The second subscription delivers every change again, which must not produce further events.
  changes.subscribe(feed);
});
afterAll(async () => {
  await changes?.stop();
  await database?.stop();
});

const USD = 1_000_000_000_000n;

test('BILL-15 every money change is an event with its amounts, and the account adds up each time', async () => {
  const clients = createClients({ endpoint: database.endpoint, region: 'us-east-1' });
  const ledger = createLedgerStore(createDatabases(clients), localTableNames.accounts);
  const accountId = 'a';
  const at = Date.now();
  const hold = (holdId: string, amountPicos: bigint) =>
    ledger.hold({
      accountId,
      holdId,
      previousHoldId: undefined,
      amountPicos,
      expiresAtMs: at + 60_000,
      sweepAtMs: at + 60_000,
    });
  const resolve = async (holdId: string, outcome: 'settled' | 'released', amountPicos: bigint, held: bigint) => {
    const record = { accountId, holdId, requestId: holdId.slice(0, -2), outcome, amountPicos, at, model: 'some-model' };
    await ledger.putRecord(record);
    await ledger.apply(record, held, 0);
  };
  await ledger.createAccount(accountId, 0);
  await ledger.credit({ accountId, ref: 'r', amountPicos: 3n * USD, reason: 'test', at });
  await hold('one.0', 2n * USD);
  await hold('two.0', USD / 2n);
  await resolve('one.0', 'settled', USD / 4n, 2n * USD);
  await resolve('two.0', 'released', 0n, USD / 2n);
  await until('all events', () => (told.length >= 5 ? true : undefined));
  clients.once.destroy();
  clients.repeating.destroy();

  const shown = told.map(({ numbers, ...event }) => {
    const { balance_usd, available_usd, held_usd, open_holds } = numbers;
    expect(Number(balance_usd)).toBe(Number(available_usd) + Number(held_usd));
    expect(event.account).toBe('a');
    return [event.kind, 'hold' in event ? event.hold : '', event.amount_usd, balance_usd, held_usd, open_holds];
  });
  expect(shown).toEqual([
    ['credited', '', '3', '3', '0', 0],
    ['held', 'one.0', '2', '3', '2', 1],
    ['held', 'two.0', '0.5', '3', '2.5', 2],
    ['settled', 'one.0', '0.25', '2.75', '0.5', 1],
    ['released', 'two.0', '0', '2.75', '0', 0],
  ]);
  expect(told[3]).toMatchObject({ held_usd: '2', model: 'some-model' });
});
