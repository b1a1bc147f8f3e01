import { expect, test } from 'vitest';
import { type Clock, sleep } from '../../../../lambdas/core/clock.ts';
import { StoreError } from '../../../../lambdas/core/errors/store-error.ts';
import { bucketOf, microsOf } from '../../../../lambdas/core/limits/rate-limit.ts';
import { createDynamoDB, type UpdateRequest, type WriteResult } from '../../../../lambdas/stores/dynamodb/dynamodb.ts';
import type { Item } from '../../../../lambdas/stores/dynamodb/item.ts';
import { createKeyStore } from '../../../../lambdas/stores/dynamodb/key-store.ts';
import { type BucketDatabase, createAddressCounters } from '../../../../lambdas/stores/dynamodb/rate-bucket.ts';
import { numbersFrom } from '../../../support/kill-random.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { createScriptedClient } from './scripted-client.ts';

const bucket = bucketOf(10, 15);
const KEY = { pk: 'hash', accountId: 'account-1', status: 'active', tat: 0n };

const compare: Readonly<Record<string, (one: unknown, other: unknown) => boolean>> = {
  '=': (one, other) => one === other || (typeof one === 'bigint' && Number(one) === other),
  '<=': (one, other) => Number(one) <= Number(other),
  '>': (one, other) => Number(one) > Number(other),
};

/** One item that evaluates the conditions and the updates of a bucket. */
const createItem = (first: Item) => {
  let item = first;
  const holds = (request: Pick<UpdateRequest, 'names' | 'values'>, part: string): boolean => {
    const { names = {}, values = {} } = request;
    const [, absent] = /^attribute_not_exists\((.+)\)$/.exec(part) ?? [];
    if (absent !== undefined) return item[names[absent] ?? absent] === undefined;
    const choices = part.replaceAll(/[()]/g, '').split(' OR ');
    if (choices.length > 1) return choices.some((choice) => holds(request, choice));
    const [left = '', sign = '', right = ''] = part.split(' ');
    return compare[sign]?.(item[names[left] ?? left], values[right]) ?? false;
  };
  return (request: UpdateRequest): WriteResult => {
    const parts = request.condition?.split(' AND ') ?? [];
    if (!parts.every((part) => holds(request, part))) return { conditionFailed: item };
    const { ':next': next, ':furthest': furthest, ':interval': interval } = request.values ?? {};
    const tat = interval === undefined ? Number(next ?? furthest) : Number(item.tat) + Number(interval);
    item = { ...item, tat: BigInt(tat) };
    return { written: item };
  };
};

const storeOn = (hot: BucketDatabase['hot']) =>
  createKeyStore(
    { once: { hot }, repeating: createDynamoDB(createScriptedClient().client, Date.now) },
    { accounts: 'accounts', keys: 'keys' },
  );

const lost = (): StoreError => new StoreError('unavailable', 'no reply');

const DELAYED_SHARE = 0.3;
const DELAY_MS_MAX = 1_500;
/** Time limit of one call of the client. */
const REPLY_MS_MAX = 1_000;

/** Delays a share of the updates, half of them before they land and half after. Late replies are lost. */
const delayed = (clock: Clock, random: () => number, land: (request: UpdateRequest) => WriteResult) => ({
  update: async (request: UpdateRequest): Promise<WriteResult> => {
    const delayMs = random() < DELAYED_SHARE ? Math.floor(random() * DELAY_MS_MAX) : 5;
    const isLate = random() < 0.5;
    const landing = sleep(clock, isLate ? delayMs : 0).then(() => land(request));
    if (delayMs <= REPLY_MS_MAX) await sleep(clock, delayMs);
    else {
      await sleep(clock, REPLY_MS_MAX);
      throw lost();
    }
    return landing;
  },
});

test('LIM-2 late updates refuse none of 500 requests that are below the limit', async () => {
  const clock = new ManualClock();
  const store = storeOn(delayed(clock, numbersFrom(24), createItem(KEY)));
  const replies: Promise<string>[] = [];
  for (let sent = 0; sent < 500; sent += 1) {
    const reply = store.take('hash', bucket, microsOf(clock)).then(
      ({ kind }) => kind,
      ({ kind }: StoreError) => kind,
    );
    replies.push(reply);
    await clock.advance(150);
  }
  await clock.advance(10_000);
  const kinds = await Promise.all(replies);
  expect(kinds.filter((kind) => kind === 'refused')).toEqual([]);
  expect(kinds.filter((kind) => kind === 'taken').length).toBeGreaterThan(480);
});

test('LIM-2 an update is sent again with a fresh time after a lost reply', async () => {
  const times: unknown[] = [];
  let nowMicros = 1_000_000;
  const land = createItem(KEY);
  const store = storeOn({
    update: async (request) => {
      times.push(request.values?.[':now']);
      nowMicros += 1_400_000;
      const reply = land(request);
      if (times.length === 1) throw lost();
      return reply;
    },
  });
  expect(await store.take('hash', bucket, () => nowMicros)).toMatchObject({ kind: 'taken' });
  expect(times).toEqual([1_000_000, 2_400_000]);
});

