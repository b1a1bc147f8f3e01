import { ulid } from 'ulid';
import { catalogData } from '../../../../catalog/index.ts';
import { hashApiKey } from '../../../../lambdas/core/accounts/keys.ts';
import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import { parseUsd } from '../../../../lambdas/core/money/usd.ts';
import { createAudioHandler } from '../../../../lambdas/functions/wiring/audio-handler.ts';
import type { FunctionDependencies } from '../../../../lambdas/functions/wiring/dependencies.ts';
import { createImagesHandler } from '../../../../lambdas/functions/wiring/images-handler.ts';
import { createTextHandler } from '../../../../lambdas/functions/wiring/text-handler.ts';
import { createResponseStream, type Prelude, streaming } from '../../../../lambdas/host/lambda-runtime.ts';
import type { Summary } from '../../../../lambdas/http/exchange.ts';
import { type FrontDoorTimeouts, openFrontDoor } from '../../../../lambdas/http/front-door.ts';
import { matchPath } from '../../../../lambdas/http/router.ts';
import type { UpstreamHttp } from '../../../../lambdas/providers/upstream-http.ts';
import { readSettings } from '../../../../lambdas/settings.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { MemoryAddressCounters } from '../../../support/memory/memory-address-counters.ts';
import { MemoryKeyStore } from '../../../support/memory/memory-key-store.ts';
import { MemoryLedgerStore } from '../../../support/memory/memory-ledger-store.ts';
import { memoryStores, noTables } from '../../../support/memory/memory-stores.ts';
import { keyOf } from '../../http/chain.ts';
import { functionUrlEvent } from '../../http/function-url.ts';
import { quietParts } from './quiet-parts.ts';
import { type Customer, toSent } from './silent-vendor.ts';

const PEPPER = 'pepper-of-the-tests';
const ACCOUNT = 'account-1';
const DAY = Date.UTC(2026, 10, 20);
export const apiKey = keyOf(1);
const catalog = loadCatalog(catalogData, { markup: '1' });

/** CloudFront with its default of 120 s. */
export const edge: FrontDoorTimeouts = { silenceMs: 120_000, commitsStreams: true, commitsJson: true };

export interface Silence {
  /** Seconds until the provider's first byte. Undefined: it never sends one. */
  readonly seconds?: number;
  readonly status?: number;
  /** Pieces, and the seconds of silence between them. */
  readonly body?: string | Uint8Array | readonly (string | number)[];
}

export interface Heard {
  head?: Prelude;
  /** Received pieces, with the seconds since the request. */
  readonly pieces: { readonly at: number; readonly text: string }[];
  ended: boolean;
}

export const textOf = ({ pieces }: Heard): string => pieces.map(({ text }) => text).join('');

/** The paid functions on in-memory stores, with a slow provider. */
export const createSilentService = async (frontDoor: FrontDoorTimeouts | 'none' = edge) => {
  const clock = new ManualClock(DAY);
  const ledger = new MemoryLedgerStore();
  const keys = new MemoryKeyStore(ledger);
  await keys.put(hashApiKey(PEPPER, apiKey), ACCOUNT);
  await ledger.createAccount(ACCOUNT, 0);
  await ledger.credit({ accountId: ACCOUNT, ref: 'r', amountPicos: parseUsd('1000'), reason: 'test', at: DAY });
  const finished: Summary[] = [];
  const calls: string[] = [];
  let silence: Silence = {};
  const upstreamHttp: UpstreamHttp = async ({ url, signal }) => {
    calls.push(url);
    const { seconds, status = 200, body = '' } = silence;
    const wait = (waited: number | undefined) =>
      new Promise<void>((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        if (signal.aborted) reject(signal.reason);
        if (waited !== undefined) clock.after(waited * 1_000, resolve);
      });
    await wait(seconds);
    async function* bytes() {
      for (const piece of Array.isArray(body) ? body : [body]) {
        if (typeof piece === 'number') await wait(piece);
        else yield Buffer.from(piece);
      }
    }
    return { status, headers: {}, body: bytes(), discard: () => undefined };
  };
  const deps: FunctionDependencies = {
    settings: readSettings({ ...noTables, LIMIT_KEY_BURST: '1000', LIMIT_ADDRESS_BURST: '1000' }),
    catalog,
    clock: { now: () => clock.now(), after: (delayMs, callback) => clock.after(delayMs, callback) },
    random: () => 0,
    newRequestId: ulid,
    pepper: PEPPER,
    addressCounters: new MemoryAddressCounters(),
    ...memoryStores(ledger, keys),
    frontDoor: { ...openFrontDoor, frontDoorTimeouts: frontDoor === 'none' ? undefined : frontDoor },
    upstreamHttp,
    ...quietParts(finished),
  };
  const handlers = {
    text: streaming(createTextHandler(deps)),
    images: streaming(createImagesHandler(deps)),
    audio: streaming(createAudioHandler(deps)),
  };
  const handlerOf = (path: string) => {
    const [match] = matchPath(path);
    const name = match?.route.function;
    if (name !== 'text' && name !== 'images' && name !== 'audio') throw new Error(`${path} is not served here`);
    return handlers[name];
  };
  /** Sends the request as Lambda does and returns immediately. The received data grows over time. */
  const ask = async (customer: Customer, vendor: Silence, headers: Readonly<Record<string, string>> = {}) => {
    silence = { body: customer.vendor, ...vendor };
    const { bytes, contentType } = await toSent(customer);
    const credentials = { authorization: `Bearer ${apiKey}`, 'x-goog-api-key': apiKey, 'x-api-key': apiKey };
    const event = functionUrlEvent({
      method: 'POST',
      path: customer.path,
      headers: { ...credentials, 'anthropic-version': '2023-06-01', 'content-type': contentType, ...headers },
      body: bytes,
    });
    const request = {
      ...event,
      body: Buffer.from(bytes).toString('base64'),
      isBase64Encoded: true,
      ...(customer.query && { queryStringParameters: { alt: customer.query } }),
    };
    const startedAtMs = clock.now();
    const heard: Heard = { pieces: [], ended: false };
    const stream = createResponseStream({
      head: (prelude) => {
        heard.head = prelude;
      },
      write: (written, done) => {
        heard.pieces.push({ at: (clock.now() - startedAtMs) / 1_000, text: written.toString() });
        done();
      },
      end: (done) => {
        heard.ended = true;
        done();
      },
    });
    const done = handlerOf(customer.path)(request, stream, { getRemainingTimeInMillis: () => 900_000 });
    await settle();
    return { heard, done, event: request };
  };
  /** Waits for streams, which take several turns of the event loop even without a timer. */
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 10; turn += 1) await clock.flush();
  };
  const pass = async (seconds: number): Promise<void> => {
    const endMs = clock.now() + seconds * 1_000;
    while (clock.now() < endMs) {
      await clock.advance(Math.min(15_000, endMs - clock.now()));
      await settle();
    }
  };
  const account = async () => {
    const found = await ledger.readAccount(ACCOUNT);
    if (!found) throw new Error('the account is gone');
    return found;
  };
  /** Charges so far, and the expiry of the open holds in seconds since the first request. */
  const money = async () => {
    const { spentPicos, holds } = await account();
    const expiries = [...holds.values()].map(({ expiresAtMs }) => (expiresAtMs - DAY) / 1_000);
    return { spentPicos, expiries };
  };
  const play = (vendor: Silence): void => {
    silence = vendor;
  };
  return { ask, play, pass, clock, finished, calls, money, handlers };
};

export type SilentService = Awaited<ReturnType<typeof createSilentService>>;
