import { expect } from 'vitest';
import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import type { Circuits } from '../../../../lambdas/core/circuit/circuit.ts';
import { sleep } from '../../../../lambdas/core/clock.ts';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { answerOnce } from '../../../../lambdas/core/idempotency/claim.ts';
import {
  drawImages,
  type ImageDependencies,
  type ImageParams,
  type KeyedImages,
  type MadeImages,
} from '../../../../lambdas/core/images/draw-images.ts';
import type { ImageAsk } from '../../../../lambdas/core/images/image-wire.ts';
import { auditAccount } from '../../../../lambdas/core/ledger/audit.ts';
import type { MoneyMeter } from '../../../../lambdas/core/metrics.ts';
import { parseUsd } from '../../../../lambdas/core/money/usd.ts';
import { measureImage } from '../../../../lambdas/protocols/image-file.ts';
import {
  type Fault,
  withAnswerFaults,
  withClaimFaults,
  withFaults,
  withMediaFaults,
  withOutboxFaults,
} from '../../../support/memory/faults.ts';
import { freePassage } from '../../../support/memory/free-permit.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { idempotencyOf } from '../../../support/memory/memory-idempotency.ts';
import { MemoryLedgerStore } from '../../../support/memory/memory-ledger-store.ts';
import { MemoryMediaStore } from '../../../support/memory/memory-media-store.ts';
import { MemoryOutbox } from '../../../support/memory/memory-outbox.ts';
import { ScriptedImageWire } from '../../../support/memory/scripted-image-wire.ts';
import { sweep } from '../../../support/strict-tending.ts';
import { data, image } from '../catalog/sample-data.ts';
import { ask, inPixels, NOW } from './image-samples.ts';

export const ACCOUNT = 'account-1';
export const GRACE_MS = 300_000;
export const START = parseUsd('1000');
/** Price of one image of `paint-1`, in pico-USD. */
export const PER_IMAGE = parseUsd('0.03');

/** Returns a catalog entry for up to ten images at 0.03 USD each. */
export const paint = (changes: Readonly<Record<string, unknown>> = {}) =>
  image({
    image: {
      family: 'three_variant_free',
      size: { mode: 'pixels', minPixels: 100 },
      nMax: 10,
      references: { max: 3, fields: ['image'], form: 'public_url' },
    },
    ...changes,
  });

/** Returns the fault of a store call such as `media.put`. `nth` counts the calls to all stores from 0. */
export type StoreFault = (call: string, nth: number) => Fault | undefined;

/** Response to a client. */
export interface Got {
  readonly status: number;
  readonly body: string;
  readonly replayed: boolean;
}

interface WorldOptions {
  readonly models?: readonly unknown[];
  readonly usd?: string;
  readonly wire?: ScriptedImageWire;
  readonly fault?: StoreFault;
  readonly circuits?: Circuits;
  readonly reachable?: ImageDependencies['reachable'];
  readonly fitImage?: ImageDependencies['fitImage'];
  readonly uncollectedDailyPicos?: bigint;
}

