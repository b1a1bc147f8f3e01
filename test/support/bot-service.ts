import { catalogData } from '../../catalog/index.ts';
import { hashApiKey } from '../../lambdas/core/accounts/keys.ts';
import type { Catalog } from '../../lambdas/core/catalog/catalog.ts';
import { loadCatalog } from '../../lambdas/core/catalog/load-catalog.ts';
import { bucketOf } from '../../lambdas/core/limits/rate-limit.ts';
import { createBotHandler } from '../../lambdas/functions/wiring/bot-handler.ts';
import type { FunctionDependencies } from '../../lambdas/functions/wiring/dependencies.ts';
import type { Summary } from '../../lambdas/http/exchange.ts';
import { readSettings } from '../../lambdas/settings.ts';
import { type LocalMessenger, startMessenger } from '../../local/simulators/messenger/messenger.ts';
import { functionUrlEvent, invoke } from '../lambdas/http/function-url.ts';
import { BOT_TOKEN, botHeaders, type SentText, toUpdate, USER } from './bot-updates.ts';
import { ManualClock } from './memory/manual-clock.ts';
import { MemoryAddressCounters } from './memory/memory-address-counters.ts';
import { MemoryKeyStore } from './memory/memory-key-store.ts';
import { MemoryLedgerStore } from './memory/memory-ledger-store.ts';
import { memoryStores, noTables } from './memory/memory-stores.ts';

const PEPPER = 'pepper-of-the-tests';

export type BotServiceOptions = {
  readonly environment?: Readonly<Record<string, string>>;
  readonly catalog?: Catalog;
  /** Replaces some dependencies. */
  readonly change?: (deps: FunctionDependencies) => Partial<FunctionDependencies>;
};

const atOnce = (callback: () => void) => {
  const immediate = setImmediate(callback);
  return () => clearImmediate(immediate);
};

const refuse = (what: string) => () => Promise.reject(new Error(`no ${what} expected`));

/** Creates the bot function as it is wired, on in-memory fakes, with a Bot API behind HTTP. */
export async function createBotService({ environment = {}, catalog, change = () => ({}) }: BotServiceOptions = {}) {
  const messenger: LocalMessenger = await startMessenger({ botToken: BOT_TOKEN });
  const clock = new ManualClock(Date.UTC(2026, 10, 20, 12));
  const ledger = new MemoryLedgerStore();
  const keys = new MemoryKeyStore(ledger);
  const finished: Summary[] = [];
  const notices: (readonly [name: string, details: object])[] = [];
  let ids = 0;
  const base: FunctionDependencies = {
    settings: readSettings({
      ...noTables,
      BOT_API_URL: messenger.url,
      PUBLIC_URL: 'https://gateway.example',
      START_CREDIT_USD: '2.5',
      ...environment,
    }),
    catalog: catalog ?? loadCatalog(catalogData),
    // The test sets the time. Timers run immediately, because the Bot API responds in real time.
    clock: { now: () => clock.now(), after: (_, callback) => atOnce(callback) },
    random: () => 0,
    newRequestId: () => `01K000000000000000000000${String(++ids).padStart(2, '0')}`,
    pepper: PEPPER,
    addressCounters: new MemoryAddressCounters(),
    ...memoryStores(ledger, keys),
    upstreamHttp: refuse('provider call'),
    fetchImage: refuse('image download'),
    vendorAccess: () => undefined,
    sendWebhook: refuse('webhook'),
    reporting: {
      finished: (_id, summary) => finished.push({ ...summary }),
      notice: (name, details) => notices.push([name, details]),
      measured: () => undefined,
    },
  };
  const deps = { ...base, publicUrl: base.settings.PUBLIC_URL, ...change(base) };
  const handler = createBotHandler(deps);
  let updates = 0;

  const post = (update: object) =>
    invoke(
      handler,
      functionUrlEvent({
        method: 'POST',
        path: '/bot',
        headers: botHeaders,
        body: JSON.stringify(update),
        base64: true,
      }),
    );

  return {
    messenger,
    deps,
    clock,
    ledger,
    finished,
    notices,
    post,
    /** Sends a message to the bot. The update gets the next id unless `more` has one. */
    say: (text: string, more: Partial<SentText> = {}) => {
      updates += 1;
      return post(toUpdate({ updateId: updates, text, ...more }));
    },
    /** Returns the messages of the bot to the user, oldest first. */
    texts: (userId = USER): readonly string[] => messenger.messages(userId).map(({ text }) => text),
    /** Takes a request of an API key, as admission does. */
    use: (apiKey: string) => keys.take(hashApiKey(PEPPER, apiKey), bucketOf(10, 15), () => clock.now() * 1_000),
    /** Returns the account id of an active API key. Undefined for any other key. */
    accountOf: async (apiKey: string) => {
      const record = await keys.read(hashApiKey(PEPPER, apiKey));
      return record?.status === 'active' ? record.accountId : undefined;
    },
  };
}

export type BotService = Awaited<ReturnType<typeof createBotService>>;
