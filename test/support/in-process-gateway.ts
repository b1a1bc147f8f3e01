import { randomBytes } from 'node:crypto';
import { lookup } from 'node:dns';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ulid } from 'ulid';
import { catalogData } from '../../catalog/index.ts';
import type { KeyStore } from '../../lambdas/core/accounts/key-store.ts';
import { hashApiKey, makeApiKey, toNewKey } from '../../lambdas/core/accounts/keys.ts';
import type { Catalog } from '../../lambdas/core/catalog/catalog.ts';
import { loadCatalog } from '../../lambdas/core/catalog/load-catalog.ts';
import type { Clock } from '../../lambdas/core/clock.ts';
import { type AccountAudit, auditAll } from '../../lambdas/core/ledger/audit.ts';
import type { ChargeRecord } from '../../lambdas/core/ledger/ledger.ts';
import { parseUsd } from '../../lambdas/core/money/usd.ts';
import { createAccountHandler } from '../../lambdas/functions/wiring/account-handler.ts';
import { createAppHandler } from '../../lambdas/functions/wiring/app-handler.ts';
import { createAudioHandler } from '../../lambdas/functions/wiring/audio-handler.ts';
import { createBotHandler } from '../../lambdas/functions/wiring/bot-handler.ts';
import { createCatalogHandler } from '../../lambdas/functions/wiring/catalog-handler.ts';
import { createContentHandler } from '../../lambdas/functions/wiring/content-handler.ts';
import type { FunctionDependencies } from '../../lambdas/functions/wiring/dependencies.ts';
import { frontDoorOf } from '../../lambdas/functions/wiring/front-door.ts';
import { createImagesHandler } from '../../lambdas/functions/wiring/images-handler.ts';
import { createOutboxHandler } from '../../lambdas/functions/wiring/outbox-handler.ts';
import { createSweepHandler } from '../../lambdas/functions/wiring/sweep-handler.ts';
import { createTextHandler } from '../../lambdas/functions/wiring/text-handler.ts';
import { withTracing } from '../../lambdas/functions/wiring/tracing.ts';
import { createVendorAccess } from '../../lambdas/functions/wiring/vendor-access.ts';
import { createVideosHandler } from '../../lambdas/functions/wiring/videos-handler.ts';
import { installLambdaRuntime, streaming } from '../../lambdas/host/lambda-runtime.ts';
import { type HostOptions, startHost } from '../../lambdas/host/server.ts';
import { toCause, toRequestRecord } from '../../lambdas/http/request-log.ts';
import { CredentialChoice } from '../../lambdas/providers/credential-choice.ts';
import { createImageFetch } from '../../lambdas/providers/image-fetch.ts';
import { createUpstreamHttp } from '../../lambdas/providers/upstream-http.ts';
import { createWebhookSender } from '../../lambdas/providers/webhook.ts';
import { pageNames } from '../../lambdas/routes.ts';
import { readSettings } from '../../lambdas/settings.ts';
import type { PageFile } from '../../lib/pages/build-pages.ts';
import { DATABASE_FILE, type EmbeddedStores, openEmbeddedStores } from '../../local/embedded-stores.ts';
import { localVideoTimes } from '../../local/local-settings.ts';
import { createLocalVideoMachine } from '../../local/video-executions.ts';
import type { Environment } from './gateway-process.ts';
import { MemoryPageFiles } from './memory/memory-page-files.ts';
import { noTables } from './memory/memory-stores.ts';
import { vendorEnvironment } from './vendor-environment.ts';

/** Date of every test on these stores, in Unix ms. No model of the catalog changes its price or retires near it. */
export const TEST_DAY = Date.UTC(2026, 10, 20, 12);

/** Clock that does not move, so that no rate limit recovers. */
export const frozenClock = (): number => TEST_DAY;

/**
 * Limits far above what a test sends, for tests that do not test limits. Failures that a test requests do not open a
 * circuit either.
 */
export const unlimited: Environment = {
  LIMIT_ADDRESS_PER_SECOND: '1000',
  LIMIT_ADDRESS_BURST: '1000000',
  LIMIT_KEY_PER_SECOND: '1000',
  LIMIT_KEY_BURST: '1000000',
  CIRCUIT_FAILURES: '1000000',
  CIRCUIT_CALLS: '1000000',
};

export interface InProcessOptions {
  /** URL of the server that simulates all providers, without a path. Undefined means that no provider has a key. */
  readonly vendorUrl: string | undefined;
  readonly environment?: Environment;
  /** Clock in Unix ms. By default TEST_DAY plus the time since the start. */
  readonly now?: (() => number) | undefined;
  readonly catalog?: unknown;
  /** Built pages for a browser. By default a page is a stub. */
  readonly pages?: readonly PageFile[] | undefined;
  /** Replaces some dependencies. */
  readonly change?: (deps: FunctionDependencies) => Partial<FunctionDependencies>;
}

