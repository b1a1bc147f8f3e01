import { toCap } from '../../lambdas/core/ledger/caps.ts';
import { EXPIRES_AT_MS, payer, request, sweeper, worker } from './actors.ts';
import type { Actor, Configuration } from './configuration.ts';
import type { Op, Served } from './operations.ts';
import type { ClientResult } from './run-actor.ts';
import { idempotent, streaming } from './text-actors.ts';
import { CAPPED, newWorld } from './world.ts';

const A = { name: 'A', body: request('a') };
const B = { name: 'B', body: request('b') };
const S1 = { name: 'S1', program: 'sweeper', body: sweeper() };
const S2 = { name: 'S2', program: 'sweeper', body: sweeper() };
const W = { name: 'W', body: worker() };
const client = (name: string, outcomes?: readonly Served[]): Actor => ({
  name,
  body: idempotent(name.toLowerCase(), outcomes),
});

const capOfKey = { keyId: CAPPED, kind: 'day', epoch: 1 } as const;
const capped = (name: string): Actor => ({ name, body: request(name.toLowerCase(), ['good'], capOfKey) });

const back = { of: 'first', amountPicos: 150n } as const;
const won = { ...back, type: 'chargeback_reversed' } as const;

const aroundExpiry = [0, EXPIRES_AT_MS + 60_000];
/** The second time is too late to start writing an outbox entry, but a write can still end. */
const toExpiry = [0, EXPIRES_AT_MS - 45_000, EXPIRES_AT_MS + 60_000];
/** At each time, a lease that was claimed at the previous time has expired. */
const leases = (count: number) => Array.from({ length: count + 1 }, (_, index) => index * 61_000);

/** The day ends between the first two. */
const aroundMidnight = [-60_000, 0];
/** A daily cap that covers one and a half holds, on an account with enough money. */
const cappedWorld = newWorld(1_000n, new Map([[CAPPED, toCap(150n, 150n, '1:1969-12-31')]]));

/** Covers two and a half holds. */
const plainWorld = newWorld(250n);
const textWorld = newWorld(3_000_000_000n);

const takesNoRecords = ({ kind }: Op): boolean => kind === 'putRecord';
const takesNoCharges = (op: Op): boolean =>
  op.kind === 'putNote' || (op.kind === 'putRecord' && op.record.outcome === 'settled');
const takesNothing = ({ kind }: Op): boolean => kind === 'putNote' || kind === 'putRecord';

/**
 * BILL-14: the outcome is unknown and the charge may be committed. The sweeper, the worker or the next request with the
 * key finds it.
 */
const unknowable = (returned: ClientResult): string | undefined =>
  returned.unanswered?.includes('putRecord')
    ? `returned ${returned.content} although charged; neither the charge nor the release had a definite reply`
    : undefined;

