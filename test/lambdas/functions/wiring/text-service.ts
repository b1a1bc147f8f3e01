import { hashApiKey } from '../../../../lambdas/core/accounts/api-key.ts';
import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import type { Clock } from '../../../../lambdas/core/clock.ts';
import { parseUsd } from '../../../../lambdas/core/money/usd.ts';
import type { Parts } from '../../../../lambdas/functions/wiring/parts.ts';
import { createTextHandler } from '../../../../lambdas/functions/wiring/text-handler.ts';
import type { Summary } from '../../../../lambdas/http/exchange.ts';
import type { UpstreamRequest, UpstreamResponse } from '../../../../lambdas/providers/upstream-http.ts';
import { readSettings } from '../../../../lambdas/settings.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { MemoryAddressCounters } from '../../../support/memory/memory-address-counters.ts';
import { MemoryKeyStore } from '../../../support/memory/memory-key-store.ts';
import { MemoryLedgerStore } from '../../../support/memory/memory-ledger-store.ts';
import { memoryStores, noTables } from '../../../support/memory/memory-stores.ts';
import { data, text } from '../../core/catalog/sample-data.ts';
import { keyOf } from '../../http/chain.ts';
import { functionUrlEvent, invoke } from '../../http/function-url.ts';
import { quietParts } from './quiet-parts.ts';

const PEPPER = 'pepper-of-the-tests';

export const limits = { contextTokens: 10_000, outputTokensMax: 5_000, outputTokensDefault: 1_000 };

/** A clock whose functions work wherever they are handed to. */
const detached = (clock: ManualClock): Clock => ({
  now: () => clock.now(),
  after: (delayMs, callback) => clock.after(delayMs, callback),
});

export interface Vendor {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Uint8Array>;
}

/** The text function as it is put together, on the twins and with a vendor that is played. */
export const createTextService = async (
  vendor: (request: UpstreamRequest) => Vendor,
  toClock: (clock: ManualClock) => Clock = detached,
  catalog = loadCatalog(data([text({ limits })])),
) => {
  const clock = new ManualClock();
  const keys = new MemoryKeyStore();
  const ledgerStore = new MemoryLedgerStore();
  const apiKey = keyOf(1);
  await keys.put(hashApiKey(PEPPER, apiKey), 'account-1');
  await ledgerStore.createAccount('account-1');
  await ledgerStore.credit({ accountId: 'account-1', ref: 'r', amountPicos: parseUsd('10'), reason: 'test', at: 0 });
  const requests: UpstreamRequest[] = [];
  const finished: Summary[] = [];
  const parts: Parts = {
    settings: readSettings(noTables),
    catalog,
    clock: toClock(clock),
    random: () => 0,
    newRequestId: () => '01K0000000000000000000000',
    pepper: PEPPER,
    addressCounters: new MemoryAddressCounters(),
    ...memoryStores(ledgerStore, keys),
    upstreamHttp: async (request): Promise<UpstreamResponse> => {
      requests.push(request);
      const { status = 200, headers = {}, body } = vendor(request);
      return { status, headers, body, discard: () => undefined };
    },
    ...quietParts(finished),
  };
  const handler = createTextHandler(parts);
  const ask = (body: object, headers: Readonly<Record<string, string>> = {}) =>
    invoke(
      handler,
      functionUrlEvent({
        method: 'POST',
        path: '/v1/chat/completions',
        headers: { authorization: `Bearer ${apiKey}`, ...headers },
        body: JSON.stringify({ model: 'alpha-1', messages: [{ role: 'user', content: 'Hello' }], ...body }),
        base64: true,
      }),
    );
  const account = async () => {
    const found = await ledgerStore.readAccount('account-1');
    if (!found) throw new Error('the account is gone');
    return found;
  };
  return { ask, requests, finished, account, clock };
};
