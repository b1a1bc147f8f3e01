import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAccountHandler } from '../lambdas/functions/wiring/account-handler.ts';
import { createAppHandler } from '../lambdas/functions/wiring/app-handler.ts';
import { createAudioHandler } from '../lambdas/functions/wiring/audio-handler.ts';
import { createBotHandler } from '../lambdas/functions/wiring/bot-handler.ts';
import { createCatalogHandler } from '../lambdas/functions/wiring/catalog-handler.ts';
import { createContentHandler } from '../lambdas/functions/wiring/content-handler.ts';
import type { FunctionDependencies } from '../lambdas/functions/wiring/dependencies.ts';
import { createImagesHandler } from '../lambdas/functions/wiring/images-handler.ts';
import { systemClock } from '../lambdas/functions/wiring/ledger.ts';
import { createOutboxHandler } from '../lambdas/functions/wiring/outbox-handler.ts';
import { toProcessDependencies } from '../lambdas/functions/wiring/paid-call.ts';
import type { Output } from '../lambdas/functions/wiring/reporting.ts';
import { createSweepHandler } from '../lambdas/functions/wiring/sweep-handler.ts';
import { createTextHandler } from '../lambdas/functions/wiring/text-handler.ts';
import { endpointOf, withTracing } from '../lambdas/functions/wiring/tracing.ts';
import { createResumeAll, createVideoSweepHandler } from '../lambdas/functions/wiring/video-sweep-handler.ts';
import { createVideosHandler } from '../lambdas/functions/wiring/videos-handler.ts';
import { installLambdaRuntime, streaming } from '../lambdas/host/lambda-runtime.ts';
import { type Host, type HostOptions, startHost } from '../lambdas/host/server.ts';
import { createNotificationSender } from '../lambdas/messenger/low-balance-notification.ts';
import {
  type DataFolder,
  hasRoom,
  joinDataFolder,
  openDataFolder,
  readOrCreateSecret,
  resetDataFolder,
} from './data-folder.ts';
import { DATABASE_FILE } from './embedded-stores.ts';
import type { Engine, Environment } from './engine.ts';
import { freePort } from './free-port.ts';
import { listAccounts, openLocalAccount, readLocalKeyState, readPepper } from './local-account.ts';
import { hostDefaults, type LocalSettings } from './local-settings.ts';
import { networkFileSystemOf } from './network-file-system.ts';
import { createLocalReporting } from './output.ts';
import { openLocalPages } from './pages.ts';
import { startMemoryRelease } from './release-memory.ts';
import { modeOf } from './stores/sqlite/database-file.ts';
import { createClientIp, isSharedPeer } from './trusted-proxies.ts';
import type { UsageReceiver } from './usage-delivery.ts';
import { createUsageEndpoint } from './usage-endpoint.ts';
import type { Emulator, Welcome } from './welcome.ts';

export interface LocalGateway {
  readonly welcome: Welcome;
  /** Completes the requests in progress for a limited time. */
  stop(): Promise<void>;
}

export type StoreName = 'embedded' | 'dynamodb';

export interface LocalGatewayOptions {
  readonly settings: LocalSettings;
  /** Settings of the functions. */
  readonly environment: Environment;
  readonly store: StoreName;
  readonly reset: boolean;
  readonly output: Output;
}

/** Time that the last traces have when the program stops, in ms. */
const TRACES_MS = 2_000;

type Endings = (() => Promise<unknown> | unknown)[];

/**
 * Starts the whole service in this process. If a part fails, stops the parts that have started and throws an Error in
 * one sentence. With `PORT=0` it tries other free ports.
 */
export const startLocalGateway = async (options: LocalGatewayOptions): Promise<LocalGateway> => {
  const endings: Endings = [];
  const stop = async (): Promise<void> => {
    for (const end of endings.splice(0).reverse()) await end();
  };
  for (let left = options.settings.PORT === 0 ? FREE_PORT_TRIES : 1; ; left -= 1) {
    try {
      return { welcome: await start(options, endings), stop };
    } catch (error) {
      await stop();
      if (left === 1 || !isPortTaken(error)) throw error;
    }
  }
};

/** Starts with a free port, because another program can take the port before this one listens. */
const FREE_PORT_TRIES = 5;

