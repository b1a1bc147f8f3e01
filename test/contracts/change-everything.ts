import {
  ACCOUNT,
  AT,
  CHAT,
  CIRCUIT,
  CLAIMS,
  DAY_MS,
  NEW_KEY_HASH,
  OPEN,
  PACKED,
  PACKED_HOLDS,
  type Stores,
  VIDEOS,
} from './stored-shapes.ts';

/** Changes an item of every kind that releases change, with the stores of any release. */
export const changeEverything = async (stores: Stores): Promise<void> => {
  const { accounts, keys, circuits, claims, videos, updates, counters } = stores;
  await changeMoney(stores);
  await accounts.setLanguage(CHAT, 'en');
  await accounts.setThreshold(ACCOUNT, 3_000_000_000_000n);
  await accounts.setBlocked(ACCOUNT, true, NEW_KEY_HASH);
  await accounts.setBlocked(ACCOUNT, false, NEW_KEY_HASH);
  await keys.markShown(ACCOUNT, NEW_KEY_HASH);
  await keys.take(NEW_KEY_HASH, BUCKET, clockOf(AT + 1_000));
  await counters.take('192.0.2.1', BUCKET, clockOf(AT + 1_000));
  const [claim = ''] = CLAIMS;
  await claims.renew({ accountId: ACCOUNT, keyHash: claim }, '01KAP4GC0000000000000000A1', AT + 90_000);
  const [video = ''] = VIDEOS;
  await videos.setUpstream(video, 'up-2');
  await videos.advance(video, 70);
  await updates.finish('update#1', AT);
  await circuits.count(CIRCUIT, { startMs: AT, failures: 1, successes: 1, accounts: ['h3'] }, AT + DAY_MS);
};

const BUCKET = { intervalMicros: 100_000, burst: 15 };

const clockOf = (ms: number) => () => ms * 1_000;

/** Charges a hold in each form, places one, and credits both accounts. */
const changeMoney = async ({ ledger, packed }: Stores): Promise<void> => {
  const accounts = [
    { accountId: ACCOUNT, store: ledger, holdId: OPEN },
    { accountId: PACKED, store: packed, holdId: PACKED_HOLDS[0]! },
  ];
  for (const { accountId, store, holdId } of accounts) {
    const record = { accountId, requestId: holdId.slice(0, -2), holdId, at: AT + 1 } as const;
    const charge = { ...record, outcome: 'settled', amountPicos: 1n } as const;
    await store.putRecord(charge);
    await store.apply(charge, 2_500_000_001n, AT + 1);
    await store.credit({ accountId, ref: 'later', amountPicos: 5n, reason: 'card', at: AT + 1 });
    await store.hold({
      accountId,
      holdId: '01M8BVM4KV00BFXR71N60C1MK9.0',
      amountPicos: 7n,
      expiresAtMs: AT + DAY_MS,
      sweepAtMs: AT + DAY_MS,
      previousHoldId: undefined,
    });
    await store.reschedule(accountId, AT + DAY_MS, AT + DAY_MS);
  }
};
