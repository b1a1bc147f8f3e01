import { hashApiKey } from '../../lambdas/core/accounts/api-key.ts';
import { loadCatalog } from '../../lambdas/core/catalog/load-catalog.ts';
import type { LedgerStore } from '../../lambdas/core/ledger/ledger-store.ts';
import { parseUsd } from '../../lambdas/core/money/usd.ts';
import { createAudioHandler } from '../../lambdas/functions/wiring/audio-handler.ts';
import type { Parts } from '../../lambdas/functions/wiring/parts.ts';
import type { Summary } from '../../lambdas/http/exchange.ts';
import type { UpstreamHttp } from '../../lambdas/providers/upstream-http.ts';
import { readSettings } from '../../lambdas/settings.ts';
import { data } from '../lambdas/core/catalog/sample-data.ts';
import { quietParts } from '../lambdas/functions/wiring/quiet-parts.ts';
import { keyOf } from '../lambdas/http/chain.ts';
import { formOf } from '../lambdas/http/forms.ts';
import { functionUrlEvent, invoke } from '../lambdas/http/function-url.ts';
import { speech, tokenTranscription, transcription } from './audio-samples.ts';
import { type Fault, withFaults } from './memory/faults.ts';
import { ManualClock } from './memory/manual-clock.ts';
import { MemoryAddressCounters } from './memory/memory-address-counters.ts';
import { MemoryKeyStore } from './memory/memory-key-store.ts';
import { MemoryLedgerStore } from './memory/memory-ledger-store.ts';
import { memoryStores, noTables } from './memory/memory-stores.ts';

const PEPPER = 'pepper-of-the-tests';
const ACCOUNT = 'account-1';
const STEPS_MAX = 1_000;
const apiKey = keyOf(1);
export const authorization = `Bearer ${apiKey}`;

export interface AudioServiceOptions {
  readonly http: UpstreamHttp;
  readonly baseUrl?: string;
  readonly models?: readonly unknown[];
  readonly fault?: (method: keyof LedgerStore, turn: number) => Fault | undefined;
}

/** The audio function as it is put together, on the twins. */
export const createAudioService = async ({
  http,
  baseUrl = 'https://vendor.test/v1',
  models,
  fault,
}: AudioServiceOptions) => {
  const clock = new ManualClock();
  const keys = new MemoryKeyStore();
  const ledger = new MemoryLedgerStore();
  await keys.put(hashApiKey(PEPPER, apiKey), ACCOUNT);
  await ledger.createAccount(ACCOUNT);
  await ledger.credit({ accountId: ACCOUNT, ref: 'r', amountPicos: parseUsd('10'), reason: 'test', at: 0 });
  const finished: Summary[] = [];
  const stores = memoryStores(ledger, keys);
  const parts: Parts = {
    settings: readSettings(noTables),
    catalog: loadCatalog(data(models ?? [transcription(), tokenTranscription(), speech()])),
    clock: { now: () => clock.now(), after: (delayMs, callback) => clock.after(delayMs, callback) },
    random: () => 0,
    newRequestId: () => '01K0000000000000000000000',
    pepper: PEPPER,
    addressCounters: new MemoryAddressCounters(),
    ...stores,
    ledgerStore: withFaults(ledger, fault ?? {}),
    upstreamHttp: http,
    ...quietParts(finished, baseUrl),
  };
  const handler = createAudioHandler(parts);
  const post = (path: string, headers: Readonly<Record<string, string>>, body: string | Uint8Array) =>
    invoke(
      handler,
      functionUrlEvent({ method: 'POST', path, headers: { authorization, ...headers }, body, base64: true }),
    );
  return {
    handler,
    clock,
    finished,
    speak: (body: object = {}, headers: Readonly<Record<string, string>> = {}) =>
      post('/v1/audio/speech', headers, JSON.stringify({ model: 'voice-1', input: 'Hello', voice: 'alloy', ...body })),
    transcribe: async (
      fields: Readonly<Record<string, string>> = {},
      file = new File(['ID3'], 'a.mp3'),
      headers: Readonly<Record<string, string>> = {},
    ) => {
      const form = await formOf(...Object.entries({ model: 'scribe-1', ...fields }), ['file', file]);
      return post('/v1/audio/transcriptions', { 'content-type': form.contentType, ...headers }, form.bytes);
    },
    /** Lets time pass until it has come, slowly enough for streams to go on in between. */
    until: async <Value>(pending: Promise<Value>): Promise<Value> => {
      let settled = false;
      const mark = (): void => {
        settled = true;
      };
      pending.then(mark, mark);
      for (let step = 0; !settled && step < STEPS_MAX; step += 1) {
        for (let turn = 0; turn < 20 && !settled; turn += 1) await clock.flush();
        if (!settled) await clock.advance(100);
      }
      return pending;
    },
    /** What the account has been charged, and will be once the notes are read. */
    charges: async () => {
      const settled = ledger.recordsOf(ACCOUNT).filter(({ outcome }) => outcome === 'settled');
      return new Set([...settled.map(({ holdId }) => holdId), ...(await stores.outbox.list())]).size;
    },
    records: () => ledger.recordsOf(ACCOUNT),
    account: async () => {
      const found = await ledger.readAccount(ACCOUNT);
      if (!found) throw new Error('the account is gone');
      return found;
    },
  };
};

export type AudioService = Awaited<ReturnType<typeof createAudioService>>;
