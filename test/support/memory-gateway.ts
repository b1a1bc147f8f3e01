import { randomBytes } from 'node:crypto';
import { lookup } from 'node:dns';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ulid } from 'ulid';
import { catalogData } from '../../catalog/index.ts';
import { hashApiKey, makeApiKey } from '../../lambdas/core/accounts/api-key.ts';
import type { KeyStore } from '../../lambdas/core/accounts/key-store.ts';
import { toNewKey } from '../../lambdas/core/accounts/new-key.ts';
import type { Catalog } from '../../lambdas/core/catalog/catalog.ts';
import { loadCatalog } from '../../lambdas/core/catalog/load-catalog.ts';
import type { Clock } from '../../lambdas/core/clock.ts';
import { type AccountAudit, auditAll } from '../../lambdas/core/ledger/audit.ts';
import { parseUsd } from '../../lambdas/core/money/usd.ts';
import type { VideoMachine } from '../../lambdas/core/videos/video-machine.ts';
import { createAccountHandler } from '../../lambdas/functions/wiring/account-handler.ts';
import { createAppHandler } from '../../lambdas/functions/wiring/app-handler.ts';
import { createAudioHandler } from '../../lambdas/functions/wiring/audio-handler.ts';
import { createBotHandler } from '../../lambdas/functions/wiring/bot-handler.ts';
import { createCatalogHandler } from '../../lambdas/functions/wiring/catalog-handler.ts';
import { createContentHandler } from '../../lambdas/functions/wiring/content-handler.ts';
import { openDoorOf } from '../../lambdas/functions/wiring/front-door.ts';
import { createImagesHandler } from '../../lambdas/functions/wiring/images-handler.ts';
import { createOutboxHandler } from '../../lambdas/functions/wiring/outbox-handler.ts';
import type { Parts } from '../../lambdas/functions/wiring/parts.ts';
import { createSweepHandler } from '../../lambdas/functions/wiring/sweep-handler.ts';
import { createTextHandler } from '../../lambdas/functions/wiring/text-handler.ts';
import { createVendorAccess } from '../../lambdas/functions/wiring/vendor-access.ts';
import { createVideoStepsHandler } from '../../lambdas/functions/wiring/video-steps-handler.ts';
import { createVideosHandler } from '../../lambdas/functions/wiring/videos-handler.ts';
import { installLambdaRuntime, streaming } from '../../lambdas/host/lambda-runtime.ts';
import { type HostOptions, startHost } from '../../lambdas/host/server.ts';
import { toCause, toRequestRecord } from '../../lambdas/http/log/request-record.ts';
import { createImageFetch } from '../../lambdas/providers/image-fetch.ts';
import { createUpstreamHttp } from '../../lambdas/providers/upstream-http.ts';
import { createWebhookSender } from '../../lambdas/providers/webhook.ts';
import { pageNames } from '../../lambdas/routes.ts';
import { readSettings } from '../../lambdas/settings.ts';
import type { PageFile } from '../../lib/pages/build-pages.ts';
import { readDefinition, toSubstitutions } from '../../lib/video/definition.ts';
import { createExecutions, type Executions } from '../../local/executions.ts';
import { localVideoTimes } from '../../local/local-settings.ts';
import { localMachineArn } from '../../local/step-functions-stand-in.ts';
import type { Environment } from './gateway-process.ts';
import { MemoryAddressCounters } from './memory/memory-address-counters.ts';
import { MemoryKeyStore } from './memory/memory-key-store.ts';
import { MemoryLedgerStore } from './memory/memory-ledger-store.ts';
import { MemoryPageFiles } from './memory/memory-page-files.ts';
import { memoryStores, noTables } from './memory/memory-stores.ts';
import { vendorEnvironment } from './vendor-environment.ts';

/** The day of every test on these stores: no model of the catalog changes its price or retires near it. */
export const TEST_DAY = Date.UTC(2026, 10, 20, 12);

/** A clock that does not move, so that no rate limit recovers. */
export const frozenClock = (): number => TEST_DAY;

/** Limits far above what a test sends, for tests that are not about limits. Nor do requested failures open a circuit. */
export const unlimited: Environment = {
  LIMIT_ADDRESS_PER_SECOND: '1000',
  LIMIT_ADDRESS_BURST: '1000000',
  LIMIT_KEY_PER_SECOND: '1000',
  LIMIT_KEY_BURST: '1000000',
  CIRCUIT_FAILURES: '1000000',
  CIRCUIT_CALLS: '1000000',
};