/** Account to open, with one API key. */
export interface Holder {
  readonly accountId?: string;
  /** The bot chat that owns the account. */
  readonly chatId?: string;
  readonly balanceUsd?: string;
  readonly revoked?: boolean;
  readonly blocked?: boolean;
}

export type InProcessGateway = Awaited<ReturnType<typeof startInProcess>>;

/** Starts every route on the real HTTP host, in this process, on embedded stores in a new folder. */
export const startInProcess = async (options: InProcessOptions) => {
  installLambdaRuntime();
  const { environment = {}, now = testClock() } = options;
  const seen = { keyReads: [] as string[], log: [] as string[], crashes: [] as unknown[] };
  const handlers: Record<string, HostOptions['handlers']['text']> = {};
  const host = await startHost({
    handlers,
    port: 0,
    address: '127.0.0.1',
    now,
    newRequestId: () => ulid(now()),
    onCrash: (error) => seen.crashes.push(error),
  });
  const url = `http://127.0.0.1:${host.port}`;
  const folder = mkdtempSync(join(tmpdir(), 'gateway-'));
  const stores = await openEmbeddedStores(join(folder, 'database'), { filesFolder: join(folder, 'files') });
  const { deps: parts, videoMachine } = await createParts({ ...options, now, url, environment }, stores, seen);
  const deps = withTracing(parts, environment);
  const { ledgerStore: ledger, ledgerRecords: records } = deps;
  Object.assign(handlers, {
    text: streaming(createTextHandler(deps)),
    images: streaming(createImagesHandler(deps)),
    audio: streaming(createAudioHandler(deps)),
    videos: streaming(createVideosHandler(deps)),
    content: streaming(createContentHandler(deps)),
    catalog: streaming(createCatalogHandler(deps)),
    account: streaming(createAccountHandler(deps)),
    bot: streaming(createBotHandler(deps)),
    app: streaming(createAppHandler(deps)),
  });
  const sweep = createSweepHandler(deps);
  const settleOutbox = createOutboxHandler(deps);

  const issue = async (holder: Holder = {}) => {
    const { accountId = ulid(), chatId, balanceUsd = '10', revoked = false, blocked = false } = holder;
    const apiKey = makeApiKey(randomBytes(32));
    const hash = hashApiKey(PEPPER, apiKey);
    await deps.accounts.open({
      accountId,
      chatId,
      key: toNewKey(PEPPER, apiKey, true),
      creditPicos: parseUsd(balanceUsd),
      atMs: now(),
    });
    if (revoked) await deps.keys.revokeKey(accountId, hash);
    if (blocked) await deps.accounts.setBlocked(accountId, true, hash);
    return { accountId, apiKey, hash };
  };
  const ownerOf = async (apiKey: string) => {
    const hash = hashApiKey(PEPPER, apiKey);
    const key = await stores.deps.keys.read(hash);
    if (!key) throw new Error('the gateway does not know this key');
    return { hash, accountId: key.accountId };
  };
  return {
    ...seen,
    port: host.port,
    url,
    now,
    pepper: PEPPER,
    deps,
    ledger,
    databasePath: join(folder, 'database', DATABASE_FILE),
    /** Opens an account with one API key. */
    issue,
    revoke: async (apiKey: string): Promise<void> => {
      const { accountId, hash } = await ownerOf(apiKey);
      await deps.keys.revokeKey(accountId, hash);
    },
    block: async (apiKey: string): Promise<void> => {
      const { accountId, hash } = await ownerOf(apiKey);
      await deps.accounts.setBlocked(accountId, true, hash);
    },
    /** Returns the records of an account, newest first. */
    recordsOf: async (accountId: string): Promise<readonly ChargeRecord[]> =>
      (await records.listRecords(accountId, { limit: RECORDS_MAX })).records,
    /** Audits every account. */
    audit: (): Promise<readonly AccountAudit[]> =>
      Array.fromAsync(auditAll({ store: ledger, records, clock: deps.clock })),
    /** Runs the jobs that AWS starts every minute, once. */
    sweep: async (): Promise<void> => {
      await settleOutbox();
      await sweep();
    },
    output: (): string => seen.log.join('\n'),
    idle: host.idle,
    stop: async (): Promise<void> => {
      await host.stop(0);
      await videoMachine.stop();
      await stores.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

const PEPPER = 'a pepper for tests only';
const BOT_TOKEN = '123456:token-of-the-tests';
const TOP_UP_KEY = 'top-up-key-of-the-tests';
const RECORDS_MAX = 1_000;

const testClock = (): (() => number) => {
  const startedAt = performance.now();
  return () => TEST_DAY + Math.floor(performance.now() - startedAt);
};

interface Inside extends InProcessOptions {
  readonly environment: Environment;
  readonly now: () => number;
  readonly url: string;
}

/**
 * Catalogs that this process has loaded, kept because validation takes longer than the rest of a start. There are only
 * two.
 */
const catalogs = new Map<string, Catalog>();
const catalogOf = (data: unknown, markup: string, companies: string | undefined): Catalog => {
  if (data !== undefined) return loadCatalog(data, { markup, companies: companies?.split(',') });
  const name = `${markup} ${companies}`;
  const catalog = catalogs.get(name) ?? loadCatalog(catalogData, { markup, companies: companies?.split(',') });
  catalogs.set(name, catalog);
  return catalog;
};

interface Seen {
  readonly keyReads: string[];
  readonly log: string[];
}

const createParts = async (options: Inside, { deps: stores, videoLeases }: EmbeddedStores, { keyReads, log }: Seen) => {
  const { vendorUrl, environment, now, url } = options;
  const settings = readSettings({
    ...noTables,
    MEDIA_URL: url,
    PUBLIC_URL: url,
    START_CREDIT_USD: '1',
    TOP_UP_TEXT: `${url}/?topup={account}`,
    ...localVideoTimes(environment),
    ...unlimited,
    ...environment,
  });
  const clock: Clock = { now, after };
  const catalog = catalogOf(options.catalog, settings.MARKUP, settings.CATALOGS);
  const access = vendorUrl === undefined ? {} : vendorEnvironment(vendorUrl);
  const reporting: FunctionDependencies['reporting'] = {
    finished: (requestId, summary) => {
      const record = { ...toRequestRecord(requestId, summary), cause: summary.cause && toCause(summary.cause) };
      log.push(JSON.stringify(record));
    },
    notice: (name, details) => log.push(JSON.stringify({ name, ...details })),
    measured: () => undefined,
  };
  const videoMachine = createLocalVideoMachine(
    () => deps,
    videoLeases,
    (message) => log.push(message),
  );
  const base: FunctionDependencies = {
    ...stores,
    settings,
    catalog,
    clock,
    random: Math.random,
    newRequestId: () => ulid(now()),
    newMediaToken: () => randomBytes(16).toString('hex'),
    newKeyBytes: () => randomBytes(32),
    pepper: PEPPER,
    olderPeppers: [],
    frontDoor: await frontDoorOf(settings, { clock, notice: reporting.notice }),
    publicUrl: settings.PUBLIC_URL,
    secrets: { botToken: settings.BOT_TOKEN ?? BOT_TOKEN, topUpKey: settings.TOP_UP_KEY ?? TOP_UP_KEY },
    keys: spiedOn(stores.keys, keyReads),
    pages: options.pages ? builtPages(options.pages) : stubPages(),
    upstreamHttp: createUpstreamHttp(),
    fetchImage: createImageFetch({ lookup }),
    vendorAccess: createVendorAccess(
      catalog,
      { ...access, ...environment },
      new CredentialChoice({ now, random: Math.random, notice: reporting.notice }),
    ),
    sendWebhook: createWebhookSender({ lookup, now }),
    reporting,
    videoMachine,
  };
  const deps: FunctionDependencies = { ...base, ...options.change?.(base) };
  return { deps, videoMachine };
};

/** Adds the hash of every lookup to `reads`. */
const spiedOn = (keys: KeyStore, reads: string[]): KeyStore => ({
  ...keys,
  take: (hash, bucket, now) => {
    reads.push(hash);
    return keys.take(hash, bucket, now);
  },
  read: (hash) => {
    reads.push(hash);
    return keys.read(hash);
  },
});

const OPENAPI = join(import.meta.dirname, '../../web/api-reference/openapi.json');

const builtPages = (built: readonly PageFile[]): MemoryPageFiles => {
  const files = new MemoryPageFiles();
  for (const { page, file, bytes, mediaType } of built) files.put(page, file, bytes, mediaType);
  return files;
};

const stubPages = (): MemoryPageFiles => {
  const files = new MemoryPageFiles();
  for (const page of pageNames) files.put(page, 'index.html', '<!doctype html>', 'text/html; charset=utf-8');
  files.put('api-reference', 'guides/clients.html', '<!doctype html>', 'text/html; charset=utf-8');
  files.put('api-reference', 'guides/quick-start.html', '<!doctype html>', 'text/html; charset=utf-8');
  files.put('api-reference', 'routes/chat-completions.html', '<!doctype html>', 'text/html; charset=utf-8');
  files.put('api-reference', 'llms.txt', '# API', 'text/plain; charset=utf-8');
  files.put('api-reference', 'openapi.json', readFileSync(OPENAPI, 'utf8'), 'application/json; charset=utf-8');
  return files;
};

const after: Clock['after'] = (delayMs, callback) => {
  const timer = setTimeout(callback, delayMs);
  return () => clearTimeout(timer);
};