/** Creates the use case on in-memory stores, with one account and a scripted provider. */
export const imageWorld = async (options: WorldOptions = {}) => {
  const clock = new ManualClock(NOW);
  const memory = new MemoryLedgerStore();
  await memory.createAccount(ACCOUNT, 0);
  const amountPicos = options.usd === undefined ? START : parseUsd(options.usd);
  await memory.credit({ accountId: ACCOUNT, ref: 'first', amountPicos, reason: 'test', at: NOW });
  const wire = options.wire ?? new ScriptedImageWire();
  const [media, outbox] = [new MemoryMediaStore(), new MemoryOutbox()];
  const notices: string[] = [];
  const reports: string[] = [];
  const money: Parameters<MoneyMeter>[0][] = [];
  /** Calls to all stores, in order. */
  const calls: string[] = [];
  const landings: (() => Promise<void>)[] = [];
  const planFor =
    (store: string) =>
    (method: string): Fault | undefined => {
      const nth = calls.push(`${store}.${method}`) - 1;
      return options.fault?.(`${store}.${method}`, nth);
    };
  const faulty = <Store extends { landed(): Promise<void> }>(store: Store): Store => {
    landings.push(() => store.landed());
    return store;
  };
  const ledger = {
    store: faulty(withFaults(memory, planFor('ledger'))),
    outbox: faulty(withOutboxFaults(outbox, planFor('outbox'))),
    clock,
    random: () => 0,
    shortestLifetimeMs: GRACE_MS,
    meter: (picos: Parameters<MoneyMeter>[0]) => void money.push(picos),
  };
  const own = idempotencyOf(ledger);
  const idempotency = {
    ...own,
    claims: faulty(withClaimFaults(own.claims, planFor('claims'))),
    answers: faulty(withAnswerFaults(own.answers, planFor('answers'))),
  };
  let tokens = 0;
  const deps: ImageDependencies = {
    catalog: loadCatalog(data(options.models ?? [paint()])),
    wires: new Map([['openai_images', wire] as const]),
    reachable: options.reachable ?? (() => true),
    ledger,
    circuits: options.circuits ?? freePassage(reports),
    notice: (notice) => notices.push(notice),
    holdGraceMs: GRACE_MS,
    upstreamDeadlineMs: 900_000,
    uncollectedDailyPicos: options.uncollectedDailyPicos ?? parseUsd('1'),
    media: faulty(withMediaFaults(media, planFor('media'))),
    newMediaToken: () => {
      tokens += 1;
      return tokens.toString(16).padStart(32, '0');
    },
    mediaUrl: 'https://media.example',
    measure: measureImage,
    fitImage: options.fitImage ?? (async () => undefined),
  };
  const draw = (
    order: Partial<ImageParams> = {},
    asked: Partial<ImageAsk> = {},
    requestId = 'r1',
    idempotent?: KeyedImages,
  ) =>
    drawImages(
      deps,
      { accountId: ACCOUNT, requestId, hostEndsAtMs: undefined },
      {
        protocol: 'images_generations',
        modelId: 'paint-1',
        format: 'url',
        endUser: undefined,
        dryRun: false,
        validateFor: () => ask({ size: inPixels(16, 16), ...asked }),
        ...order,
      },
      idempotent,
    );
  /** Returns the generated images. Throws the error of a failed request. */
  const answer = async (order?: Partial<ImageParams>, asked?: Partial<ImageAsk>, requestId = 'r1') => {
    const drawn = await clock.until(draw(order, asked, requestId));
    if (drawn.kind === 'dry_run') throw new Error('unexpected dry run');
    return drawn;
  };
  const got = async (pending: Promise<Got>): Promise<Got> => {
    try {
      return await clock.until(pending);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return { status: error.status, body: error.code, replayed: false };
    }
  };
  const send = (requestId: string, asked: Partial<ImageAsk> = {}, order: Partial<ImageParams> = {}): Promise<Got> =>
    got(
      draw(order, asked, requestId).then((drawn) => {
        if (drawn.kind === 'dry_run') throw new Error('unexpected dry run');
        return { status: 200, body: render(drawn.made), replayed: false };
      }),
    );
  const sendKeyed = (
    requestId: string,
    asked: Partial<ImageAsk> = {},
    order: Partial<ImageParams> = {},
  ): Promise<Got> => {
    const request = { accountId: ACCOUNT, keyHash: 'key-1', requestId, fingerprint: 'one', renderError };
    const work = answerOnce(idempotency, request, async (claimed) => {
      const toStored: KeyedImages['toStored'] = (made, costPicos) => ({
        status: 200,
        headers: { 'x-cost': String(costPicos) },
        body: render(made),
      });
      const drawn = await draw(order, asked, requestId, { claimed, toStored });
      if (drawn.kind === 'dry_run') throw new Error('unexpected dry run');
      return { status: 200, body: render(drawn.made), replayed: false };
    });
    return got(
      work.then((answered) => {
        if (answered.kind === 'fresh') return answered.value;
        const { status, body } = answered.answer;
        return { status, body, replayed: true };
      }),
    );
  };
  /** Waits until every delayed write has landed and every hold has ended. Checks the sums and returns the charges. */
  const charges = async () => {
    await clock.advance(2_000_000 + GRACE_MS);
    for (const landed of landings) await landed();
    await sweep({ ...ledger, store: memory, outbox });
    const audit = await auditAccount({ store: memory, records: memory, clock }, ACCOUNT);
    expect(audit).toMatchObject({ findings: [], openHolds: 0 });
    const settled = memory.recordsOf(ACCOUNT).filter(({ outcome }) => outcome === 'settled');
    const sum = settled.reduce((total, record) => total + record.amountPicos, 0n);
    expect((await memory.readAccount(ACCOUNT))?.availablePicos).toBe(amountPicos - sum);
    return settled;
  };
  /** Whether every link of a response leads to an image. */
  const hasImages = (body: string): boolean =>
    body.split(' ').every((url) => media.files.has(url.replace('https://media.example/media/', '')));
  const after = (ms: number): Promise<void> => sleep(clock, ms);
  const records = () => memory.recordsOf(ACCOUNT);
  return {
    ...{ clock, memory, media, outbox, wire, deps, notices, reports, money, calls, claims: own.claims },
    ...{ draw, answer, send, sendKeyed, charges, hasImages, after, records },
  };
};

const renderError = ({ status, code }: GatewayError) => ({ status, headers: {}, body: `error ${code}` });

const render = ({ images }: MadeImages): string =>
  images.map(({ content }) => (content.kind === 'url' ? content.url : content.text)).join(' ');
