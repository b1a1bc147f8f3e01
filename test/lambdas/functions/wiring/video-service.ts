import { catalogData } from '../../../../catalog/index.ts';
import { hashApiKey } from '../../../../lambdas/core/accounts/keys.ts';
import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import { parseUsd } from '../../../../lambdas/core/money/usd.ts';
import { createContentHandler } from '../../../../lambdas/functions/wiring/content-handler.ts';
import type { FunctionDependencies } from '../../../../lambdas/functions/wiring/dependencies.ts';
import { createVideosHandler } from '../../../../lambdas/functions/wiring/videos-handler.ts';
import type { UpstreamHttp, UpstreamRequest } from '../../../../lambdas/providers/upstream-http.ts';
import type { Delivery } from '../../../../lambdas/providers/webhook.ts';
import { readSettings } from '../../../../lambdas/settings.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { MemoryAddressCounters } from '../../../support/memory/memory-address-counters.ts';
import { MemoryKeyStore } from '../../../support/memory/memory-key-store.ts';
import { MemoryLedgerStore } from '../../../support/memory/memory-ledger-store.ts';
import { memoryStores, noTables } from '../../../support/memory/memory-stores.ts';
import { keyOf } from '../../http/chain.ts';
import { functionUrlEvent, invoke } from '../../http/function-url.ts';

const PEPPER = 'pepper-of-the-tests';
export const ACCOUNT = 'account-1';
const apiKey = keyOf(1);

/** Day on which the models of the tests are available. */
const DAY = Date.UTC(2026, 10, 20);

/** Response of the simulated provider: JSON, or bytes. */
export type Play = (request: UpstreamRequest) => object | Uint8Array;

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Video functions on in-memory stores, with a scripted provider. */
export const createVideoService = async (play: Play, environment: Readonly<Record<string, string>> = {}) => {
  const clock = new ManualClock(DAY);
  const ledgerStore = new MemoryLedgerStore();
  const keys = new MemoryKeyStore(ledgerStore);
  await keys.put(hashApiKey(PEPPER, apiKey), ACCOUNT);
  await ledgerStore.createAccount(ACCOUNT, 0);
  await ledgerStore.credit({ accountId: ACCOUNT, ref: 'r', amountPicos: parseUsd('10'), reason: 'test', at: 0 });
  const deliveries: Delivery[] = [];
  const notices: (readonly [name: string, details: object])[] = [];
  let ids = 0;
  const stores = memoryStores(ledgerStore, keys);
  const upstreamHttp: UpstreamHttp = async (request) => {
    const answer = play(request);
    const bytes = answer instanceof Uint8Array ? answer : Buffer.from(JSON.stringify(answer));
    return { status: 200, headers: {}, body: once(bytes), discard: () => undefined };
  };
  const deps: FunctionDependencies = {
    settings: readSettings({ ...noTables, ...environment }),
    catalog: loadCatalog(catalogData),
    clock: { now: () => clock.now(), after: (delayMs, callback) => clock.after(delayMs, callback) },
    random: () => 0,
    newRequestId: () => `01K000000000000000000000${String(++ids).padStart(2, '0')}`,
    pepper: PEPPER,
    addressCounters: new MemoryAddressCounters(),
    ...stores,
    upstreamHttp,
    linkedVideo: ({ url, signal }) => upstreamHttp({ url, method: 'GET', headers: {}, body: '', signal }),
    fetchImage: () => Promise.reject(new Error('no image is fetched here')),
    vendorAccess: () => ({ baseUrl: 'https://vendor.test/api/v3', key: 'vendor-canary', credentialId: 'one' }),
    sendWebhook: async (delivery) => {
      deliveries.push(delivery);
      return { status: 204, problem: undefined };
    },
    reporting: {
      finished: () => undefined,
      notice: (name, details) => notices.push([name, details]),
      measured: () => undefined,
    },
  };
  const [videos, content] = [createVideosHandler(deps), createContentHandler(deps)];
  const headers = { authorization: `Bearer ${apiKey}` };
  return {
    deps,
    stores,
    clock,
    apiKey,
    deliveries,
    notices,
    /** Creates a video. Returns its id. */
    create: async (members: object = {}): Promise<string> => {
      const body = JSON.stringify({ model: 'seedance-2-0-fast', prompt: 'a boat', ...members });
      const event = functionUrlEvent({ method: 'POST', path: '/v1/videos', headers, body, base64: true });
      const answer = await invoke(videos, event);
      if (answer.status !== 200) throw new Error(answer.text);
      return JSON.parse(answer.text).id;
    },
    get: (path: string) =>
      invoke(path.endsWith('/content') ? content : videos, functionUrlEvent({ method: 'GET', path, headers })),
    spent: async () => (await ledgerStore.readAccount(ACCOUNT))?.spentPicos,
    holds: async () => (await ledgerStore.readAccount(ACCOUNT))?.holds.size,
  };
};