export interface MemoryGatewayOptions {
  /** URL of the server that plays all providers, without a path. Undefined: no provider has a key. */
  readonly vendorUrl: string | undefined;
  readonly environment?: Environment;
  /** Unix ms. By default TEST_DAY plus the time since the start. */
  readonly now?: (() => number) | undefined;
  readonly catalog?: unknown;
  /** Built pages for a browser. By default a page is a stub. */
  readonly pages?: readonly PageFile[] | undefined;
  /** Replaces some dependencies. */
  readonly change?: (parts: Parts) => Partial<Parts>;
}

/** An account to open, with one API key. */
export interface Holder {
  readonly accountId?: string;
  /** The bot chat that owns the account. */
  readonly chatId?: string;
  readonly balanceUsd?: string;
  readonly revoked?: boolean;
  readonly blocked?: boolean;
}

export type MemoryGateway = Awaited<ReturnType<typeof startMemoryGateway>>;

/** Every route on the real HTTP host, in this process, on stores in memory. Starts in a few milliseconds. */
export const startMemoryGateway = async (options: MemoryGatewayOptions) => {
  installLambdaRuntime();
  const { environment = {}, now = testClock() } = options;
  const stores = { keys: new MemoryKeyStore(), ledger: new MemoryLedgerStore() };
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
  const { parts, executions } = await createParts(
    { ...options, now, url, environment },
    stores,
    seen.keyReads,
    seen.log,
  );
  Object.assign(handlers, {
    text: streaming(createTextHandler(parts)),
    images: streaming(createImagesHandler(parts)),
    audio: streaming(createAudioHandler(parts)),
    videos: streaming(createVideosHandler(parts)),
    content: streaming(createContentHandler(parts)),
    catalog: streaming(createCatalogHandler(parts)),
    account: streaming(createAccountHandler(parts)),
    bot: streaming(createBotHandler(parts)),
    app: streaming(createAppHandler(parts)),
  });
  const sweep = createSweepHandler(parts);
  const settleOutbox = createOutboxHandler(parts);

  const issue = async (holder: Holder = {}) => {
    const { accountId = ulid(), chatId, balanceUsd = '10', revoked = false, blocked = false } = holder;
    const apiKey = makeApiKey(randomBytes(32));
    const hash = hashApiKey(PEPPER, apiKey);
    await parts.accounts.open({
      accountId,
      chatId,
      key: toNewKey(PEPPER, apiKey, true),
      creditPicos: parseUsd(balanceUsd),
      atMs: now(),
    });
    if (revoked) await stores.keys.revoke(hash);
    if (blocked) await stores.keys.setBlocked(hash, true);
    return { accountId, apiKey, hash };
  };
  return {
    ...seen,
    port: host.port,
    url,
    now,
    pepper: PEPPER,
    parts,
    ledger: stores.ledger,
    keys: stores.keys,
    /** Opens an account with one API key. */
    issue,
    revoke: (apiKey: string) => stores.keys.revoke(hashApiKey(PEPPER, apiKey)),
    block: (apiKey: string) => stores.keys.setBlocked(hashApiKey(PEPPER, apiKey), true),
    /** Audits every account. */
    audit: (): Promise<readonly AccountAudit[]> =>
      Array.fromAsync(auditAll({ store: stores.ledger, records: stores.ledger, clock: parts.clock })),
    /** Runs what AWS runs every minute, once. */
    sweep: async (): Promise<void> => {
      await settleOutbox();
      await sweep();
    },
    output: (): string => seen.log.join('\n'),
    idle: host.idle,
    stop: async (): Promise<void> => {
      await host.stop(0);
      await executions.stop();
    },
  };
};

const PEPPER = 'a pepper for tests only';

const testClock = (): (() => number) => {
  const startedAt = performance.now();
  return () => TEST_DAY + Math.floor(performance.now() - startedAt);
};

interface Inside extends MemoryGatewayOptions {
  readonly environment: Environment;
  readonly now: () => number;
  readonly url: string;
}

interface Stores {
  readonly keys: MemoryKeyStore;
  readonly ledger: MemoryLedgerStore;
}

