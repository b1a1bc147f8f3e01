import { randomBytes } from 'node:crypto';
import { lookup } from 'node:dns';
import { catalogData } from '../catalog/index.ts';
import { parsePeppers } from '../lambdas/core/accounts/keys.ts';
import { createNotifications } from '../lambdas/core/accounts/send-notifications.ts';
import { loadCatalog } from '../lambdas/core/catalog/load-catalog.ts';
import { type StoreClock, skewProblemOf } from '../lambdas/core/store-clock.ts';
import type { FunctionDependencies } from '../lambdas/functions/wiring/dependencies.ts';
import { frontDoorOf } from '../lambdas/functions/wiring/front-door.ts';
import { createRequestIds, openStoreClock, systemClock, watchPauses } from '../lambdas/functions/wiring/ledger.ts';
import { openVendorAccess } from '../lambdas/functions/wiring/vendor-access.ts';
import { createImageFetch } from '../lambdas/providers/image-fetch.ts';
import { createUpstreamHttp } from '../lambdas/providers/upstream-http.ts';
import { createWebhookSender } from '../lambdas/providers/webhook.ts';
import { readSettings } from '../lambdas/settings.ts';
import { type EmbeddedStores, openEmbeddedStores } from './embedded-stores.ts';
import type { Engine, EngineOptions, Followers } from './engine.ts';
import { createHealth } from './health.ts';
import type { LocalSettings } from './local-settings.ts';
import { createForeignChanges, forgetLowBalances, sendLowBalances } from './stores/sqlite/changes.ts';
import { Heartbeats, startHeartbeats } from './stores/sqlite/heartbeats.ts';
import type { AccountChange } from './stores/sqlite/ledger-store.ts';
import { endUnusedQueue } from './stores/sqlite/usage-events.ts';
import { followQueue } from './usage-queue.ts';
import { createLocalVideoMachine } from './video-executions.ts';

interface EmbeddedOptions extends EngineOptions {
  readonly settings: Pick<LocalSettings, 'MODE'>;
}

/** Settings that name AWS resources. Nothing reads them here. */
const unused = {
  ACCOUNTS_TABLE: 'unused',
  KEYS_TABLE: 'unused',
  COUNTERS_TABLE: 'unused',
  IDEMPOTENCY_TABLE: 'unused',
  VIDEOS_TABLE: 'unused',
  MEDIA_BUCKET: 'unused',
} as const;

const FOLLOW_MS = 500;

const QUEUE_ENDED =
  'usage events: new charges are not queued from now on, because USAGE_EVENTS_URL was not set for a day. Set it to queue them again.';

/** SQLite and plain files in the data folder. Several processes may use one folder. */
export const openEmbeddedEngine = async (options: EmbeddedOptions): Promise<Engine> => {
  const { folder, onFailure, pages } = options;
  const clock = openStoreClock(options.reporting);
  const own = new Set<(change: AccountChange) => void>();
  const stores = await openEmbeddedStores(folder.room('database'), {
    filesFolder: folder.room('files'),
    isVerified: true,
    clock,
    onChange: (change) => {
      for (const listener of own) listener(change);
    },
  });
  await claimFor(options, stores);
  let deps: FunctionDependencies | undefined;
  const partsOf = (): FunctionDependencies => {
    if (!deps) throw new Error('a video step ran before the gateway was complete');
    return deps;
  };
  const heartbeats = new Heartbeats(stores.db, { own: systemClock, monotonicMs: () => performance.now(), clock });
  const clockProblem = () => heartbeats.problem();
  const videoMachine = createLocalVideoMachine(partsOf, stores.videoLeases, onFailure);
  const endings: (() => Promise<void> | void)[] = [stores.close, await startHeartbeats(heartbeats), videoMachine.stop];
  /** Undefined until `follow`. */
  let deliversUsage: boolean | undefined;
  deps = await createParts(options, {
    ...stores.deps,
    videoMachine,
    pages: pages.files,
    clock,
    clockProblem,
    problems: createHealth({ checks: [stores.problems, () => clockProblems(clock)] }),
  });
  return {
    deps,
    emulators: [['Database', `SQLite and files in ${folder.path}`]],
    follow: async (followers) => {
      endings.push(await startFollowing({ stores, deps, own }, followers, onFailure));
      const { usage } = followers;
      deliversUsage = usage !== undefined;
      if (usage) endings.push(await followQueue(stores.db, { ...usage, reporting: deps.reporting, onFailure }));
    },
    prune: async () => {
      // With a wrong clock, rows and files that other processes use look expired.
      if ((await clockProblem()) === undefined) await stores.prune(clock.now());
      if (deps.secrets.botToken === undefined) await forgetLowBalances(stores.db);
      if (deliversUsage === false && (await endUnusedQueue(stores.db, clock.now()))) onFailure(QUEUE_ENDED);
    },
    stop: async () => {
      for (const end of endings.splice(0).reverse()) await end();
    },
  };
};

