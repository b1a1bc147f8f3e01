import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Exchange } from '../../lambdas/http/exchange.ts';
import { createGetPage, createGetPageFile } from '../../lambdas/protocols/pages/handlers.ts';
import { MemoryPageFiles } from '../support/memory/memory-page-files.ts';
import {
  account,
  type ListedKey,
  listedKeys,
  listedModels,
  newListedKey,
  spendOf,
  summaryRows,
  usageRows,
} from './app-page-data.ts';
import { builtPages } from './built-pages.ts';

/** Replaces the next response of a path. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly retryAfterSeconds?: number;
  readonly message?: string;
  readonly param?: string;
}

export interface AppPage {
  readonly url: string;
  /** Returns the URL that the messenger opens for a user of this language. */
  opened(language?: string, theme?: object): string;
  readonly account: typeof account;
  usage: readonly object[];
  keys: ListedKey[];
  summary: readonly object[];
  spend: (days: number) => object;
  /** By path, in order. */
  readonly refusals: Map<string, Refusal[]>;
  /** Method, path with query, and credential of each request. */
  readonly asked: string[];
  /** Bodies of POST requests. */
  readonly posted: unknown[];
  /** Method, `If-Match` and body of each change of a key. */
  readonly changed: unknown[];
  /** By path: responses wait for this promise. */
  readonly gates: Map<string, Promise<void>>;
  stop(): Promise<void>;
}

export const newKey = `sk-service-${'N3w'.repeat(14)}x123456`;

/**
 * Init data without a valid signature. The scripted API compares it literally, so a page that decodes it wrongly is
 * rejected.
 */
const initDataFor = (language: string): string =>
  new URLSearchParams({
    user: JSON.stringify({ id: 7, first_name: 'Ada & Co +1%', language_code: language }),
    auth_date: '1795000000',
    hash: 'ab'.repeat(32),
  }).toString();

/** Serves the built page with the gateway's headers, next to a scripted API. */
export const startAppPage = async (): Promise<AppPage> => {
  const open = await openPages();
  const models = await listedModels();
  const page: AppPage = {
    url: '',
    opened: (language = 'en', theme) => {
      const fields = new URLSearchParams({ tgWebAppData: initDataFor(language), tgWebAppVersion: '9.1' });
      if (theme) fields.set('tgWebAppThemeParams', JSON.stringify(theme));
      return `${page.url}/app#${fields}`;
    },
    account: structuredClone(account),
    usage: usageRows(25),
    keys: structuredClone([...listedKeys]),
    summary: summaryRows,
    spend: spendOf,
    refusals: new Map(),
    asked: [],
    posted: [],
    changed: [],
    gates: new Map(),
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
  const server = createServer((request, response) => {
    void answer(page, { request, response, open, models });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(page, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
};

type Open = (path: string, response: ServerResponse) => Promise<void>;

/** Serves pages with the gateway's own handlers and headers. */
const openPages = async (): Promise<Open> => {
  const pages = new MemoryPageFiles();
  for (const { page, file, bytes, mediaType } of await builtPages()) pages.put(page, file, bytes, mediaType);
  const ports = { pages, now: () => 0, finished: () => undefined };
  const [getPage, getFile] = [createGetPage(ports, 'app'), createGetPageFile(ports, 'app')];
  return async (path, response) => {
    const params = { file: path.slice('/app/assets/'.length) };
    const event = { headers: response.req.headers, requestContext: { http: { method: 'GET' } } };
    const exchange = { event, summary: {}, route: { params } } as unknown as Exchange;
    const { statusCode, headers, body } = await (path === '/app' ? getPage : getFile)(exchange);
    response.writeHead(statusCode, headers);
    if (typeof body === 'string') response.end(body);
    else body.pipe(response);
  };
};

interface Asked {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly open: Open;
  readonly models: string;
}

const answer = async (page: AppPage, { request, response, open, models }: Asked): Promise<void> => {
  const { pathname, search, searchParams } = new URL(request.url ?? '', page.url);
  page.asked.push(`${request.method} ${pathname}${search}`);
  const json = (status: number, body: unknown, headers = {}): void => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
  const refuse = ({ status, code, retryAfterSeconds, message = code, param }: Refusal): void =>
    json(
      status,
      { error: { message, type: 'any', code, param: param ?? null } },
      retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) },
    );
  const refusal = page.refusals.get(pathname)?.shift();
  if (refusal) return refuse(refusal);
  if (pathname === '/api/models') return json(200, models);
  if (!pathname.startsWith('/app/api/')) return open(pathname, response);
  const { authorization } = request.headers;
  if (!['en', 'ru', 'de'].some((language) => authorization === `tma ${initDataFor(language)}`)) {
    return refuse({ status: 401, code: 'invalid_signature' });
  }
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = chunks.length > 0 ? (JSON.parse(Buffer.concat(chunks).toString()) as Record<string, string>) : {};
  if (request.method === 'POST') page.posted.push(body);
  if (pathname.startsWith('/app/api/keys/')) page.changed.push([request.method, request.headers['if-match'], body]);
  const routes: Record<string, () => unknown> = {
    'GET /app/api/account': () => page.account,
    'GET /app/api/usage': () => usagePage(page.usage, searchParams),
    'GET /app/api/spend': () => page.spend(Number(searchParams.get('days'))),
    'POST /app/api/threshold': () => {
      page.account.threshold_usd = body.threshold_usd ?? '';
      return { threshold_usd: body.threshold_usd };
    },
    'POST /app/api/key': () => rotated(page),
    'GET /app/api/usage/summary': () => ({ complete: true, data: page.summary }),
    'GET /app/api/keys': () => ({ object: 'list', data: page.keys, has_more: false }),
    'POST /app/api/keys': () => {
      const made = newListedKey(body);
      page.keys.push(made);
      return { ...made, key: newKey };
    },
    'PATCH /app/api/keys/{id}': () => Object.assign(keyIn(page, pathname), body),
    'DELETE /app/api/keys/{id}': () => {
      const { id } = keyIn(page, pathname);
      page.keys = page.keys.filter((key) => key.id !== id);
      return { id, object: 'api_key.deleted', deleted: true };
    },
  };
  await page.gates.get(pathname);
  const route = pathname.replace(/^(\/app\/api\/keys\/).+$/, '$1{id}');
  json(200, routes[`${request.method} ${route}`]?.() ?? {});
};

const usagePage = (rows: readonly object[], query: URLSearchParams): object => {
  const from = Number(query.get('cursor') ?? 0);
  const to = from + Number(query.get('limit'));
  const hasMore = to < rows.length;
  return { object: 'list', data: rows.slice(from, to), has_more: hasMore, next_cursor: hasMore ? String(to) : null };
};

const rotated = (page: AppPage): object => {
  const masked = `${newKey.slice(0, 15)}…${newKey.slice(-4)}`;
  page.account.key = { id: 'key-2', masked, issued_at: '2026-11-22T10:00:00.000Z', revoked: false };
  return { key: newKey, id: 'key-2', masked };
};

const keyIn = ({ keys }: AppPage, path: string): ListedKey => {
  const found = keys.find(({ id }) => path.endsWith(`/${id}`));
  if (!found) throw new Error('the page named a key that does not exist');
  return found;
};