export const isPortTaken = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';

const start = async (options: LocalGatewayOptions, endings: Endings): Promise<Welcome> => {
  const { settings, output } = options;
  const isProduction = settings.MODE === 'production';
  const folder = await openFolder(options);
  endings.push(() => folder.close());
  const onFailure = (message: string): void => void output.stderr.write(`${message}\n`);
  warnOfNetwork(folder, onFailure);
  const port = settings.PORT || (await freePort(settings.HOST));
  const url = `http://${urlHost(settings.HOST)}:${port}`;
  const development = isProduction ? undefined : await openDevelopment(folder, { ...options, url }, endings);
  const topUpKey = settings.TOP_UP_KEY ?? (isProduction ? undefined : readOrCreateTopUpKey(folder));
  const environment = {
    ...options.environment,
    ...hostDefaults(options.environment, url),
    KEY_PEPPER: readPepper(folder),
    TOP_UP_KEY: settings.CREDITS === 'on' ? topUpKey : '',
    ...development?.environment,
  };
  const pages = openLocalPages({ prefersBuilt: isProduction, onFailure });
  const reporting = createLocalReporting(settings.LOG, output);
  const { webhooks } = development ?? {};
  const parts = { settings, folder, environment, reporting, pages, webhooks, onFailure };
  const engine = await openEngine(options.store, parts);
  endings.push(engine.stop);
  const deps = withTracing(engine.deps, environment);
  const { tracing } = deps.reporting;
  if (tracing) endings.push(() => tracing.flush(TRACES_MS));
  const account = isProduction
    ? undefined
    : await openLocalAccount({
        deps,
        folder,
        apiKey: settings.LOCAL_API_KEY,
        balanceUsd: settings.LOCAL_BALANCE_USD,
      });
  const page =
    development && account && topUpKey !== undefined
      ? development.openPage({
          port,
          apiKey: account.apiKey,
          readKeyState: () => readLocalKeyState(deps, account.apiKey),
          readAccounts: () => listAccounts(deps),
          topUpKey,
          files: pages.localPage,
          onFailure,
        })
      : undefined;
  const host = await openHost(deps, {
    port,
    address: settings.HOST,
    ...connectionsOf(settings),
    beside: page?.take,
    onCrash: (error) => onFailure(`a handler failed: ${placeOf(error)}`),
  });
  endings.push(() => stopHost(host, settings.SHUTDOWN_SECONDS, onFailure));
  endings.push(await startTimers(engine, settings.SWEEP_SECONDS * 1_000, onFailure));
  await engine.follow({
    onChange: page?.takeChange,
    sendNotification: noticeSenderOf(deps),
    usage: usageReceiverOf(settings, deps),
  });
  if (page) endings.push(page.stop);
  development?.connectMessenger(`${url}/bot`);
  const emulators = [...engine.emulators, ...(development?.emulators ?? [])];
  return { url, account, emulators, destinations: destinationsOf(settings, endpointOf(deps.settings)) };
};

/** Where the program sends data on request of its settings. Origins only: a path or user information can be secret. */
const destinationsOf = (
  { USAGE_EVENTS_URL, LOCAL_WEBHOOKS }: LocalSettings,
  tracesUrl: string | undefined,
): Welcome['destinations'] => [
  ...(tracesUrl === undefined ? [] : [['Traces', new URL(tracesUrl).origin] as const]),
  ...(USAGE_EVENTS_URL === undefined ? [] : [['Usage events', new URL(USAGE_EVENTS_URL).origin] as const]),
  ...(LOCAL_WEBHOOKS === 'on' ? [['Webhooks', 'also other ports of this machine (LOCAL_WEBHOOKS=on)'] as const] : []),
];

const urlHost = (address: string): string => {
  if (address === '0.0.0.0' || address === '::') return '127.0.0.1';
  return address.includes(':') ? `[${address}]` : address;
};

const readOrCreateTopUpKey = (folder: DataFolder): string =>
  readOrCreateSecret(folder, 'top-up-key', () => randomBytes(32).toString('hex'));

