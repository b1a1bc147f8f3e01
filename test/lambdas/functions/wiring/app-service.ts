import { sign } from '@telegram-apps/init-data-node';
import { ulid } from 'ulid';
import { hashApiKey, keyIdOf, toNewKey } from '../../../../lambdas/core/accounts/keys.ts';
import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import type { ChargeRecord } from '../../../../lambdas/core/ledger/ledger.ts';
import { signBody } from '../../../../lambdas/core/signature.ts';
import { createAccountHandler } from '../../../../lambdas/functions/wiring/account-handler.ts';
import { createAppHandler } from '../../../../lambdas/functions/wiring/app-handler.ts';
import type { FunctionDependencies } from '../../../../lambdas/functions/wiring/dependencies.ts';
import type { Summary } from '../../../../lambdas/http/exchange.ts';
import { readSettings } from '../../../../lambdas/settings.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { MemoryAddressCounters } from '../../../support/memory/memory-address-counters.ts';
import { MemoryKeyStore } from '../../../support/memory/memory-key-store.ts';
import { MemoryLedgerStore } from '../../../support/memory/memory-ledger-store.ts';
import { memoryStores, noTables } from '../../../support/memory/memory-stores.ts';
import { data, text } from '../../core/catalog/sample-data.ts';
import { keyOf } from '../../http/chain.ts';
import { functionUrlEvent, invoke } from '../../http/function-url.ts';
import { quietParts } from './quiet-parts.ts';

const PEPPER = 'pepper-of-the-tests';

export const BOT_TOKEN = '123456:token-of-the-tests';
export const TOP_UP_KEY = 'top-up-key-of-the-tests';
export const CHAT = 4_711;
export const ACCOUNT = 'account-of-4711';
/** API key that the account has at the start. */
export const firstKey = keyOf(1);
export const firstKeyId = keyIdOf(hashApiKey(PEPPER, firstKey));

/** Init data signed by an independent implementation. */
export const initDataAt = (ms: number, chat = CHAT, token = BOT_TOKEN): string =>
  sign({ user: { id: chat, first_name: 'Ada' }, query_id: 'AAF' }, token, new Date(ms));

/** Record of one completed request that arrived at `at`. */
export const ended = (at: number, changes: Partial<ChargeRecord> = {}): ChargeRecord => {
  const requestId = ulid(at);
  const charged = { outcome: 'settled', amountPicos: 5n, model: 'alpha-1' } as const;
  return { accountId: ACCOUNT, holdId: `${requestId}.0`, requestId, at, ...charged, ...changes };
};

export interface SentToApp {
  readonly method?: string;
  readonly authorization?: string;
  readonly signature?: string;
  readonly ifMatch?: string;
  readonly body?: object | string;
}

/**
 * Creates the mini app function and the account function, on in-memory stores with one account that belongs to one
 * chat.
 */
export const createAppService = async (
  toParts: (deps: FunctionDependencies) => Partial<FunctionDependencies> = () => ({}),
) => {
  const clock = new ManualClock(Date.UTC(2026, 10, 20, 12));
  const ledger = new MemoryLedgerStore();
  const keys = new MemoryKeyStore(ledger);
  const finished: Summary[] = [];
  const settings = { ...readSettings(noTables), LIMIT_ADDRESS_BURST: 10_000, LIMIT_KEY_BURST: 10_000 };
  const memory: FunctionDependencies = {
    settings,
    catalog: loadCatalog(data([text({})])),
    clock: { now: () => clock.now(), after: (delayMs, callback) => clock.after(delayMs, callback) },
    random: () => 0,
    newRequestId: () => ulid(clock.now()),
    pepper: PEPPER,
    addressCounters: new MemoryAddressCounters(),
    ...memoryStores(ledger, keys),
    upstreamHttp: () => Promise.reject(new Error('no vendor is asked here')),
    ...quietParts(finished),
    vendorAccess: () => undefined,
  };
  await memory.accounts.open({
    accountId: ACCOUNT,
    chatId: String(CHAT),
    key: toNewKey(PEPPER, firstKey, true),
    creditPicos: 0n,
    atMs: clock.now(),
  });
  const deps = { ...memory, ...toParts(memory) };
  const [handler, idempotent] = [createAppHandler(deps), createAccountHandler(deps)];

  const read = (answer: Awaited<ReturnType<typeof invoke>>) => ({ ...answer, body: JSON.parse(answer.text) });
  const eventOf = (target: string, { method = 'GET', authorization, signature, ifMatch, body }: SentToApp) => {
    const { pathname, searchParams } = new URL(target, 'https://gateway.test');
    const headers = {
      ...(authorization === undefined ? {} : { authorization }),
      ...(signature === undefined ? {} : { 'x-service-signature': signature }),
      ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
    };
    const sent = typeof body === 'object' ? JSON.stringify(body) : body;
    const event = functionUrlEvent({ method, path: pathname, headers, ...(sent === undefined ? {} : { body: sent }) });
    return { ...event, queryStringParameters: Object.fromEntries(searchParams) };
  };
  const ask = async (target: string, sent: SentToApp = {}) => read(await invoke(handler, eventOf(target, sent)));

  const opened = () => `tma ${initDataAt(clock.now())}`;
  return {
    clock,
    ledger,
    deps,
    finished,
    ask,
    /** Sends a request of the mini app that the account's owner has just opened. */
    get: (target: string) => ask(target, { authorization: opened() }),
    post: (target: string, body: object) => ask(target, { method: 'POST', authorization: opened(), body }),
    /** Sends another method, with a body and the ETag that the client has seen. */
    send: (method: string, target: string, body?: object, ifMatch?: string) =>
      ask(target, {
        method,
        authorization: opened(),
        ...(body === undefined ? {} : { body }),
        ...(ifMatch === undefined ? {} : { ifMatch }),
      }),
    topUp: (body: object | string, secret = TOP_UP_KEY) => {
      const sent = typeof body === 'string' ? body : JSON.stringify(body);
      const signature = signBody(secret, sent, Math.floor(clock.now() / 1_000));
      return ask('/app/credits', { method: 'POST', signature, body: sent });
    },
    /** Sends GET /api/account, or another route of that function, with an API key. */
    withKey: async (target: string, apiKey: string) =>
      read(await invoke(idempotent, eventOf(target, { authorization: `Bearer ${apiKey}` }))),
  };
};

export type AppService = Awaited<ReturnType<typeof createAppService>>;

export const appRoutes = [
  ['GET', '/app/api/account'],
  ['GET', '/app/api/usage'],
  ['GET', '/app/api/spend'],
  ['POST', '/app/api/threshold'],
  ['POST', '/app/api/key'],
  ['GET', '/app/api/usage/summary'],
  ['GET', '/app/api/keys'],
  ['POST', '/app/api/keys'],
  ['GET', `/app/api/keys/${firstKeyId}`],
  ['PATCH', `/app/api/keys/${firstKeyId}`],
  ['DELETE', `/app/api/keys/${firstKeyId}`],
] as const;
