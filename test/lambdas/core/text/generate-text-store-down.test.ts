import { expect, test } from 'vitest';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { sweep } from '../../../../lambdas/core/ledger/sweep.ts';
import { parseUsd } from '../../../../lambdas/core/money/usd.ts';
import { fails, losesReply } from '../../../support/memory/faults.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { answeredIn, loggingSink, streamed } from './sink.ts';
import {
  answered,
  createWorld,
  ended,
  GRACE_MS,
  heldFor,
  INPUT_PICOS,
  OUTPUT_PICOS,
  raw,
  streamOf,
  type World,
  type WorldOptions,
} from './text-world.ts';

const start = parseUsd('1000');
const cost = 40n * INPUT_PICOS + 10n * OUTPUT_PICOS;
const held = heldFor(100);

const thrownBy = (world: World, stream = false): Promise<unknown> =>
  world.clock.until(
    world.ask({ stream }).then(
      () => 'nothing was thrown',
      (error: unknown) => error,
    ),
  );

/** Returns the account after every hold has expired and the sweeper has run. */
const afterSweep = async (world: World) => {
  await world.clock.advance(600_000 + GRACE_MS + 1);
  await sweep({ ...world.deps.ledger, store: world.memory });
  const { availablePicos, spentPicos, holds } = await world.account();
  return { availablePicos, spentPicos, holds: holds.size };
};

const nothingCharged = { availablePicos: start, spentPicos: 0n, holds: 0 };

const down =
  (...methods: readonly string[]): WorldOptions['fault'] =>
  (method) =>
    methods.includes(method) ? fails : undefined;

/** The outbox bucket is down as well. */
const noNotes = { put: fails } as const;

test('BILL-14 a store that is down at the hold is 503 with Retry-After 30, and nothing is sent', async () => {
  const world = await createWorld({ fault: down('hold', 'putRecord') });
  expect(await thrownBy(world)).toMatchObject({ code: 'service_unavailable', status: 503, retryAfterSeconds: 30 });
  expect(world.sent).toEqual([]);
  expect(await afterSweep(world)).toEqual(nothingCharged);
});

test('BILL-14, OPS-3 a store down at the commit of a response is 503, uncharged and uncollected', async () => {
  const world = await createWorld({ fault: down('putRecord', 'apply'), outboxFaults: noNotes });
  expect(await thrownBy(world)).toMatchObject({ code: 'service_unavailable', status: 503, retryAfterSeconds: 30 });
  expect([world.sent.length, world.notices]).toEqual([1, ['commit_failed']]);
  expect(world.money).toEqual([{ held }, { uncollected: cost }]);
  expect(await afterSweep(world)).toEqual(nothingCharged);
});

test('BILL-14 a store that is down at the commit of a stream is an error event, uncharged', async () => {
  const world = await createWorld({
    play: async () => streamOf(raw('a'), ended()),
    fault: down('putRecord', 'apply'),
    outboxFaults: noNotes,
  });
  const { sink, seen } = loggingSink(world.log);
  await world.clock.until(streamed(await world.ask({ stream: true })).pump(sink));
  expect(seen.error?.code).toBe('service_unavailable');
  expect(world.log).not.toContain('finish');
  expect(world.log.at(-1)).toBe('close');
  expect(await afterSweep(world)).toEqual(nothingCharged);
});

test('BILL-14 the sweeper updates the account if the store fails after the charge', async () => {
  const world = await createWorld({ fault: down('apply') });
  const { receipt, body } = answeredIn(await world.clock.until(world.ask()));
  expect([receipt.costPicos, receipt.balancePicos, body]).toEqual([
    cost,
    undefined,
    JSON.stringify(answered().content),
  ]);
  expect((await world.account()).holds.size).toBe(1);
  expect(await afterSweep(world)).toEqual({ availablePicos: start - cost, spentPicos: cost, holds: 0 });
});

test('BILL-13, OPS-3 a response after its hold was swept is 500; its cost counts as uncollected', async () => {
  const world = await createWorld({
    play: async () => {
      const later = new ManualClock(world.clock.now() + 901_000);
      await sweep({ ...world.deps.ledger, clock: later });
      return answered();
    },
  });
  expect(await thrownBy(world)).toMatchObject({ code: 'internal_error', status: 500 });
  const { availablePicos, spentPicos, holds } = await world.account();
  expect([availablePicos, spentPicos, holds.size]).toEqual([start, 0n, 0]);
  expect(world.notices).toEqual(['late_settlement']);
  expect(world.money).toEqual([{ held }, { released: held }, { uncollected: cost }]);
});

test('BILL-2 a rejection reaches the client with the store down, and the sweeper frees the hold', async () => {
  const world = await createWorld({
    play: () => Promise.reject(new GatewayError('invalid_request_error', 'refused')),
    fault: down('putRecord', 'apply'),
  });
  expect(await thrownBy(world)).toMatchObject({ code: 'invalid_request_error', message: 'refused' });
  expect((await world.account()).holds.size).toBe(1);
  expect(await afterSweep(world)).toEqual(nothingCharged);
});

test('BILL-14 a response is sent if its charge is found after all replies were lost', async () => {
  const world = await createWorld({
    fault: (method, turn) => (method === 'putRecord' && turn < 4 ? losesReply : undefined),
    outboxFaults: noNotes,
  });
  const { receipt } = answeredIn(await world.clock.until(world.ask()));
  expect([receipt.costPicos, receipt.balancePicos]).toEqual([cost, start - cost]);
  expect(world.notices).toEqual([]);
});

test('BILL-14 a charge found late is reported as charged in the error message', async () => {
  const world = await createWorld({
    // All four commits lose their replies, and so do all four releases. Then the store works again.
    fault: (method, turn) => (method === 'putRecord' && turn < 8 ? losesReply : undefined),
    outboxFaults: noNotes,
  });
  expect(await thrownBy(world)).toMatchObject({ code: 'internal_error', message: expect.stringContaining('charged') });
  expect((await world.account()).spentPicos).toBe(cost);
});
