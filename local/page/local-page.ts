import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod';
import { catalogData } from '../../catalog/index.ts';
import { loadCatalog } from '../../lambdas/core/catalog/load-catalog.ts';
import type { Account } from '../../lambdas/core/ledger/ledger.ts';
import { acceptsGzip } from '../../lambdas/http/content-coding.ts';
import { mediaTypeOf } from '../../lambdas/routes.ts';
import type { BuiltFile } from '../../lib/pages/build-pages.ts';
import type { LocalKeyState } from '../local-account.ts';
import type { LocalVendors } from '../local-vendors.ts';
import { answerBytes, answerJson, answerRefusal, readBody } from './answers.ts';
import { type BotKey, createBotKey } from './bot-key.ts';
import { createEventFeed } from './event-feed.ts';
import { createFaults, faultSchema } from './faults.ts';
import { checkSender, PageRefusal } from './guard.ts';
import { createLedgerFeed, type LedgerFeed, toNumbers } from './ledger-feed.ts';
import type { PageMessenger } from './page-messenger.ts';
import { topUp, topUpSchema } from './top-up.ts';
import { INBOX_PATH, type LocalKey, type LocalState, OWN_REQUEST, type RequestLine } from './ui/wire.ts';
import { createWebhookInbox } from './webhook-inbox.ts';

/** Returns the id of the provider of each model, which the public list of models does not have. */
function vendorsOfModels(nowMs: number, vendorIds: ReadonlySet<string>): Readonly<Record<string, string>> {
  const vendors = loadCatalog(catalogData)
    .list(nowMs)
    .flatMap(({ id, upstreams }) => {
      const vendor = upstreams.find(({ provider }) => vendorIds.has(provider))?.provider;
      return vendor === undefined ? [] : [[id, vendor] as const];
    });
  return Object.fromEntries(vendors);
}

/**
 * Reports each request of the gateway's API after its end, except those that the page sends for itself. The query is
 * left out, because it can contain a key.
 */
export function watchRequest(
  request: IncomingMessage,
  response: ServerResponse,
  publish: (line: RequestLine) => void,
): void {
  const [path = '/'] = (request.url ?? '/').split('?', 1);
  if (!/^\/(?:v1|v1beta|bot|app\/api|app\/credits|api|media)(?:\/|$)/.test(path)) return;
  if (Object.entries(OWN_REQUEST).some(([name, value]) => request.headers[name] === value)) return;
  const at = Date.now();
  response.once('close', () => {
    const { method = 'GET' } = request;
    publish({ at, method, path, status: response.statusCode, total_ms: Date.now() - at });
  });
}

export type LocalPageOptions = {
  readonly port: number;
  /** Base URL of the program. */
  readonly url: string;
  /** Whether webhooks can also go to other ports of this machine. */
  readonly allowsOtherPorts: boolean;
  readonly apiKey: string;
  /** Whether the API key still works. Called whenever a browser opens the page. */
  readonly readKeyState: () => Promise<LocalKeyState>;
  /** Reads the accounts of the database. Called like `readKeyState`. */
  readonly readAccounts: () => Promise<readonly Account[]>;
  readonly topUpKey: string;
  /** Files of the page. Called when a browser first opens it. */
  readonly files: () => Promise<readonly BuiltFile[]>;
  readonly vendors: Pick<LocalVendors, 'vendors' | 'setFault'>;
  /** Undefined if the bot is connected to the real messenger. */
  readonly messenger: PageMessenger | undefined;
  readonly onFailure: (message: string) => void;
};

export type LocalPage = {
  /** Returns whether the page handles the request: `/` and everything under `/local`. */
  take(request: IncomingMessage, response: ServerResponse): boolean;
  /** Shows one write of an account. */
  readonly takeChange: LedgerFeed;
  stop(): void;
};

type Action = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

/** The page at `/` and its routes. It shows a key and moves money, so it accepts requests only from itself. */
export function createLocalPage(options: LocalPageOptions): LocalPage {
  const events = createEventFeed(randomUUID);
  const inbox = createWebhookInbox({ now: Date.now, onChange: (at) => events.publish('webhook', { at }) });
  const actions = { ...createActions(options, events), ...inbox.actions };
  options.messenger?.onMessage((message) => events.publish('message', message));
  return {
    take(request, response) {
      const [path = '/'] = (request.url ?? '/').split('?', 1);
      if (path !== '/' && path !== '/local' && !path.startsWith('/local/')) {
        watchRequest(request, response, (line) => events.publish('request', line));
        return false;
      }
      act(actions, path, { request, response, port: options.port }).catch((error: unknown) => {
        options.onFailure(`  the local page failed: ${error instanceof Error ? error.message : error}`);
        response.destroy();
      });
      return true;
    },
    takeChange: createLedgerFeed((event) => events.publish('ledger', event)),
    stop() {
      inbox.stop();
      events.stop();
    },
  };
}

