import { randomBytes } from 'node:crypto';
import { ulid } from 'ulid';
import { catalogData } from '../../catalog/index.ts';
import { hashApiKey, makeApiKey } from '../../lambdas/core/accounts/api-key.ts';
import type { KeyStore } from '../../lambdas/core/accounts/key-store.ts';
import { loadCatalog } from '../../lambdas/core/catalog/load-catalog.ts';
import type { Clock } from '../../lambdas/core/clock.ts';
import { parseUsd } from '../../lambdas/core/money/usd.ts';
import { createAccountHandler } from '../../lambdas/functions/wiring/account-handler.ts';
import { createAppHandler } from '../../lambdas/functions/wiring/app-handler.ts';
import { createAudioHandler } from '../../lambdas/functions/wiring/audio-handler.ts';
import { createBotHandler } from '../../lambdas/functions/wiring/bot-handler.ts';
import { createCatalogHandler } from '../../lambdas/functions/wiring/catalog-handler.ts';
import { createContentHandler } from '../../lambdas/functions/wiring/content-handler.ts';
import { createImagesHandler } from '../../lambdas/functions/wiring/images-handler.ts';
import type { Parts, VendorAccess } from '../../lambdas/functions/wiring/parts.ts';
import { createTextHandler } from '../../lambdas/functions/wiring/text-handler.ts';
import { createVideosHandler } from '../../lambdas/functions/wiring/videos-handler.ts';
import { installLambdaRuntime, streaming } from '../../lambdas/host/lambda-runtime.ts';
import { startHost } from '../../lambdas/host/server.ts';
import { toCause, toRequestRecord } from '../../lambdas/http/log/request-record.ts';
import { createUpstreamHttp } from '../../lambdas/providers/upstream-http.ts';
import { pageNames } from '../../lambdas/routes.ts';
import { readSettings } from '../../lambdas/settings.ts';
import { unlimited } from './gateway.ts';
import { MemoryAddressCounters } from './memory/memory-address-counters.ts';
import { MemoryKeyStore } from './memory/memory-key-store.ts';
import { MemoryLedgerStore } from './memory/memory-ledger-store.ts';
import { MemoryPageFiles } from './memory/memory-page-files.ts';
import { memoryStores, noTables } from './memory/memory-stores.ts';

/** On this day every model the hostile suites ask for is sold. */
const DAY = Date.UTC(2026, 10, 20);
const PEPPER = 'a pepper for tests only';

export interface HostileOptions {
  /** Where all vendors are played, without a path. Undefined: no provider has a key. */
  readonly vendor: string | undefined;
  readonly environment?: Readonly<Record<string, string>>;
  /** Unix milliseconds; a clock that stands still unless told otherwise. */
  readonly now?: () => number;
  /** In place of the models that are sold. */
  readonly catalog?: unknown;
}

export interface Holder {
  readonly balanceUsd?: string;
  readonly revoked?: boolean;
  readonly blocked?: boolean;
}

export type HostileGateway = Awaited<ReturnType<typeof startHostileGateway>>;