/** The emulators need the folder for themselves. Several processes may share the embedded stores. */
const openFolder = async ({ settings: { DATA_DIR }, store, reset }: LocalGatewayOptions): Promise<DataFolder> => {
  if (reset) {
    refuseProductionData(DATA_DIR);
    await resetDataFolder(DATA_DIR);
  }
  if (store === 'dynamodb') return openDataFolder(DATA_DIR);
  if (hasRoom(DATA_DIR, 'dynamodb') && !hasRoom(DATA_DIR, 'database')) {
    throw new Error(
      `${DATA_DIR} holds data of the DynamoDB emulator. Use it with npm start -- --store dynamodb, or set DATA_DIR to a new folder.`,
    );
  }
  return joinDataFolder(DATA_DIR);
};

/**
 * Refuses to reset the data of a production gateway. Reads the mode from the database, because `MODE` may be missing in
 * the environment (OPS-6).
 */
const refuseProductionData = (folder: string): void => {
  if (modeOf(join(folder, 'database', DATABASE_FILE)) !== 'production') return;
  throw new Error(
    `${folder} holds the data of a gateway in production, so it was not reset. To remove all accounts and their money, delete this folder.`,
  );
};

const warnOfNetwork = ({ path }: DataFolder, warn: (message: string) => void): void => {
  const type = networkFileSystemOf(path);
  if (type !== undefined) {
    warn(
      `${path} is on a network file system (${type}), which is not supported. Set DATA_DIR to a folder on a local disk.`,
    );
  }
};

type DevelopmentPage = Omit<
  import('./page/local-page.ts').LocalPageOptions,
  'vendors' | 'messenger' | 'url' | 'allowsOtherPorts'
>;

/**
 * Opens the parts that exist only in development: simulated providers, a messenger and the page that shows them. Their
 * modules are loaded only there.
 */
const openDevelopment = async (
  folder: DataFolder,
  { environment: own, settings, url }: LocalGatewayOptions & { readonly url: string },
  endings: Endings,
) => {
  const [{ openVendors }, { openMessenger }, { createLocalPage }, { createLocalWebhooks }] = await Promise.all([
    import('./local-vendors.ts'),
    import('./page/open-messenger.ts'),
    import('./page/local-page.ts'),
    import('./local-webhooks.ts'),
  ]);
  const allowsOtherPorts = settings.LOCAL_WEBHOOKS === 'on';
  const vendors = await openVendors(own);
  endings.push(vendors.stop);
  const messenger = await openMessenger(folder, own);
  endings.push(messenger.stop);
  const emulators: readonly Emulator[] = [...vendors.emulators, messenger.emulator];
  return {
    environment: { ...vendors.environment, ...messenger.environment },
    emulators,
    webhooks: createLocalWebhooks({ url, allowsOtherPorts, now: systemClock.now }),
    openPage: (options: DevelopmentPage) =>
      createLocalPage({ ...options, url, allowsOtherPorts, vendors, messenger: messenger.chat }),
    connectMessenger: messenger.connect,
  };
};

/** The emulators are loaded only when used: they take memory, and a production install does not have them. */
const openEngine = async (
  store: StoreName,
  options: Parameters<typeof import('./embedded-engine.ts').openEmbeddedEngine>[0] & { settings: LocalSettings },
): Promise<Engine> => {
  if (store === 'embedded') return (await import('./embedded-engine.ts')).openEmbeddedEngine(options);
  return (await import('./emulated-engine.ts')).openEmulatedEngine(options);
};

type Connections = Pick<HostOptions, 'sourceIp' | 'connectionLimit' | 'keepAliveMs'>;

const connectionsOf = ({ TRUST_PROXY, CONNECTIONS_PER_IP, KEEP_ALIVE_SECONDS }: LocalSettings): Connections => ({
  sourceIp: createClientIp(TRUST_PROXY),
  connectionLimit: { perAddress: CONNECTIONS_PER_IP, isExempt: isSharedPeer(TRUST_PROXY) },
  keepAliveMs: KEEP_ALIVE_SECONDS * 1_000,
});

type HostPlace = Connections & Pick<HostOptions, 'port' | 'address' | 'beside' | 'onCrash'>;

