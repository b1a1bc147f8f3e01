import { isDeepStrictEqual } from 'node:util';
import type { TokenUsage } from '../../../lambdas/core/pricing/charge.ts';
import { until, within } from '../../support/gateway-process.ts';
import { readError } from '../../support/hostile-oracle.ts';
import type { Reply } from '../../support/hostile-wire.ts';
import { type LivingClient, openClient } from '../../support/stream-life-client.ts';
import { openBook } from './account.ts';
import { countsOf, type Given, type LifeCase } from './cases.ts';
import { CAP, type Face } from './faces.ts';
import { hasConnection, seesSockets } from './sockets.ts';
import type { Play, TaggedVendor, VendorStream } from './vendor.ts';

export interface Stage {
  readonly port: number;
  readonly vendor: TaggedVendor;
  /** Creates an account with this balance. Returns its API key. */
  issue(picos: bigint): Promise<string>;
  /** Price in pico-USD. */
  priceOf(face: Face, usage: TokenUsage): bigint;
}

/** Observed result of a case. */
export interface Seen {
  /** Undefined if the client left or did not read. */
  readonly given: Given | undefined;
  /** Number of open holds after the client left, if the provider is still sending. */
  readonly heldMeanwhile: number | undefined;
  readonly spent: bigint;
  readonly isSpendable: boolean;
  readonly openHolds: number;
  readonly held: bigint;
  readonly rows: readonly object[];
  readonly calls: number;
}

export const usageOf = (input: number, output: number): TokenUsage => ({
  ...{ input, output },
  ...{ cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, reasoning: 0 },
});

/** Expected charge of a case. Output above the cap is not charged (BILL-7). */
export const priceIn = (stage: Stage, one: LifeCase): bigint => {
  const counts = countsOf(one);
  return counts ? stage.priceOf(one.face, usageOf(counts.input, Math.min(counts.output, CAP))) : 0n;
};

/** A third of the shortest provider deadline in this suite. */
const LATE_MS = 3_000;
const TRIES = 5;

/** Runs a case. Repeats it if a slow machine delayed the provider beyond its deadline. */
const runCase = async (stage: Stage, one: LifeCase, tries = TRIES): Promise<Seen> => {
  const { port, vendor } = stage;
  // Enough for any hold here, and less than the largest charge.
  const credit = stage.priceOf(one.face, usageOf(2_000, CAP));
  const apiKey = await stage.issue(credit);
  const book = openBook(port, apiKey);
  const part = new VendorPart(one);
  vendor.plan(one.tag, part.play);
  const startedAt = performance.now();
  const client = await openClient(port, one.face.request(apiKey, one.tag), one.client !== 'does not read');
  let heldMeanwhile: number | undefined;
  let given: Given | undefined;
  await within('the call', part.arrived);
  if (one.client === 'stays') given = await readGiven(one, await within('the response', client.end));
  else if (one.client === 'does not read') await neverRead(stage, one, client, book.settled);
  else {
    await part.atLeaving;
    const last = one.script.words.filter(({ place }) => place <= part.leavesAfter).at(-1);
    if (last) await client.saw(last.word);
    await client.leave(one.client.how);
    const { openHolds } = await book.money();
    if (part.leavesAfter < one.script.done) heldMeanwhile = openHolds;
    part.goOn();
    // Waits for the provider's end, because no charge is possible before it, and constant polling would slow down the
    // other cases.
    await within("the provider's end", part.ended);
    await book.settled();
  }
  const isLate = one.afterwards === 'stalls' && part.sentAt - startedAt > LATE_MS;
  if (isLate && tries > 1) return runCase(stage, one, tries - 1);
  // A client that has read the end of a response sees the final balance.
  const { balance, available, held, openHolds } = await book.money();
  const rows = await book.rows();
  const [first] = rows;
  if (first && !isDeepStrictEqual(await book.row(first.id), first)) throw new Error('a record differs in the list');
  return {
    ...{ given, heldMeanwhile, held, openHolds, rows: rows.map(({ id: _, ...row }) => row) },
    ...{ spent: credit - balance, isSpendable: available === balance, calls: vendor.calls(one.tag) },
  };
};

