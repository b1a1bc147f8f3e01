import { ulid } from 'ulid';
import { catalogData } from '../../../../catalog/index.ts';
import { hashApiKey } from '../../../../lambdas/core/accounts/keys.ts';
import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import { StoreError } from '../../../../lambdas/core/errors/store-error.ts';
import { parseUsd } from '../../../../lambdas/core/money/usd.ts';
import type { FunctionDependencies } from '../../../../lambdas/functions/wiring/dependencies.ts';
import { createImagesHandler } from '../../../../lambdas/functions/wiring/images-handler.ts';
import { createTextHandler } from '../../../../lambdas/functions/wiring/text-handler.ts';
import type { Summary } from '../../../../lambdas/http/exchange.ts';
import { createUpstreamHttp } from '../../../../lambdas/providers/upstream-http.ts';
import { readSettings } from '../../../../lambdas/settings.ts';
import { startSimulator } from '../../../../local/simulators/server.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { MemoryAddressCounters } from '../../../support/memory/memory-address-counters.ts';
import { MemoryKeyStore } from '../../../support/memory/memory-key-store.ts';
import { MemoryLedgerStore } from '../../../support/memory/memory-ledger-store.ts';
import { MemoryMediaStore } from '../../../support/memory/memory-media-store.ts';
import { memoryStores, noTables } from '../../../support/memory/memory-stores.ts';
import { keyOf } from '../../http/chain.ts';
import { functionUrlEvent, invoke } from '../../http/function-url.ts';

const PEPPER = 'pepper-of-the-tests';
const ACCOUNT = 'account-1';
const DAY = Date.UTC(2026, 10, 20);

/** Media store whose writes wait for `gate`, and fail if `failing` is set. */
export class SlowMediaStore extends MemoryMediaStore {
  failing = false;
  gate: Promise<void> = Promise.resolve();

  override async put(name: string, bytes: Uint8Array, mediaType: string): Promise<void> {
    await this.gate;
    if (this.failing) throw new StoreError('unavailable', 'the bucket does not answer');
    await super.put(name, bytes, mediaType);
  }
}

interface Asked {
  readonly path: string;
  readonly body: object;
  readonly query?: string;
}

/** The wired text and image functions on in-memory fakes, with the simulated provider. */
export const startImageGateway = async () => {
  const simulator = await startSimulator();
  const ledger = new MemoryLedgerStore();
  const keys = new MemoryKeyStore(ledger);
  const media = new SlowMediaStore();
  const apiKey = keyOf(1);
  const finished: Summary[] = [];
  const clock = new ManualClock(DAY);
  await keys.put(hashApiKey(PEPPER, apiKey), ACCOUNT);
  await ledger.createAccount(ACCOUNT, 0);
  await ledger.credit({ accountId: ACCOUNT, ref: 'r', amountPicos: parseUsd('100'), reason: 'test', at: DAY });
  const parts: FunctionDependencies = {
    settings: readSettings({ ...noTables, LIMIT_KEY_BURST: '1000', LIMIT_ADDRESS_BURST: '1000' }),
    catalog: loadCatalog(catalogData, { markup: '1' }),
    clock: { now: () => clock.now(), after: (delayMs, callback) => clock.after(delayMs, callback) },
    random: () => 0,
    newRequestId: ulid,
    pepper: PEPPER,
    addressCounters: new MemoryAddressCounters(),
    ...memoryStores(ledger, keys),
    media,
    upstreamHttp: createUpstreamHttp(),
    fetchImage: () => Promise.reject(new Error('unexpected image fetch')),
    vendorAccess: () => ({ baseUrl: simulator.url, key: 'vendor-key', credentialId: 'one' }),
    sendWebhook: () => Promise.reject(new Error('unexpected webhook')),
    reporting: {
      finished: (_id, summary) => finished.push({ ...summary }),
      notice: () => undefined,
      measured: () => undefined,
    },
  };
  const handlers = { text: createTextHandler(parts), images: createImagesHandler(parts) };
  const ask = ({ path, body, query = '' }: Asked, handler: keyof typeof handlers = 'text') => {
    const event = functionUrlEvent({
      method: 'POST',
      path,
      headers: { authorization: `Bearer ${apiKey}`, 'x-goog-api-key': apiKey, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      base64: true,
    });
    const params = Object.fromEntries(new URLSearchParams(query));
    return invoke(handlers[handler], { ...event, rawQueryString: query, queryStringParameters: params });
  };
  const account = async () => {
    const found = await ledger.readAccount(ACCOUNT);
    if (!found) throw new Error('the account is gone');
    return found;
  };
  /** Amount that `act` took from the account. Fails if a hold is left. */
  const spentBy = async <Result>(act: () => Promise<Result>): Promise<{ result: Result; picos: bigint }> => {
    const before = (await account()).spentPicos;
    const result = await act();
    const { spentPicos, holds } = await account();
    if (holds.size > 0) throw new Error('a hold is left');
    return { result, picos: spentPicos - before };
  };
  return { simulator, media, finished, ask, spentBy, parts, apiKey };
};

export type ImageGateway = Awaited<ReturnType<typeof startImageGateway>>;
