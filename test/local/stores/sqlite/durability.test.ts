import { afterEach, beforeEach, expect, test } from 'vitest';
import type { CircuitStore } from '../../../../lambdas/core/circuit/circuit-store.ts';
import type { ClaimStore } from '../../../../lambdas/core/idempotency/claim-store.ts';
import type { VideoJobStore } from '../../../../lambdas/core/videos/job-store.ts';
import { createCircuitStore } from '../../../../local/stores/sqlite/circuit-store.ts';
import { createClaimStore } from '../../../../local/stores/sqlite/claim-store.ts';
import type { Database } from '../../../../local/stores/sqlite/database.ts';
import { createVideoJobStore } from '../../../../local/stores/sqlite/video-job-store.ts';
import { orderOf } from '../../../contracts/video-subjects.ts';
import { openTestDatabase } from '../../../support/sqlite.ts';

const NOW = Date.UTC(2026, 10, 1);
const ref = { accountId: 'account-1', keyHash: 'a'.repeat(64) };
const claim = { ...ref, owner: 'first', nowMs: NOW, leaseUntilMs: NOW + 1, expiresAtMs: NOW + 2 };
const prepared = { holdId: 'first.0', hash: 'b', content: { objectName: 'account-1/first' } };
const circuit = { providerId: 'vendor', modelId: 'model' };
const opening = { openUntilMs: NOW, openings: 1, goodProbes: 0 };
const bucket = { startMs: NOW, failures: 1, successes: 0, accounts: [] };
const order = orderOf();
const failure = { code: 'upstream_error', message: 'gone' } as const;
const file = { name: 'one', bytes: 5, sha256: 'c' };

type Calls<Store> = Readonly<Record<keyof Store, (store: Store) => Promise<unknown>>>;

const claims: Calls<ClaimStore> = {
  claim: (store) => store.claim({ ...claim, fingerprint: 'print', dispatchesMax: 6 }),
  renew: (store) => store.renew(ref, 'first', NOW + 1),
  prepare: (store) => store.prepare(ref, 'first', prepared, NOW + 2),
  complete: (store) => store.complete(ref, 'first'),
  free: (store) => store.free(ref, 'first', 1),
  takeOver: (store) => store.takeOver({ ...claim, from: 'first' }),
  read: (store) => store.read(ref),
};

const circuits: Calls<CircuitStore> = {
  read: (store) => store.read(circuit, [NOW], NOW),
  count: (store) => store.count(circuit, bucket, NOW),
  open: (store) => store.open(circuit, opening, NOW, NOW + 1),
  lease: (store) => store.lease(circuit, { owner: 'first', leaseUntilMs: NOW }, NOW),
  renew: (store) => store.renew(circuit, 'first', NOW),
  giveBack: (store) => store.giveBack(circuit, 'first'),
  judge: (store) => store.judge(circuit, 'first', opening, NOW),
  close: (store) => store.close(circuit, 'first'),
  countMissing: (store) => store.countMissing('model', NOW, NOW),
  readMissing: (store) => store.readMissing('model', [NOW]),
  quarantine: (store) => store.quarantine('model', NOW, NOW),
};

const videos: Calls<VideoJobStore> = {
  create: (store) => store.create(order, NOW),
  abandon: (store) => store.abandon(order.id),
  read: (store) => store.read(order.id),
  locate: (store) => store.locate(order.id),
  setUpstream: (store) => store.setUpstream(order.id, 'up-1'),
  refuse: (store) => store.refuse(order.id, failure),
  advance: (store) => store.advance(order.id, 5),
  noteFailure: (store) => store.noteFailure(order.id, failure),
  noteFile: (store) => store.noteFile(order.id, file, 7),
  end: (store) => store.end(order.id, { state: 'failed', failure }),
  list: (store) => store.list(order.accountId, { limit: 1, newestFirst: true }),
  remove: (store) => store.remove(order.id),
  due: (store) => store.due(NOW),
  postpone: (store) => store.postpone(order.id, NOW),
};

let db: Database;
let syncs = 0;
beforeEach(async () => {
  db = await openTestDatabase({
    sync: async () => {
      syncs += 1;
    },
  });
});
afterEach(() => db.close());

/** Whether the call waits for a sync, with a write before it that is not on the disk yet. */
const isDurable = async (call: () => Promise<unknown>): Promise<boolean> => {
  await db.write(() => undefined);
  syncs = 0;
  await call();
  return syncs > 0;
};

test.each(Object.entries(claims))(
  'IDEM-2 a claim survives a power cut after %s, except a renewal',
  async (name, call) => {
    const store = createClaimStore(db);
    await claims.claim(store);
    expect(await isDurable(() => call(store))).toBe(name !== 'renew');
  },
);

test.each(Object.entries(circuits))('FALL-1 %s of a circuit does not wait for the disk', async (_name, call) => {
  const store = createCircuitStore(db);
  expect(await isDurable(() => call(store))).toBe(false);
});

test.each(Object.entries(videos))('VID-3 a video survives a power cut after %s', async (_name, call) => {
  const store = createVideoJobStore(db);
  await videos.create(store);
  expect(await isDurable(() => call(store))).toBe(true);
});