/** The provider's part of a case, including its waits for the client. */
class VendorPart {
  readonly leavesAfter: number;
  /** Time of the last event, from `performance.now`. */
  sentAt = 0;
  readonly #one: LifeCase;
  readonly #arrived = Promise.withResolvers<void>();
  readonly #atLeaving = Promise.withResolvers<void>();
  readonly #left = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<unknown>();

  constructor(one: LifeCase) {
    this.#one = one;
    this.leavesAfter = typeof one.client === 'object' ? one.client.leavesAfter : 0;
    if (typeof one.client !== 'object') this.#left.resolve();
  }

  get arrived(): Promise<void> {
    return this.#arrived.promise;
  }

  get atLeaving(): Promise<void> {
    return within('the moment to leave', this.#atLeaving.promise);
  }

  /** Resolves when the provider is done or its connection was closed. */
  get ended(): Promise<unknown> {
    return this.#ended.promise;
  }

  goOn(): void {
    this.#left.resolve();
  }

  readonly play: Play = async (stream) => {
    const { script, sent, afterwards } = this.#one;
    this.#arrived.resolve();
    for (const event of script.events.slice(0, this.leavesAfter)) await stream.send(event);
    this.#atLeaving.resolve();
    await this.#left.promise;
    for (const event of script.events.slice(this.leavesAfter, sent)) await stream.send(event);
    this.sentAt = performance.now();
    await endings[afterwards](stream, this.#one);
    this.#ended.resolve(afterwards === 'stalls' && sent < script.done ? stream.gone : undefined);
  };
}

const endings: Readonly<Record<LifeCase['afterwards'], (stream: VendorStream, one: LifeCase) => Promise<void> | void>> =
  {
    ends: (stream) => stream.end(),
    resets: (stream) => stream.reset(),
    closes: async (stream, { script, sent }) => {
      const next = script.events[sent] ?? '';
      // Half of the next event.
      await stream.send(next.slice(0, next.length / 2));
      stream.close();
    },
    // The connection stays open, so the gateway must close it.
    fails: (stream, { script }) => stream.send(script.error),
    stalls: () => undefined,
  };

const readGiven = async ({ face, script }: LifeCase, reply: LivingEnd): Promise<Given> => {
  if ('brokenOff' in reply) throw new Error(`the response broke off: ${reply.brokenOff.slice(-300)}`);
  const { status, body } = reply;
  if (status !== 200) return { status, words: [], code: readError(reply, face.shape).code, isWhole: false };
  const words = script.words.map(({ word }) => word).filter((word) => body.includes(word));
  const { errorCode, isWhole } = await face.read(body);
  if (errorCode !== undefined && face.ending.test(body))
    throw new Error(`an end behind a failure: ${body.slice(-300)}`);
  return { status, words, code: errorCode, isWhole };
};

type LivingEnd = Reply | { readonly brokenOff: string };

/** Checks that the gateway closes the connection of a client that does not read, without a complete response. */
const neverRead = async (
  { port }: Stage,
  { face, script }: LifeCase,
  client: LivingClient,
  settled: () => Promise<unknown>,
): Promise<void> => {
  await settled();
  if (seesSockets) {
    await until('the end of the connection', () => (hasConnection(port, client.port) ? undefined : true), 60_000);
  }
  client.read();
  const end = await within('the rest of the response', client.end);
  if (!('brokenOff' in end)) throw new Error('a partial response looked complete');
  if (face.ending.test(end.brokenOff)) throw new Error(`an end: ${end.brokenOff.slice(-300)}`);
  const all = script.events.reduce((sum, event) => sum + event.length, 0);
  if (end.brokenOff.length >= all)
    throw new Error('the gateway buffered the whole response for a client that did not read');
};

/** Runs all cases in this many lanes. Each case has its own promise. */
export const runAll = (
  stage: Stage,
  cases: readonly LifeCase[],
  lanes: number,
): ReadonlyMap<LifeCase, Promise<Seen>> => {
  const ends = cases.map((one) => ({ one, end: Promise.withResolvers<Seen>() }));
  const waiting = ends.values();
  const lane = async (): Promise<void> => {
    for (const { one, end } of waiting) {
      // The test of the case reports a failure.
      await runCase(stage, one).then(end.resolve, end.reject);
    }
  };
  for (const { end } of ends) end.promise.catch(() => undefined);
  for (let index = 0; index < lanes; index += 1) void lane();
  return new Map(ends.map(({ one, end }) => [one, end.promise]));
};
