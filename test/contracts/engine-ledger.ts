import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { type CapChange, changeCap } from '../../lambdas/core/ledger/caps.ts';
import type { LedgerStore } from '../../lambdas/core/ledger/ledger.ts';
import type { LedgerRecords } from '../../lambdas/core/ledger/records.ts';
import { createDatabases } from '../../lambdas/functions/wiring/clients.ts';
import { createDynamoDB } from '../../lambdas/stores/dynamodb/dynamodb.ts';
import { createLedgerRecords } from '../../lambdas/stores/dynamodb/ledger-records.ts';
import { createLedgerStore } from '../../lambdas/stores/dynamodb/ledger-store.ts';
import { toReplacement } from '../../lambdas/stores/dynamodb/replace-account.ts';
import { localDynamodbConfig } from '../../local/create-tables.ts';
import { openTestTables } from '../support/dynamodb.ts';
import { type Plan, startFaultProxy } from '../support/fault-proxy.ts';
import { expectBalanced } from './ledger-subjects.ts';

/** Ledger on separate tables. `proxied` sends its calls through the fault proxy, and `direct` bypasses the proxy. */
export interface Engine {
  /** Every account that a call returns must balance. */
  readonly proxied: LedgerStore;
  readonly direct: LedgerStore;
  readonly records: Pick<LedgerRecords, 'readCredits'>;
  /** Changes the cap of an API key. Undefined: removes it. */
  setCap(accountId: string, keyId: string, change: CapChange | undefined, nowMs: number): Promise<void>;
  readonly client: DynamoDBClient;
  /** The accounts' table. */
  readonly table: string;
  /** Fault plans for the calls that name an account, by account id. */
  readonly plans: Map<string, Plan>;
  stop(): Promise<void>;
}

export const startEngine = async (): Promise<Engine> => {
  const { endpoint, clients, names } = await openTestTables();
  const table = names.accounts;
  const plans = new Map<string, Plan>();
  const proxy = await startFaultProxy({
    target: endpoint,
    plan: (call) => plans.get(/^account#(\S+)/.exec(call.key)?.[1] ?? '')?.(call),
  });
  // Same number of attempts as in the functions, but without pauses and with long timeouts, because the proxy delays
  // calls.
  const [once, repeating] = [1, 2].map((attempts) => clientOf(proxy.endpoint, attempts));
  const client = clients.repeating;
  if (!once || !repeating) throw new Error('no clients');
  const direct = createLedgerStore(createDatabases({ once: client, repeating: client }), table);
  return {
    proxied: balanced(createLedgerStore(createDatabases({ once, repeating }), table)),
    direct,
    setCap: async (accountId, keyId, change, nowMs) => {
      for (;;) {
        const before = await direct.readAccount(accountId);
        if (!before) throw new Error(`there is no account ${accountId}`);
        const after = changeCap(before, keyId, change, nowMs);
        if (
          'written' in (await createDynamoDB(client, Date.now).update(toReplacement(table, { before, after, nowMs })))
        )
          return;
      }
    },
    records: createLedgerRecords(createDynamoDB(client, Date.now), table),
    client,
    table,
    plans,
    stop: async () => {
      for (const open of [once, repeating]) open.destroy();
      await proxy.stop();
    },
  };
};

const clientOf = (endpoint: string, attempts: number): DynamoDBClient =>
  new DynamoDBClient({
    ...localDynamodbConfig(endpoint),
    requestHandler: { requestTimeout: 0, httpAgent: { maxSockets: 500 } },
    retryStrategy: atOnce(attempts),
  });

type RetryStrategy = Exclude<DynamoDBClientConfig['retryStrategy'], undefined>;

/** Repeats calls as the client would, without its pauses and its retry quota, which histories would share. */
const atOnce = (attempts: number): RetryStrategy => ({
  acquireInitialRetryToken: async () => tokenOf(0),
  refreshRetryTokenForRetry: async (token, { errorType }) => {
    const count = token.getRetryCount() + 1;
    if (count >= attempts || errorType === 'CLIENT_ERROR') throw new Error('not once more');
    return tokenOf(count);
  },
  recordSuccess: () => undefined,
});

const tokenOf = (count: number) => ({
  getRetryCount: () => count,
  getRetryDelay: () => 0,
  getRetryCost: () => 0,
});

const balanced = (store: LedgerStore): LedgerStore => ({
  ...store,
  hold: async (request) => {
    const reply = await store.hold(request);
    if (reply.kind !== 'no-account') expectBalanced(reply.account);
    return reply;
  },
  apply: async (record, amountPicos, nowMs) => {
    const account = await store.apply(record, amountPicos, nowMs);
    if (account) expectBalanced(account);
    return account;
  },
  readAccount: async (accountId) => {
    const account = await store.readAccount(accountId);
    if (account) expectBalanced(account);
    return account;
  },
});
