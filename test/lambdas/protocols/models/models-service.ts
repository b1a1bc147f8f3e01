import { catalogData } from '../../../../catalog/index.ts';
import type { Catalog } from '../../../../lambdas/core/catalog/catalog.ts';
import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import type { RouteHandler } from '../../../../lambdas/http/exchange.ts';
import type { ModelDependencies } from '../../../../lambdas/protocols/models/handlers.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { createChain } from '../../http/chain.ts';
import { functionUrlEvent, invoke } from '../../http/function-url.ts';

export const NOW = Date.UTC(2026, 10, 20);
export const catalog = loadCatalog(catalogData);

/** Serves a model route with all its middleware. `fetch` can be passed to an SDK. */
export const serveModels = async (create: (deps: ModelDependencies) => RouteHandler, served: Catalog = catalog) => {
  const handle = create({ catalog: served, clock: new ManualClock(NOW) });
  const { handler, apiKey } = await createChain({ handle, keyBurst: 1_000, addressBurst: 1_000 });
  const paths: string[] = [];
  const get = async (target: string, headers: Readonly<Record<string, string>> = {}) => {
    const { pathname, search, searchParams } = new URL(target, 'https://gateway.test');
    paths.push(pathname + search);
    const event = functionUrlEvent({ path: pathname, headers });
    return invoke(handler, { ...event, queryStringParameters: Object.fromEntries(searchParams) });
  };
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const answer = await get(request.url, Object.fromEntries(request.headers));
    return new Response(answer.text, { status: answer.status, headers: answer.headers });
  };
  const read = async (target: string, headers: Readonly<Record<string, string>>) => {
    const { status, text } = await get(target, headers);
    return { status, body: JSON.parse(text) };
  };
  return { apiKey, fetch, read, paths };
};
