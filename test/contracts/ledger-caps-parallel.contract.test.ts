import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../lambdas/core/errors/gateway-error.ts';
import { auditAccount } from '../../lambdas/core/ledger/audit.ts';
import { changeCap, keyCapOf } from '../../lambdas/core/ledger/caps.ts';
import { type PlacedHold, placeHold } from '../../lambdas/core/ledger/hold.ts';
import type { Account, LedgerDependencies, LedgerStore } from '../../lambdas/core/ledger/ledger.ts';
import type { LedgerRecords } from '../../lambdas/core/ledger/records.ts';
import { apply, commit } from '../../lambdas/core/ledger/resolve.ts';
import { PICOS_PER_USD } from '../../lambdas/core/money/usd.ts';
import { renderRequestId } from '../../lambdas/core/request-id.ts';
import { createDatabases } from '../../lambdas/functions/wiring/clients.ts';
import { systemClock } from '../../lambdas/functions/wiring/ledger.ts';
import { createLedgerRecords } from '../../lambdas/stores/dynamodb/ledger-records.ts';
import { createLedgerStore } from '../../lambdas/stores/dynamodb/ledger-store.ts';
import { toReplacement } from '../../lambdas/stores/dynamodb/replace-account.ts';
import { createLedgerRecords as createSqliteRecords } from '../../local/stores/sqlite/ledger-records.ts';
import { createLedgerStore as createSqliteStore } from '../../local/stores/sqlite/ledger-store.ts';
import { replaceCaps } from '../../local/stores/sqlite/replace-account.ts';
import { createTestClients, onDatabase, openTestTables } from '../support/dynamodb.ts';
import { MemoryOutbox } from '../support/memory/memory-outbox.ts';
import { newDatabasePath, openTestDatabase } from '../support/sqlite.ts';

const ID = 'account-1';
const KEY = '0123456789abcdef';
const AT = Date.UTC(2026, 10, 26, 23, 59);
const DAY_MS = 86_400_000;
const IN_PARALLEL = 200;
const CLIENTS = 3;

/** One ledger with the clients of several processes. */
interface Shared {
  readonly stores: readonly LedgerStore[];
  readonly records: LedgerRecords;
  write(before: Account, after: Account): Promise<unknown>;
}

const dynamodb = async (): Promise<Shared> => {
  const { endpoint, names } = await openTestTables();
  const databases = Array.from({ length: CLIENTS }, () => createDatabases(createTestClients(endpoint)));
  const [first] = databases;
  if (!first) throw new Error('no clients');
  return {
    stores: databases.map((db) => createLedgerStore(db, names.accounts)),
    records: createLedgerRecords(first.repeating, names.accounts),
    write: (before, after) => first.once.update(toReplacement(names.accounts, { before, after, nowMs: AT })),
  };
};

const sqlite = async (): Promise<Shared> => {
  const path = newDatabasePath();
  const databases = [];
  for (let count = 0; count < CLIENTS; count += 1) databases.push(await openTestDatabase({ path }));
  const [first] = databases;
  if (!first) throw new Error('no databases');
  return {
    stores: databases.map((db) => createSqliteStore(db)),
    records: createSqliteRecords(first),
    write: (_before, after) => first.write(() => replaceCaps(first, after)),
  };
};

describe.each([{ name: 'in SQLite', open: sqlite }, ...onDatabase({ name: 'on the database', open: dynamodb })])(
  'a cap that processes share $name',
  ({ open }) => {
    test('KEY-9 200 parallel requests on a cap for 7 through three clients hold exactly 7, each day', async () => {
      const { stores, records, write } = await open();
      const [store] = stores;
      if (!store) throw new Error('no store');
      let nowMs = AT;
      const clock = { now: () => nowMs, after: systemClock.after };
      const processes = stores.map(
        (one): LedgerDependencies => ({
          store: one,
          outbox: new MemoryOutbox(),
          clock,
          random: Math.random,
          shortestLifetimeMs: 300_000,
        }),
      );
      await store.createAccount(ID, AT);
      await store.credit({ accountId: ID, ref: 'first', amountPicos: 100n * PICOS_PER_USD, reason: 'test', at: AT });
      const before = (await store.readAccount(ID))!;
      const after = changeCap(before, KEY, { limitPicos: 7n * PICOS_PER_USD, kind: 'day' }, AT);
      await write(before, after);
      const cap = { keyId: KEY, ...keyCapOf(after.caps, KEY)! };

      let requests = 0;
      const request = async (deps: LedgerDependencies): Promise<PlacedHold | string> => {
        requests += 1;
        const order = { accountId: ID, requestId: renderRequestId({ atMs: nowMs, random: requests }), cap };
        return placeHold(deps, { ...order, amountPicos: PICOS_PER_USD, expiresAtMs: nowMs + 900_000 }).catch(
          (error) => {
            if (error instanceof GatewayError) return error.code;
            throw error;
          },
        );
      };
      const charge = async (deps: LedgerDependencies, { holdId, requestId, amountPicos, cap }: PlacedHold) => {
        const record = { accountId: ID, holdId, requestId, amountPicos, at: nowMs, ...(cap && { cap }) };
        await apply(deps, await commit(deps, { ...record, outcome: 'settled' }), amountPicos);
      };
      /** Sends all requests and charges the first holds. Returns the others, and how often each refusal came. */
      const round = async (charged: number) => {
        const deps = (index: number) => processes[index % CLIENTS]!;
        const replies = await Promise.all(Array.from({ length: IN_PARALLEL }, (_, index) => request(deps(index))));
        const placed = replies.filter((reply) => typeof reply !== 'string');
        await Promise.all(placed.slice(0, charged).map((hold, index) => charge(deps(index), hold)));
        const refused = replies.filter((reply) => typeof reply === 'string');
        return { placed, open: placed.slice(charged), refused: [...new Set(refused)], count: refused.length };
      };

      const first = await round(4);
      expect([first.placed.length, first.refused, first.count]).toEqual([7, ['key_limit_exceeded'], 193]);
      expect((await store.readAccount(ID))?.caps.get(KEY)?.leftPicos).toBe(0n);
      nowMs += DAY_MS;
      const second = await round(7);
      expect([second.placed.length, second.refused, second.count]).toEqual([7, ['key_limit_exceeded'], 193]);
      // Charges of the first day count there.
      await Promise.all(first.open.map((hold, index) => charge(processes[index % CLIENTS]!, hold)));
      const account = (await store.readAccount(ID))!;
      expect([account.spentPicos, account.holds.size]).toEqual([14n * PICOS_PER_USD, 0]);
      expect(account.caps.get(KEY)).toMatchObject({ leftPicos: 0n, period: `${cap.epoch}:2026-11-27` });
      expect((await auditAccount({ store, records, clock }, ID))?.findings).toEqual([]);
    });
  },
);