type Actions = Readonly<Record<string, Readonly<Partial<Record<'GET' | 'POST', Action>>>>>;

const say = z.strictObject({ text: z.string().min(1).max(4_000), language: z.enum(['en', 'ru']) });

function createActions(options: LocalPageOptions, events: ReturnType<typeof createEventFeed>): Actions {
  const { port, topUpKey, vendors, messenger } = options;
  const url = `http://127.0.0.1:${port}`;
  const faults = createFaults(vendors);
  const botKey = messenger && createBotKey(url, messenger, (apiKey) => events.publish('bot_key', apiKey));
  const sendFile = async (file: string, response: ServerResponse): Promise<void> => {
    const files = await options.files();
    const named = (name: string) => files.find((built) => built.file === name);
    const compressed = acceptsGzip(response.req.headers['accept-encoding']) ? named(`${file}.gz`) : undefined;
    const found = compressed ?? named(file);
    if (!found) throw new PageRefusal(404, `There is no ${file}.`);
    answerBytes(response, mediaTypeOf(file), found.bytes, compressed !== undefined);
  };
  return {
    '/': { GET: (_request, response) => sendFile('index.html', response) },
    '/local/main.js': { GET: (_request, response) => sendFile('main.js', response) },
    '/local/main.css': { GET: (_request, response) => sendFile('main.css', response) },
    '/local/state': {
      GET: async ({ url: target = '' }, response) => {
        const language = target.includes('language=ru') ? 'ru' : 'en';
        answerJson(response, 200, await stateOf(options, { faults, botKey }, language));
      },
    },
    '/local/events': {
      GET: ({ headers }, response) => events.serve(response, headers['last-event-id']?.toString()),
    },
    '/local/say': {
      POST: async (request, response) => {
        const { text, language } = await readBody(request, say);
        present(messenger).say(text, language);
        answerJson(response, 202, {});
      },
    },
    '/local/bot-key': {
      POST: async (_request, response) => {
        await present(botKey).issue();
        answerJson(response, 202, {});
      },
    },
    '/local/fault': {
      POST: async (request, response) => {
        const { vendor, fault } = await readBody(request, faultSchema);
        faults.set(vendor, fault);
        events.publish('vendors', faults.states());
        answerJson(response, 200, { vendors: faults.states() });
      },
    },
    '/local/top-up': {
      POST: async (request, response) => {
        const { status, body } = await topUp(url, topUpKey, await readBody(request, topUpSchema));
        answerJson(response, status, body);
      },
    },
  };
}

function present<Part>(ofMessenger: Part | undefined): Part {
  if (ofMessenger) return ofMessenger;
  throw new PageRefusal(409, 'The bot is connected to the real messenger: talk to it there.');
}

type PageParts = { readonly faults: ReturnType<typeof createFaults>; readonly botKey: BotKey | undefined };

async function stateOf(
  { apiKey, readKeyState, readAccounts, vendors, messenger, url, allowsOtherPorts }: LocalPageOptions,
  { faults, botKey }: PageParts,
  language: 'en' | 'ru',
): Promise<LocalState> {
  const key = botKey?.present();
  const [keyState, accounts, masked] = await Promise.all([
    readKeyState(),
    readAccounts(),
    key === undefined ? botKey?.masked() : undefined,
  ]);
  const localKey: LocalKey = keyState.kind === 'current' ? { kind: 'current', value: apiKey } : keyState;
  return {
    local_key: localKey,
    model_vendors: vendorsOfModels(Date.now(), new Set(vendors.vendors.map(({ id }) => id))),
    vendors: faults.states(),
    accounts: accounts.map(toNumbers),
    messenger: messenger && {
      app_url: '/app',
      init_data: messenger.initData(language),
      messages: messenger.messages(),
      key,
      masked_key: masked,
    },
    webhooks: { inbox_url: `${url}${INBOX_PATH}`, other_ports: allowsOtherPorts },
  };
}

type Asked = { readonly request: IncomingMessage; readonly response: ServerResponse; readonly port: number };

async function act(actions: Actions, path: string, { request, response, port }: Asked): Promise<void> {
  try {
    checkSender(request, port);
    const ofPath = actions[path];
    if (!ofPath) throw new PageRefusal(404, `There is no ${path}.`);
    const method = request.method === 'HEAD' && path === '/' ? 'GET' : request.method;
    const action = method === 'GET' || method === 'POST' ? ofPath[method] : undefined;
    if (!action) throw new PageRefusal(405, `${path} takes ${Object.keys(ofPath).join(', ')} only.`);
    await action(request, response);
  } catch (error) {
    if (!(error instanceof PageRefusal)) throw error;
    answerRefusal(response, error);
  }
}
