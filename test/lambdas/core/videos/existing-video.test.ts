import { expect, test } from 'vitest';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { resolveHoldById } from '../../../../lambdas/core/ledger/release.ts';
import { createMoment, fails, losesReply } from '../../../support/memory/faults.ts';
import { neverAnswers } from '../../../support/memory/scripted-video-wire.ts';
import { ACCOUNT, ask, LEASE_MS, times, toStored } from './video-samples.ts';
import { type VideoWorld, videoWorld } from './video-world.ts';

const never = { kind: 'delayed', until: new Promise<void>(() => undefined) } as const;
/** Faults of a process whose lease expires, because it is frozen or cut off. */
const frozen = { claims: { renew: fails } } as const;
const OVER_MS = times.createMs + 5_000;

const madeBy = (requestId: string) => ({ status: 200, body: answerOf(requestId) });
const answerOf = (requestId: string): string =>
  toStored({ ...madeUp, id: `video_${requestId}`, prompt: requestId }).body;
const madeUp = {
  ...ask(),
  accountId: ACCOUNT,
  requestId: '',
  holdId: '',
  holdAmountPicos: 0n,
  modelId: '',
  providerId: '',
  wire: 'openai_videos',
  upstreamModel: '',
  createdAtMs: 0,
  terms: { unit: 'token', ratePicos: 0n, unitsMax: 0 },
  state: 'queued',
  progress: 0,
  refused: false,
} as const;
const received = (status: number, body: string) => ({ status, body });
const claimOf = (world: VideoWorld) => world.memory.claims.claimOf({ accountId: ACCOUNT, keyHash: 'key-1' });
const stateOf = (world: VideoWorld, requestId: string) => world.job(`video_${requestId}`)?.state;

test('IDEM-2 a repeated request returns the same video and creates no other', async () => {
  const world = await videoWorld();
  expect(await world.createKeyed('a')).toEqual(madeBy('a'));
  expect(claimOf(world)?.state).toBe('done');
  expect(await world.createKeyed('b')).toEqual(madeBy('a'));
  expect(world.wire.creations).toHaveLength(1);
});

test('IDEM-8 if an owner dies before it writes its job record, a repeat creates the only video', async () => {
  const world = await videoWorld({ faults: { ...frozen, jobs: { create: never } } });
  void world.createKeyed('a');
  await world.clock.advance(LEASE_MS);
  expect(await world.createKeyed('b', {})).toEqual(madeBy('b'));
  expect(await world.memory.jobs.abandon('video_a')).toEqual({ kind: 'abandoned' });
  expect((await world.account()).holds.size).toBe(1);
});

test('IDEM-8 an owner that continues after a takeover creates nothing and returns the new video', async () => {
  const moment = createMoment();
  const world = await videoWorld({ faults: { ...frozen, jobs: { create: { kind: 'delayed', until: moment.until } } } });
  const owner = world.createKeyed('a');
  await world.clock.advance(LEASE_MS);
  expect(await world.createKeyed('b', {})).toEqual(madeBy('b'));
  moment.come();
  expect(await world.clock.until(owner)).toEqual(madeBy('b'));
  expect(world.wire.creations).toHaveLength(1);
  expect(world.job('video_a')).toBeUndefined();
});

test.for(['setUpstream', 'stageResponse', 'complete'] as const)(
  'IDEM-8 an accepted video is returned to repeats if its owner dies at %s',
  async (at) => {
    const isJob = at === 'setUpstream';
    const world = await videoWorld({
      faults: {
        claims: { renew: fails, ...(isJob ? {} : { [at]: never }) },
        jobs: isJob ? { setUpstream: { kind: 'repeated', until: Promise.resolve() } } : {},
      },
    });
    void world.createKeyed('a');
    await world.clock.advance(LEASE_MS);
    expect(await world.createKeyed('b', {})).toEqual(madeBy('a'));
    expect(claimOf(world)).toMatchObject({ owner: 'a', state: 'done' });
    expect(stateOf(world, 'a')).toBe('queued');
    expect(world.wire.creations).toHaveLength(1);
  },
);

test('IDEM-4 a creation that its provider may still accept is in progress even without a lease', async () => {
  const world = await videoWorld({ faults: frozen, script: { create: neverAnswers } });
  void world.createKeyed('a');
  await world.clock.flush();
  world.clock.skip(OVER_MS - 1);
  expect(await world.createKeyed('b', {})).toEqual(received(409, 'idempotency_in_progress'));
  expect(stateOf(world, 'a')).toBe('queued');
});