export const configurations: readonly Configuration[] = [
  {
    id: 'a',
    title: 'a request and a sweeper',
    actors: [A, S1],
    world: plainWorld,
    timesMs: aroundExpiry,
    faults: 3,
    crashes: 1,
    enoughMoney: true,
  },
  {
    id: 'stream',
    title: 'a streamed request whose provider may fail, and a sweeper',
    actors: [{ name: 'A', body: streaming('a', ['good', 'failed']) }, S1],
    world: textWorld,
    timesMs: aroundExpiry,
    faults: 2,
    crashes: 1,
    enoughMoney: true,
  },
  {
    id: 'returns',
    title: 'a request, and two reports of a refund, a chargeback and its reversal',
    actors: [
      A,
      { name: 'P', body: payer({ ...back, type: 'chargeback', ref: 'lost' }, { ...won, ref: 'won' }) },
      { name: 'Q', body: payer({ ...back, type: 'refund', ref: 'back' }, { ...won, ref: 'won-too' }) },
    ],
    world: plainWorld,
    timesMs: [0],
    faults: 3,
    crashes: 1,
  },
  {
    id: 'cap',
    title: 'a request of an API key with a daily cap, and a sweeper; the day ends before the hold expires',
    actors: [capped('A'), S1],
    world: cappedWorld,
    timesMs: [...aroundMidnight, EXPIRES_AT_MS + 60_000],
    faults: 2,
    crashes: 1,
    enoughMoney: true,
  },
  {
    id: 'caps',
    title: 'three requests of an API key with a daily cap for one of them; the day ends',
    actors: [capped('A'), capped('B'), capped('C')],
    world: cappedWorld,
    timesMs: aroundMidnight,
    faults: 1,
    crashes: 1,
  },
  {
    id: 'caps-back',
    title: 'three requests of an API key with a daily cap for one of them; the day ends, and the clock is set back',
    actors: [capped('A'), capped('B'), capped('C')],
    world: cappedWorld,
    timesMs: [...aroundMidnight, -60_000],
    faults: 1,
    crashes: 0,
  },
  {
    id: 'two',
    title: 'two requests and a sweeper',
    actors: [A, B, S1],
    world: plainWorld,
    timesMs: aroundExpiry,
    faults: 1,
    crashes: 1,
  },
  {
    id: 'b',
    title: 'a request and two sweepers',
    actors: [A, S1, S2],
    world: plainWorld,
    timesMs: aroundExpiry,
    partial: true,
    faults: 2,
    crashes: 1,
  },
  {
    id: 'c',
    title: 'two clients with one idempotency key',
    actors: [client('A'), client('B')],
    world: textWorld,
    timesMs: leases(1),
    faults: 2,
    crashes: 1,
    idempotent: ['a', 'b'],
    lateReplies: true,
  },
  {
    id: 'c3',
    title: 'three clients with one idempotency key',
    actors: [client('A'), client('B'), client('C')],
    world: textWorld,
    timesMs: leases(1),
    faults: 0,
    crashes: 1,
    idempotent: ['a', 'b', 'c'],
  },
  {
    id: 'c3-long',
    title: 'three clients with one idempotency key, up to a second takeover',
    actors: [client('A'), client('B'), client('C')],
    world: textWorld,
    timesMs: leases(2),
    partial: true,
    faults: 0,
    crashes: 1,
    idempotent: ['a', 'b', 'c'],
  },
  {
    id: 'heirs',
    title: 'two clients with the idempotency key of a third one, which has crashed',
    actors: [client('B'), client('C')],
    world: {
      ...textWorld,
      claim: {
        owner: 'z',
        leaseUntilMs: -1,
        fingerprint: 'same',
        state: 'open',
        dispatches: 1,
        expiresAtMs: 86_400_000,
        prepared: undefined,
      },
    },
    timesMs: leases(1),
    faults: 0,
    crashes: 1,
    idempotent: ['b', 'c', 'z'],
  },
  {
    id: 'ends',
    title: 'two clients with one idempotency key, whose provider succeeds, rejects or fails',
    actors: [client('A', ['good', 'refused', 'failed']), client('B', ['good', 'refused', 'failed'])],
    world: textWorld,
    timesMs: leases(1),
    faults: 1,
    crashes: 1,
    idempotent: ['a', 'b'],
  },
  {
    id: 'swept',
    title: 'two clients with one idempotency key and a sweeper',
    actors: [client('A'), client('B'), { ...S1, body: sweeper(1) }],
    world: textWorld,
    timesMs: [...leases(1), EXPIRES_AT_MS + 61_000],
    faults: 0,
    crashes: 0,
    idempotent: ['a', 'b'],
  },
  {
    id: 'd',
    title: 'outbox: a request whose ledger rejects all records, a sweeper and a worker',
    actors: [{ ...A, refused: takesNoRecords }, S1, W],
    world: plainWorld,
    timesMs: toExpiry,
    faults: 2,
    crashes: 1,
    lateReplies: true,
    outbox: true,
    documented: unknowable,
  },
  {
    id: 'e',
    title: 'outbox with an idempotency key and renewals: two clients; all records of one of them are rejected',
    actors: [{ ...client('A'), refused: takesNoRecords }, client('B')],
    world: textWorld,
    timesMs: leases(1),
    faults: 1,
    crashes: 0,
    idempotent: ['a', 'b'],
    timers: true,
    outbox: true,
    documented: unknowable,
  },
  {
    id: 'f',
    title: 'no outbox: a request whose charge and outbox entry are rejected, and a sweeper',
    actors: [{ ...A, refused: takesNoCharges }, S1],
    world: plainWorld,
    timesMs: toExpiry,
    faults: 2,
    crashes: 1,
    outbox: true,
    documented: unknowable,
  },
  {
    id: 'g',
    title:
      'no outbox, with an idempotency key: two clients; all records and outbox entries of one of them are rejected',
    actors: [{ ...client('A'), refused: takesNothing }, client('B')],
    world: textWorld,
    timesMs: leases(1),
    faults: 1,
    crashes: 0,
    idempotent: ['a', 'b'],
    outbox: true,
    documented: unknowable,
  },
];
