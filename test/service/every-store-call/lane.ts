import { randomBytes } from 'node:crypto';
import { request as openRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { hashApiKey, labelOf, makeApiKey } from '../../../lambdas/core/accounts/keys.ts';
import type { LedgerDependencies } from '../../../lambdas/core/ledger/ledger.ts';
import type { createClients } from '../../../lambdas/functions/wiring/clients.ts';
import { localTableNames } from '../../../local/create-tables.ts';
import type { Call } from '../../support/fault-proxy.ts';
import { putKey } from '../../support/put-key.ts';
import { sweep } from '../../support/strict-tending.ts';

export interface Answer {
  /** 0 without a response. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** A customer with its own account, API key and IP address, so each store call shows its customer. */
export interface Lane {
  readonly accountId: string;
  owns(call: Call): boolean;
  post(path: string, body: object, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** Sweeps this account after all its holds have expired. Repeats up to three times while a hold is open. */
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

/** The number determines the IP address, such as 127.0.1.1. Linux accepts all of 127.0.0.0/8. */
export async function openLane(number: number, options: LaneOptions): Promise<Lane> {
  const { gatewayUrl, pepper, clients, ledger, fundsPicos } = options;
  const accountId = `lane-${number}`;
  const address = `127.0.1.${number}`;
  const apiKey = makeApiKey(randomBytes(32));
  const hash = hashApiKey(pepper, apiKey);
  await ledger.store.createAccount(accountId, ledger.clock.now());
  await ledger.store.credit({ accountId, ref: 'first', amountPicos: fundsPicos, reason: 'test', at: 0 });
  await putKey(clients.repeating, localTableNames.keys, { hash, accountId, label: labelOf(apiKey), pepperId: '1' });
  const marks = [`account#${accountId} `, `account#${accountId}#`];
  const authorization = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };

  return {
    accountId,
    owns: ({ key }) => key === hash || key === `ip#${address}` || marks.some((mark) => key.startsWith(mark)),
    post: (path, body, headers) =>
      post(`${gatewayUrl}${path}`, address, { ...authorization, ...headers }, JSON.stringify(body)),
    async sweepAll() {
      const clock = { ...ledger.clock, now: () => ledger.clock.now() + DAY_MS };
      const store = { ...ledger.store, due: async () => [{ accountId }] };
      for (let round = 0; round < 3; round += 1) {
        await sweep({ ...ledger, store, clock });
        if ((await store.readAccount(accountId))?.holds.size === 0) return;
      }
    },
  };
}

function post(url: string, localAddress: string, headers: Record<string, string>, body: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    openRequest(url, { method: 'POST', localAddress, agent: false, headers }, (response) => {
      const { statusCode: status = 0, headers: received } = response;
      text(response).then((whole) => resolve({ status, headers: received, text: whole }), reject);
    })
      .on('error', reject)
      .end(body);
  });
}