/** Every HTTP function behind one port. */
const openHost = (deps: FunctionDependencies, place: HostPlace): Promise<Host> => {
  installLambdaRuntime();
  const ports = toProcessDependencies(deps);
  return startHost({
    handlers: {
      text: streaming(createTextHandler(deps, ports)),
      images: streaming(createImagesHandler(deps, ports)),
      audio: streaming(createAudioHandler(deps, ports)),
      videos: streaming(createVideosHandler(deps, ports)),
      content: streaming(createContentHandler(deps)),
      catalog: streaming(createCatalogHandler(deps)),
      account: streaming(createAccountHandler(deps)),
      bot: streaming(createBotHandler(deps)),
      app: streaming(createAppHandler(deps)),
    },
    now: deps.clock.now,
    newRequestId: deps.newRequestId,
    ...place,
  });
};

/**
 * Stops the host. Handlers may continue after their clients have left, so they share the time limit with the
 * connections (BILL-8). Reports the requests that are interrupted, because the log has no line for them.
 */
const stopHost = async (host: Host, limitSeconds: number, onFailure: (message: string) => void): Promise<void> => {
  const limitMs = limitSeconds * 1_000;
  const limit = new AbortController();
  const timeout = sleep(limitMs, undefined, { signal: limit.signal }).catch(() => undefined);
  await host.stop(limitMs);
  await Promise.race([host.idle(), timeout]);
  limit.abort();
  if (host.running() === 0) return;
  onFailure(
    `Requests interrupted because they did not end within SHUTDOWN_SECONDS=${limitSeconds}: ${host.running()}. Their holds stay until they expire.`,
  );
};

/** Returns the name and the stack frames of an error, without its message, which could quote a prompt (ERR-5). */
const placeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return typeof error;
  const frames = error.stack?.split('\n').filter((line) => line.startsWith('    at ')) ?? [];
  return [error.name, ...frames].join('\n');
};

/**
 * Returns the error as text. Includes each part of an AggregateError, such as an outbox entry that cannot be read and
 * needs an operator.
 */
const reasonsOf = (error: unknown): string =>
  error instanceof AggregateError ? [error.message, ...error.errors.map(String)].join('; ') : String(error);

const noticeSenderOf = ({ secrets, settings, publicUrl }: FunctionDependencies) =>
  secrets.botToken === undefined
    ? undefined
    : createNotificationSender({ access: { botToken: secrets.botToken, apiUrl: settings.BOT_API_URL }, publicUrl });

const usageReceiverOf = (
  { USAGE_EVENTS_URL: url, USAGE_EVENTS_SECRET: secret }: LocalSettings,
  { clock: { now }, settings }: FunctionDependencies,
): UsageReceiver | undefined =>
  url === undefined || secret === undefined
    ? undefined
    : {
        publisherFor: (signal) => createUsageEndpoint({ url, secret, now, signal }),
        source: settings.USAGE_EVENTS_SOURCE,
        endpoint: new URL(url).host,
      };

/**
 * Runs the scheduled tasks every minute, as AWS does. The first run resumes every unfinished video, because its
 * execution ended with its process.
 */
const startTimers = async (
  { deps, prune }: Engine,
  everyMs: number,
  onFailure: (message: string) => void,
): Promise<() => Promise<void>> => {
  const sweep = createSweepHandler(deps);
  const settleOutbox = createOutboxHandler(deps);
  const sweepVideos = createVideoSweepHandler(deps);
  const resumeAll = createResumeAll(deps);
  let isResumed = false;
  const lookAfterVideos = async (): Promise<void> => {
    if (isResumed) return sweepVideos();
    const report = await resumeAll();
    isResumed = report?.failed === 0;
  };
  const attempt = (work: () => Promise<void>): Promise<void> =>
    work().catch((error: unknown) => onFailure(`the sweeper failed: ${reasonsOf(error)}`));
  const run = async (): Promise<void> => {
    for (const work of [lookAfterVideos, settleOutbox, sweep, prune]) await attempt(work);
  };
  await attempt(lookAfterVideos);
  let running: Promise<void> | undefined;
  const timer = setInterval(() => {
    running ??= run().finally(() => {
      running = undefined;
    });
  }, everyMs);
  const endMemoryRelease = startMemoryRelease();
  return async () => {
    clearInterval(timer);
    endMemoryRelease();
    await running;
  };
};
