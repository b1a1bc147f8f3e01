import { randomBytes } from 'node:crypto';
import { request as openRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { catalogData } from '../../../catalog/index.ts';
import { createAccountKey } from '../../../lambdas/core/accounts/account-keys.ts';
import { hashApiKey, keyIdOf, labelOf, makeApiKey } from '../../../lambdas/core/accounts/keys.ts';
import { loadCatalog } from '../../../lambdas/core/catalog/load-catalog.ts';
import type { LedgerDependencies } from '../../../lambdas/core/ledger/ledger.ts';
import { bucketOf } from '../../../lambdas/core/limits/rate-limit.ts';
import { type createClients, createDatabases } from '../../../lambdas/functions/wiring/clients.ts';
import { createKeyStore } from '../../../lambdas/stores/dynamodb/key-store.ts';
import { localTableNames } from '../../../local/create-tables.ts';
import type { Call } from '../../support/fault-proxy.ts';
import { putKey } from '../../support/put-key.ts';
import { sweep } from '../../support/strict-tending.ts';
import type { CappedKey } from '../capped-account.ts';

export interface Answer {
  /** 0 without a response. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** Time until the end of the response. */
  readonly tookMs: number;
}

/** A customer with its own account, API key and IP address, so each store call shows its customer. */
export interface Lane {
  readonly accountId: string;
  /** Cap of the API key. Undefined without one. */
  readonly capped: CappedKey | undefined;
  /** Whether a day of the cap ends during each request. */
  readonly endsDays: boolean;
  owns(call: Call): boolean;
  post(path: string, body: object, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** Sweeps this account after all its holds have expired. Repeats while a hold is open, at most for a minute. */
  sweepAll(): Promise<void>;
}

interface LaneOptions {
  readonly gatewayUrl: string;
  readonly pepper: string;
  readonly clients: ReturnType<typeof createClients>;
  /** Ledger without the proxy. */
  readonly ledger: LedgerDependencies;
  readonly fundsPicos: bigint;
}

const DAY_MS = 86_400_000;
const SWEPT_MS = 60_000;

/** The number determines the IP address, such as 127.0.1.1. Linux accepts all of 127.0.0.0/8. */
export async function openLane(number: number, options: LaneOptions): Promise<Lane> {
  const { gatewayUrl, ledger, fundsPicos } = options;
  const accountId = `lane-${number}`;
  const address = `127.0.1.${number}`;
  await ledger.store.createAccount(accountId, ledger.clock.now());
  await ledger.store.credit({ accountId, ref: 'first', amountPicos: fundsPicos, reason: 'test', at: 0 });
  const isCapped = number % 2 === 0;
  const limitPicos = fundsPicos / 2n;
  const { apiKey, hash } = isCapped
    ? await openCappedKey(options, accountId, limitPicos)
    : await openKey(options, accountId);
  const marks = [`account#${accountId} `, `account#${accountId}#`];
  const authorization = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };

  return {
    accountId,
    capped: isCapped ? { accountId, keyId: keyIdOf(hash), limitPicos } : undefined,
    endsDays: number % 4 === 0,
    owns: ({ key }) => key === hash || key === `ip#${address}` || marks.some((mark) => key.startsWith(mark)),
    post: (path, body, headers) =>
      post(`${gatewayUrl}${path}`, address, { ...authorization, ...headers }, JSON.stringify(body)),
    async sweepAll() {
      const clock = { ...ledger.clock, now: () => ledger.clock.now() + DAY_MS };
      const store = { ...ledger.store, due: async () => [{ accountId }] };
      const giveUpAt = performance.now() + SWEPT_MS;
      do {
        // On a busy machine the store may time out, and a sweep leaves such holds to the next one.
        await sweep({ ...ledger, store, clock });
        if ((await store.readAccount(accountId))?.holds.size === 0) return;
        await sleep(100);
      } while (performance.now() < giveUpAt);
    },
  };
}

interface LaneKey {
  readonly apiKey: string;
  readonly hash: string;
}

const openKey = async ({ pepper, clients }: LaneOptions, accountId: string): Promise<LaneKey> => {
  const apiKey = makeApiKey(randomBytes(32));
  const hash = hashApiKey(pepper, apiKey);
  await putKey(clients.repeating, localTableNames.keys, { hash, accountId, label: labelOf(apiKey), pepperId: '1' });
  return { apiKey, hash };
};

/** Adds a named key with a cap per day, as the owner of the account does. */
const openCappedKey = async (
  { pepper, clients, ledger }: LaneOptions,
  accountId: string,
  limitPicos: bigint,
): Promise<LaneKey> => {
  const deps = {
    ...{ keys: createKeyStore(createDatabases(clients), localTableNames), ledgerStore: ledger.store, pepper },
    ...{ catalog: loadCatalog(catalogData), keyBucket: bucketOf(1_000, 1_000_000), clock: ledger.clock },
    ...{ random: ledger.random, newKeyBytes: () => randomBytes(32) },
  };
  const wanted = { name: 'Capped', limitPicos, limitPeriod: 'day' } as const;
  const { apiKey, key } = await createAccountKey(deps, { accountId, actor: 'owner' }, wanted);
  return { apiKey, hash: key.hash };
};

function post(url: string, localAddress: string, headers: Record<string, string>, body: string): Promise<Answer> {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    openRequest(url, { method: 'POST', localAddress, agent: false, headers }, (response) => {
      const { statusCode: status = 0, headers: received } = response;
      text(response).then((whole) => {
        resolve({ status, headers: received, text: whole, tookMs: performance.now() - startedAt });
      }, reject);
    })
      .on('error', reject)
      .end(body);
  });
}