test('IDEM-8 an owner that dies before its provider responds leaves a failed video for repeats', async () => {
  const world = await videoWorld({ faults: frozen, script: { create: () => new Promise(() => undefined) } });
  void world.createKeyed('a');
  await world.clock.advance(OVER_MS);
  expect(await world.createKeyed('b', {})).toEqual(madeBy('a'));
  expect(world.job('video_a')).toMatchObject({ state: 'failed', refused: false, failure: { code: 'upstream_error' } });
  expect(await world.createKeyed('c', {})).toEqual(madeBy('a'));
  expect((await world.account()).holds.size).toBe(0);
});

test('IDEM-8 an owner that wakes after its video failed returns it, ignoring the provider', async () => {
  for (const answer of ['upstream-1', new GatewayError('content_filter', 'no')]) {
    const moment = createMoment();
    const create = async () => {
      await moment.until;
      if (typeof answer !== 'string') throw answer;
      return answer;
    };
    const world = await videoWorld({ faults: frozen, script: { create } });
    const owner = world.createKeyed('a');
    await world.clock.advance(OVER_MS);
    expect(await world.createKeyed('b', {})).toEqual(madeBy('a'));
    moment.come();
    expect(await world.clock.until(owner)).toEqual(madeBy('a'));
    expect(stateOf(world, 'a')).toBe('failed');
    expect(world.job('video_a')?.upstreamId).toBeUndefined();
    expect(world.records().every(({ outcome }) => outcome === 'released')).toBe(true);
  }
});

test.for(['refuse', 'create'] as const)(
  'IDEM-8 a refusal that is not stored at %s keeps the idempotency key: no second video',
  async (method) => {
    const answered = createMoment();
    const readOn = createMoment();
    const create = async () => {
      await answered.until;
      throw new GatewayError('upstream_error', 'no');
    };
    const refusals = { refuse: fails, ...(method === 'create' ? { create: losesReply } : {}) };
    const world = await videoWorld({ faults: { ...frozen, jobs: refusals }, script: { create } });
    const owner = world.createKeyed('a');
    await world.clock.flush();
    world.clock.skip(OVER_MS);
    // The second request sees that the first lease has expired, and is delayed before it reads what the first request
    // created.
    const second = world.createKeyed('b', { jobs: { abandon: { kind: 'delayed', until: readOn.until } } });
    await world.clock.flush();
    answered.come();
    const { status } = await world.clock.until(owner);
    expect(status).toBeGreaterThanOrEqual(500);
    readOn.come();
    expect(await world.clock.until(second)).toEqual(madeBy('a'));
    world.wire.say({ create: () => 'upstream-2' });
    expect(await world.clock.until(world.createKeyed('c', {}))).toEqual(madeBy('a'));
  },
);

test('IDEM-8 a video whose refusal is still on its way is not returned to its owner', async () => {
  const answered = createMoment();
  const late = createMoment();
  const create = async () => {
    await answered.until;
    throw new GatewayError('content_filter', 'no');
  };
  const world = await videoWorld({
    faults: { ...frozen, jobs: { refuse: { kind: 'lands-late', until: late.until } } },
    script: { create },
  });
  const owner = world.createKeyed('a');
  await world.clock.flush();
  // The workflow has released the hold and not ended the video yet.
  const holdId = world.job('video_a')?.holdId ?? '';
  await resolveHoldById(world.steps.ledger, { accountId: ACCOUNT, holdId, reason: 'upstream_error' });
  answered.come();
  expect(await world.clock.until(owner)).toEqual(received(409, 'idempotency_in_progress'));
  late.come();
  await world.clock.advance(LEASE_MS);
  expect(world.job('video_a')).toMatchObject({ refused: true });
  world.wire.say({ create: () => 'upstream-2' });
  expect(await world.createKeyed('b', {})).toEqual(madeBy('b'));
});

test('IDEM-7 a provider’s rejection is stored even if its video cannot be marked as refused', async () => {
  const create = () => {
    throw new GatewayError('content_filter', 'no');
  };
  const world = await videoWorld({ faults: { jobs: { refuse: fails } }, script: { create } });
  expect(await world.clock.until(world.createKeyed('a'))).toEqual(received(400, 'content_filter'));
  expect(await world.createKeyed('b')).toEqual(received(400, 'content_filter'));
});