test.each([
  ['a second lost reply', 'unavailable', 2],
  ['a throttled update', 'throttled', 1],
  ['an update in conflict', 'conflict', 1],
] as const)('LIM-4 the update of a key is not sent again after %s', async (_name, kind, sent) => {
  let calls = 0;
  const store = storeOn({
    update: () => {
      calls += 1;
      return Promise.reject(new StoreError(kind, 'refused'));
    },
  });
  await expect(store.take('hash', bucket, () => 0)).rejects.toMatchObject({ kind });
  expect(calls).toBe(sent);
});

test('LIM-4 a client IP has no second update after a lost reply', async () => {
  let calls = 0;
  const hot = {
    update: () => {
      calls += 1;
      return Promise.reject(lost());
    },
  };
  const counters = createAddressCounters({ hot }, 'counters');
  await expect(counters.take('192.0.2.1', bucket, () => 0)).rejects.toMatchObject({ kind: 'unavailable' });
  expect(calls).toBe(1);
});

test('LIM-4 a bucket that changes during every update is a conflict, not a refusal', async () => {
  let nowMicros = 0;
  const store = storeOn({
    update: async () => {
      nowMicros += 1_000_000;
      return { conditionFailed: { ...KEY, tat: BigInt(nowMicros + 1_400_000) } };
    },
  });
  await expect(store.take('hash', bucket, () => nowMicros)).rejects.toMatchObject({ kind: 'conflict' });
});

const TAKES = 1_000;
const wide = bucketOf(10, 1_000);

/**
 * Sends requests whose gaps are on average as long as the interval of the bucket, and returns the number of updates.
 * `burst`: number of requests that are under way at the same time.
 */
const updatesOf = async ({ processes, burst }: { readonly processes: number; readonly burst: number }) => {
  const random = numbersFrom(7);
  const land = createItem(KEY);
  let updates = 0;
  const hot = {
    update: async (request: UpdateRequest) => {
      updates += 1;
      return land(request);
    },
  };
  const stores = Array.from({ length: processes }, () => storeOn(hot));
  let nowMicros = 1_000_000;
  for (let sent = 0; sent < TAKES; sent += burst) {
    nowMicros += Math.floor(random() * 2 * burst * wide.intervalMicros);
    const store = stores[Math.floor(random() * processes)];
    const replies = Array.from({ length: burst }, () => store?.take('hash', wide, () => nowMicros));
    const kinds = (await Promise.all(replies)).map((reply) => reply?.kind);
    expect(kinds).toEqual(kinds.map(() => 'taken'));
  }
  return updates;
};

/** Store on one item, with the updates that it sends. */
const recorded = (land: (request: UpdateRequest) => WriteResult | Promise<WriteResult>) => {
  const sent: UpdateRequest[] = [];
  const store = storeOn({
    update: async (request) => {
      sent.push(request);
      return land(request);
    },
  });
  return { sent, take: (nowMicros: number) => store.take('hash', bucket, () => nowMicros) };
};

const HOUR = 3_600_000_000;
const NOW = 10 * HOUR;

test('LIM-2 only the first request after a clock was set back costs a further update', async () => {
  const { sent, take } = recorded(createItem({ ...KEY, tat: BigInt(NOW + HOUR) }));
  expect(await take(NOW)).toMatchObject({ kind: 'refused', key: { tatMicros: NOW + 1_500_000 } });
  expect(sent).toHaveLength(2);
  expect(await take(NOW + 99_999)).toMatchObject({ kind: 'refused' });
  expect(sent).toHaveLength(3);
  expect(await take(NOW + 100_000)).toMatchObject({ kind: 'taken', key: { tatMicros: NOW + 1_600_000 } });
  expect(sent).toHaveLength(4);
});

test('LIM-2 an update that replaces a time far ahead lowers no other time', async () => {
  const land = createItem({ ...KEY, tat: BigInt(NOW + HOUR) });
  const { sent, take } = recorded(land);
  await take(NOW);
  const lowers = sent[1]!;
  for (let index = 1; index <= 10; index += 1) await take(NOW + index * 100_000);
  expect(land(lowers)).toMatchObject({ conditionFailed: { tat: BigInt(NOW + 2_500_000) } });
});

test('LIM-2 a key that is revoked while its time is replaced is reported as revoked', async () => {
  const land = createItem({ ...KEY, tat: BigInt(NOW + HOUR), status: 'revoked' });
  const { sent, take } = recorded(land);
  expect(await take(NOW)).toMatchObject({ kind: 'refused', key: { status: 'revoked' } });
  expect(sent).toHaveLength(2);
});

test('LIM-2 a process that has used a key sends one update per request', async () => {
  expect(await updatesOf({ processes: 1, burst: 1 })).toBe(TAKES);
  expect(await updatesOf({ processes: 1, burst: 4 })).toBe(TAKES);
  expect(await updatesOf({ processes: 2, burst: 1 })).toBeLessThan(1.2 * TAKES);
});