/** Two catalogs are loaded once per process: validation costs more than all the rest of a start. */
const catalogs = new Map<string, Catalog>();
const catalogOf = (data: unknown, markup: string, companies: string | undefined): Catalog => {
  if (data !== undefined) return loadCatalog(data, { markup, companies: companies?.split(',') });
  const name = `${markup} ${companies}`;
  const catalog = catalogs.get(name) ?? loadCatalog(catalogData, { markup, companies: companies?.split(',') });
  catalogs.set(name, catalog);
  return catalog;
};

const createParts = async (options: Inside, { keys, ledger }: Stores, keyReads: string[], log: string[]) => {
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
  const reporting: Parts['reporting'] = {
    finished: (requestId, summary) => {
      const record = { ...toRequestRecord(requestId, summary), cause: summary.cause && toCause(summary.cause) };
      log.push(JSON.stringify(record));
    },
    notice: (name, details) => log.push(JSON.stringify({ name, ...details })),
    measured: () => undefined,
  };
  const stores = memoryStores(ledger, keys);
  const { botToken, topUpKey } = stores.secrets;
  const base: Parts = {
    ...stores,
    settings,
    catalog,
    clock,
    random: Math.random,
    newRequestId: () => ulid(now()),
    newMediaToken: () => randomBytes(16).toString('hex'),
    pepper: PEPPER,
    door: await openDoorOf(settings, { clock, notice: reporting.notice }),
    publicUrl: settings.PUBLIC_URL,
    secrets: { botToken: settings.BOT_TOKEN ?? botToken, topUpKey: settings.TOP_UP_KEY ?? topUpKey },
    addressCounters: new MemoryAddressCounters(),
    keys: spiedOn(keys, keyReads),
    pages: options.pages ? builtPages(options.pages) : stubPages(),
    upstreamHttp: createUpstreamHttp(),
    fetchImage: createImageFetch({ lookup }),
    vendorAccess: createVendorAccess(catalog, { ...access, ...environment }),
    sendWebhook: createWebhookSender({ lookup, now }),
    reporting,
  };
  const executions = createVideoExecutions(() => parts, log);
  const videoMachine: VideoMachine = {
    start: async (videoId) => {
      const found = executions.find(videoId) ?? executions.start(videoId, JSON.stringify({ videoId }));
      return found.status === 'RUNNING' ? 'running' : 'ended';
    },
  };
  const parts: Parts = { ...base, videoMachine, ...options.change?.({ ...base, videoMachine }) };
  return { parts, executions };
};

/** The deployed state machine. Its steps call the handler that AWS would call. */
const createVideoExecutions = (partsOf: () => Parts, log: string[]): Executions => {
  let handler: ReturnType<typeof createVideoStepsHandler> | undefined;
  const runTask = (task: unknown): Promise<object> => {
    handler ??= createVideoStepsHandler(partsOf());
    return handler(task);
  };
  let executions: Executions | undefined;
  const open = (): Executions => {
    executions ??= createExecutions({
      definition: readDefinition(toSubstitutions({ stepFunctionArn: STEP_ARN, settings: partsOf().settings })),
      machineArn: localMachineArn,
      runTask,
      onUnfinished: async (videoId) => void (await runTask({ step: 'release', videoId })),
      onFailure: (message) => log.push(message),
    });
    return executions;
  };
  return {
    find: (name) => executions?.find(name),
    list: () => executions?.list() ?? [],
    start: (name, input) => open().start(name, input),
    abort: (name) => executions?.abort(name),
    stop: async () => executions?.stop(),
  };
};

const STEP_ARN = 'arn:aws:lambda:us-east-1:000000000000:function:videoSteps';

/** Records the hash of every lookup. */
const spiedOn = (keys: MemoryKeyStore, reads: string[]): KeyStore => ({
  take: (hash, bucket, nowMicros) => {
    reads.push(hash);
    return keys.take(hash, bucket, nowMicros);
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
  files.put('api-reference', 'openapi.json', readFileSync(OPENAPI, 'utf8'), 'application/json; charset=utf-8');
  return files;
};

const after: Clock['after'] = (delayMs, callback) => {
  const timer = setTimeout(callback, delayMs);
  return () => clearTimeout(timer);
};