test('IDEM-7 a failed creation frees the idempotency key for another video', async () => {
  let turn = 0;
  const create = () => {
    turn += 1;
    if (turn === 1) throw new GatewayError('upstream_error', 'no');
    return 'upstream-2';
  };
  const world = await videoWorld({ script: { create } });
  expect(await world.createKeyed('a')).toEqual(received(502, 'upstream_error'));
  expect(await world.createKeyed('b')).toEqual(madeBy('b'));
  expect(world.job('video_a')).toMatchObject({ refused: true });
});

test('IDEM-7 a provider’s rejection of the request is returned to every repeat', async () => {
  const create = () => {
    throw new GatewayError('content_filter', 'no');
  };
  const world = await videoWorld({ script: { create } });
  for (const id of ['a', 'b']) expect(await world.createKeyed(id)).toEqual(received(400, 'content_filter'));
  expect(world.wire.creations).toHaveLength(1);
});

test('IDEM-8 a repeat takes over from an owner that dies after its failed creation', async () => {
  const create = () => {
    throw new GatewayError('upstream_error', 'no');
  };
  const world = await videoWorld({ faults: { ...frozen, ledger: { putRecord: never } }, script: { create } });
  void world.createKeyed('a');
  await world.clock.advance(LEASE_MS);
  world.wire.say({ create: () => 'upstream-2' });
  expect(await world.createKeyed('b', {})).toEqual(madeBy('b'));
});

test('IDEM-8 a removed video is not created again under its idempotency key', async () => {
  const world = await videoWorld({ faults: { claims: { renew: fails, stageResponse: never } } });
  void world.createKeyed('a');
  await world.clock.advance(LEASE_MS);
  await world.memory.jobs.end('video_a', { state: 'failed', failure: { code: 'upstream_error', message: 'no' } });
  await world.memory.jobs.remove('video_a');
  expect(await world.createKeyed('b', {})).toEqual(received(409, 'idempotency_exhausted'));
  expect(world.wire.creations).toHaveLength(1);
});

test.for(['read', 'abandon'] as const)(
  'IDEM-8 a store that fails at %s is 503, and no video is created',
  async (at) => {
    const world = await videoWorld({ faults: { claims: { renew: fails, stageResponse: never } } });
    void world.createKeyed('a');
    await world.clock.advance(LEASE_MS);
    const got = await world.clock.until(world.createKeyed('b', { jobs: { [at]: fails } }));
    expect(got).toEqual(received(503, 'service_unavailable'));
    expect(world.wire.creations).toHaveLength(1);
  },
);

test.for(['stageResponse', 'complete'] as const)(
  'IDEM-2 a response that %s does not store is found again unchanged',
  async (method) => {
    const world = await videoWorld({ faults: { claims: { renew: fails, [method]: never } } });
    void world.createKeyed('a');
    await world.clock.advance(LEASE_MS);
    expect(await world.clock.until(world.createKeyed('b', { claims: { [method]: fails } }))).toEqual(madeBy('a'));
    expect(claimOf(world)?.state).not.toBe('done');
    expect(await world.clock.until(world.createKeyed('c', {}))).toEqual(madeBy('a'));
    expect(claimOf(world)?.state).toBe('done');
  },
);

test('OPS-11 a key whose new video becomes unreadable starts no other, and the hold stays open', async () => {
  const world = await videoWorld();
  const { jobs } = world.memory;
  const unreadable = async () => {
    throw new Error('video_a: the state "paused" is of a newer release');
  };
  Object.assign(jobs, { setUpstream: unreadable, refuse: unreadable, read: unreadable, abandon: unreadable });
  await expect(world.createKeyed('a')).rejects.toThrow('newer release');
  expect(claimOf(world)).toMatchObject({ state: 'open', owner: 'a' });
  await world.clock.advance(OVER_MS + LEASE_MS);
  await expect(world.createKeyed('b')).rejects.toThrow('newer release');
  expect([...(await world.account()).holds.keys()]).toEqual(['a.0']);
  expect(await world.records()).toEqual([]);
  expect(world.wire.creations).toHaveLength(1);
});