/**
 * Stores the mode of the first start and refuses a later start in the other mode, because a development gateway gives
 * credit and prints its key (OPS-6).
 */
const claimFor = async ({ folder: { path }, settings: { MODE } }: EmbeddedOptions, { db, close }: EmbeddedStores) => {
  const claimed = await db.writeDurably(() => {
    db.sql("INSERT INTO facts (name, value) VALUES ('mode', ?) ON CONFLICT DO NOTHING").run(MODE);
    return db.sql("SELECT value FROM facts WHERE name = 'mode' AND value = ?").get(MODE);
  });
  if (claimed) return;
  await close();
  const other = MODE === 'production' ? 'development' : 'production';
  throw new Error(`${path} holds the data of a gateway in ${other}. Set MODE=${other}, or DATA_DIR to another folder.`);
};

/** Code of a clock that is too far from the store's (GEN-10). */
const clockProblems = (clock: StoreClock): readonly string[] =>
  skewProblemOf(clock.skewMs()) === undefined ? [] : ['clock'];

type OwnStores = EmbeddedStores['deps'] &
  Pick<FunctionDependencies, 'videoMachine' | 'pages' | 'problems' | 'clock' | 'clockProblem'>;

const createParts = async (
  { environment, reporting, webhooks }: EmbeddedOptions,
  stores: OwnStores,
): Promise<FunctionDependencies> => {
  const settings = readSettings({ ...environment, ...unused });
  const { clock } = stores;
  const catalog = loadCatalog(catalogData, { markup: settings.MARKUP, companies: settings.CATALOGS?.split(',') });
  return {
    ...stores,
    settings,
    random: Math.random,
    reporting,
    catalog,
    frontDoor: await frontDoorOf(settings, { clock, notice: reporting.notice }),
    publicUrl: settings.PUBLIC_URL?.replace(/\/+$/, ''),
    ...parsePeppers(settings.KEY_PEPPER ?? ''),
    secrets: { botToken: settings.BOT_TOKEN, topUpKey: settings.TOP_UP_KEY },
    vendorAccess: await openVendorAccess(catalog, environment, { settings, clock, random: Math.random, reporting }),
    upstreamHttp: createUpstreamHttp(),
    pauses: watchPauses(),
    sendWebhook: createWebhookSender({ lookup, now: clock.now }),
    ...webhooks,
    fetchImage: createImageFetch({ lookup }),
    newRequestId: createRequestIds(clock),
    newKeyBytes: () => randomBytes(32),
    newMediaToken: () => randomBytes(16).toString('hex'),
  };
};

interface Following {
  readonly stores: EmbeddedStores;
  readonly deps: FunctionDependencies;
  readonly own: Set<(change: AccountChange) => void>;
}

/**
 * Passes on writes of this process immediately. Polls for writes of other processes and for notifications twice a
 * second.
 */
const startFollowing = async (
  { stores: { db }, deps, own }: Following,
  { onChange, sendNotification }: Followers,
  onFailure: (message: string) => void,
): Promise<() => Promise<void>> => {
  const { clock, reporting } = deps;
  const foreign = createForeignChanges(db);
  await foreign.start();
  if (onChange) {
    own.add((change) => {
      foreign.remember(change.after);
      onChange({ ...change, at: clock.now(), recordOf: () => change.record });
    });
  }
  const notify = sendNotification && createNotifications({ ...deps, sendNotification });
  const look = async (): Promise<void> => {
    if (onChange) for (const change of await foreign.take()) onChange({ ...change, at: clock.now() });
    if (!notify) return;
    await sendLowBalances(db, {
      clock,
      send: notify,
      report: (name, accountId, reason) => reporting.notice(name, { accountId, reason }),
    });
  };
  let looking: Promise<void> | undefined;
  const timer = setInterval(() => {
    looking ??= look()
      .catch((error: unknown) => onFailure(`the changes of accounts cannot be followed: ${error}`))
      .finally(() => {
        looking = undefined;
      });
  }, FOLLOW_MS);
  return async () => {
    clearInterval(timer);
    await looking;
  };
};