/** The real host and handlers in this process, on stores in memory that can be looked into. */
export const startHostileGateway = async ({ vendor, environment, now = () => DAY, catalog }: HostileOptions) => {
  installLambdaRuntime();
  const keyTable = new MemoryKeyStore();
  const ledger = new MemoryLedgerStore();
  const keyReads: string[] = [];
  const log: string[] = [];
  const crashes: unknown[] = [];
  const parts = toParts({
    vendor,
    environment,
    now,
    catalog,
    keyTable,
    keys: spiedOn(keyTable, keyReads),
    ledger,
    log,
  });
  const host = await startHost({
    handlers: {
      text: streaming(createTextHandler(parts)),
      images: streaming(createImagesHandler(parts)),
      audio: streaming(createAudioHandler(parts)),
      videos: streaming(createVideosHandler(parts)),
      content: streaming(createContentHandler(parts)),
      catalog: streaming(createCatalogHandler(parts)),
      account: streaming(createAccountHandler(parts)),
      bot: streaming(createBotHandler(parts)),
      app: streaming(createAppHandler(parts)),
    },
    port: 0,
    address: '127.0.0.1',
    now,
    newRequestId: ulid,
    onCrash: (error) => crashes.push(error),
  });
  return {
    port: host.port,
    url: `http://127.0.0.1:${host.port}`,
    pepper: PEPPER,
    ledger,
    /** Hashes looked up in the keys table, in order. */
    keyReads,
    /** What the gateway would have logged, as JSON. */
    log,
    crashes,
    /** A new account with one key. */
    issue: async ({ balanceUsd = '10', revoked = false, blocked = false }: Holder = {}) => {
      const accountId = ulid();
      const apiKey = makeApiKey(randomBytes(32));
      const hash = hashApiKey(PEPPER, apiKey);
      await ledger.createAccount(accountId);
      await ledger.credit({ accountId, ref: 'first', amountPicos: parseUsd(balanceUsd), reason: 'test', at: DAY });
      await keyTable.put(hash, accountId);
      if (revoked) await keyTable.revoke(hash);
      if (blocked) await keyTable.setBlocked(hash, true);
      return { accountId, apiKey };
    },
    stop: () => host.stop(0),
  };
};

const spiedOn = (keys: KeyStore, reads: string[]): KeyStore => ({
  take: (hash, bucket, nowMicros) => {
    reads.push(hash);
    return keys.take(hash, bucket, nowMicros);
  },
  read: (hash) => {
    reads.push(hash);
    return keys.read(hash);
  },
});

/** What each vendor's own SDK expects behind the host. */
const vendorPaths: Readonly<Record<string, string>> = {
  openai: '/v1',
  anthropic: '',
  google: '',
  byteplus: '/api/v3',
  bfl: '',
};

const accessTo = (url: string, id: string): VendorAccess | undefined =>
  vendorPaths[id] === undefined ? undefined : { baseUrl: `${url}${vendorPaths[id]}`, key: 'vendor-key' };

interface Inside extends HostileOptions {
  readonly now: () => number;
  readonly keyTable: MemoryKeyStore;
  readonly keys: KeyStore;
  readonly ledger: MemoryLedgerStore;
  readonly log: string[];
}

const pages = (): MemoryPageFiles => {
  const files = new MemoryPageFiles();
  for (const page of pageNames) files.put(page, 'index.html', '<!doctype html>', 'text/html; charset=utf-8');
  return files;
};

const toParts = ({ vendor, environment, now, catalog = catalogData, keyTable, keys, ledger, log }: Inside): Parts => ({
  settings: readSettings({
    ...noTables,
    ...unlimited,
    ...environment,
  }),
  catalog: loadCatalog(catalog, { markup: '1' }),
  clock: { now, after },
  random: Math.random,
  newRequestId: ulid,
  pepper: PEPPER,
  addressCounters: new MemoryAddressCounters(),
  ...memoryStores(ledger, keyTable),
  keys,
  pages: pages(),
  upstreamHttp: createUpstreamHttp(),
  fetchImage: () => Promise.reject(new Error('no image is fetched here')),
  vendorAccess: (id) => (vendor === undefined ? undefined : accessTo(vendor, id)),
  sendWebhook: () => Promise.reject(new Error('no webhook is sent here')),
  reporting: {
    finished: (requestId, summary) => {
      const record = { ...toRequestRecord(requestId, summary), cause: summary.cause && toCause(summary.cause) };
      log.push(JSON.stringify(record));
    },
    notice: (name, details) => log.push(JSON.stringify({ name, ...details })),
    measured: () => undefined,
  },
});

/** Time stands still for decisions, but what waits must not wait for ever. */
const after: Clock['after'] = (delayMs, callback) => {
  const timer = setTimeout(callback, delayMs);
  return () => clearTimeout(timer);
};
