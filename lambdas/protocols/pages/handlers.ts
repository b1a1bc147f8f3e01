import { GatewayError } from '../../core/errors/gateway-error.ts';
import type { PageFiles, StoredMedia } from '../../core/images/media.ts';
import { acceptsGzip } from '../../http/content-coding.ts';
import type { Exchange, GatewayResponse, RouteHandler } from '../../http/exchange.ts';
import { mediaTypeOf, type PageName } from '../../routes.ts';
import { orUnavailable } from '../account-reads.ts';
import { type RelayDependencies, relayedAnswer } from '../relayed-answer.ts';

export interface PageDependencies extends RelayDependencies {
  readonly pages: PageFiles;
}

/** Sources that a page can load, and sites that can embed it. Everything comes from the gateway (REF-1). */
const policies: Record<PageName, string> = {
  app: "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self' https://web.telegram.org https://*.telegram.org",
  'api-reference':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

/** GET /app, GET /api-reference, GET /api-reference/clients and GET /llms.txt. */
export const createGetPage =
  (deps: PageDependencies, page: PageName, file = 'index.html', folder?: Folder): RouteHandler =>
  (exchange) =>
    answer(deps, exchange, { page, folder, file });

/** GET /app/assets/{file} and GET /api-reference/{file}. */
export const createGetPageFile =
  (deps: PageDependencies, page: PageName): RouteHandler =>
  (exchange) =>
    answer(deps, exchange, { page, file: exchange.route?.params.file ?? '' });

/** GET /api-reference/routes/{name} and GET /api-reference/guides/{name}. A guide is also available as `{name}.md`. */
export const createGetDocument =
  (deps: PageDependencies, page: PageName, folder: Folder): RouteHandler =>
  (exchange) => {
    const name = exchange.route?.params.name ?? '';
    const file = name.endsWith('.md') ? name : `${name}.html`;
    return answer(deps, exchange, { page, folder, file });
  };

/** Folder of documents of the API reference. */
type Folder = 'routes' | 'guides';

interface Asked {
  readonly page: PageName;
  readonly folder?: Folder | undefined;
  readonly file: string;
}

const answer = async (deps: PageDependencies, exchange: Exchange, asked: Asked): Promise<GatewayResponse> => {
  const { length, bytes, isCompressed } = await open(
    deps,
    asked,
    acceptsGzip(exchange.event.headers['accept-encoding']),
  );
  return relayedAnswer(deps, exchange, {
    statusCode: 200,
    headers: {
      'content-type': mediaTypeOf(asked.file),
      ...(isCompressed ? { 'content-encoding': 'gzip' } : {}),
      vary: 'accept-encoding',
      // Browsers see a new deployment within minutes.
      'cache-control': asked.file.endsWith('.html') ? 'no-cache' : 'public, max-age=300',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'content-security-policy': policies[asked.page],
    },
    bytes,
    length,
  });
};

const UNREAD = 'Pages cannot be looked up now. Retry later.';

/** A compressed file has no path of its own: its `Content-Encoding` would be missing. */
const form = /^[a-z0-9-]{1,60}\.(?!gz$)[a-z0-9]{1,10}$/;

interface OpenFile extends StoredMedia {
  readonly isCompressed: boolean;
}

/** Opens the file in the form that the build has compressed, if the client accepts it (REF-7). */
const open = async (
  { pages }: PageDependencies,
  { page, folder, file }: Asked,
  isGzipAccepted: boolean,
): Promise<OpenFile> => {
  const path = folder === undefined ? file : `${folder}/${file}`;
  const read = (name: string) => orUnavailable(pages.open(page, name), UNREAD);
  const isPossible = form.test(file);
  const compressed = isPossible && isGzipAccepted ? await read(`${path}.gz`) : undefined;
  const stored = compressed ?? (isPossible ? await read(path) : undefined);
  if (!stored) throw new GatewayError('not_found', `The page /${page} has no such file.`);
  return { ...stored, isCompressed: compressed !== undefined };
};
