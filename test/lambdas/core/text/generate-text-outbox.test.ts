import { expect, test } from 'vitest';
import { balanceOf } from '../../../../lambdas/core/ledger/ledger.ts';
import { settleOutbox } from '../../../../lambdas/core/ledger/outbox.ts';
import { sweep } from '../../../../lambdas/core/ledger/sweep.ts';
import { parseUsd } from '../../../../lambdas/core/money/usd.ts';
import { createMoment, fails, losesReply } from '../../../support/memory/faults.ts';
import { answeredIn, loggingSink, streamed } from './sink.ts';
import {
  ACCOUNT,
  answered,
  createWorld,
  ended,
  GRACE_MS,
  INPUT_PICOS,
  OUTPUT_PICOS,
  raw,
  streamOf,
  type World,
  type WorldOptions,
} from './text-world.ts';

const start = parseUsd('1000');
const cost = 40n * INPUT_PICOS + 10n * OUTPUT_PICOS;
const down: WorldOptions['fault'] = (method) => (method === 'putRecord' || method === 'apply' ? fails : undefined);

/** Returns the ledger of another process, whose store works again. */
const restored = ({ deps, memory, notes }: World) => ({ ...deps.ledger, store: memory, outbox: notes });

const moneyOf = async (world: World) => {
  const account = await world.account();
  expect(account.availablePicos + [...account.holds.values()].reduce((sum, hold) => sum + hold.amountPicos, 0n)).toBe(
    balanceOf(account),
  );
  return [account.spentPicos, account.holds.size];
};

test('BILL-14 a response whose charge fails is sent, and its outbox entry is charged later', async () => {
  const world = await createWorld({ fault: down });
  const { receipt } = answeredIn(await world.clock.until(world.ask()));
  expect(receipt).toMatchObject({ costPicos: cost, balancePicos: undefined });
  expect(world.notices).toEqual(['settled_by_note']);
  expect(await moneyOf(world)).toEqual([0n, 1]);
  expect(world.notes.notes()).toMatchObject([{ record: { outcome: 'settled', amountPicos: cost } }]);
  expect(await settleOutbox(restored(world))).toEqual({ settled: 1, late: 0, failed: 0 });
  expect([await moneyOf(world), world.notes.notes()]).toEqual([[cost, 0], []]);
  expect(await settleOutbox(restored(world))).toEqual({ settled: 0, late: 0, failed: 0 });
});

test('BILL-14 a stream writes its outbox entry before its last chunk', async () => {
  const world = await createWorld({ play: async () => streamOf(raw('a'), ended()), fault: down });
  const { sink, seen } = loggingSink(world.log);
  const noted: number[] = [];
  const watching = {
    ...sink,
    finish: (...told: Parameters<typeof sink.finish>) => {
      noted.push(world.notes.notes().length);
      sink.finish(...told);
    },
  };
  await world.clock.until(streamed(await world.ask({ stream: true })).pump(watching));
  expect([seen.error, noted, world.log.at(-1)]).toEqual([undefined, [1], 'close']);
  await settleOutbox(restored(world));
  expect(await moneyOf(world)).toEqual([cost, 0]);
});

test('BILL-14 and BILL-13 a sweeper charges by the outbox entry, and the worker only removes it', async () => {
  const world = await createWorld({ fault: down });
  await world.clock.until(world.ask());
  await world.clock.advance(600_000 + GRACE_MS);
  expect(await sweep(restored(world))).toMatchObject({ finished: 1, released: 0 });
  expect(await moneyOf(world)).toEqual([cost, 0]);
  expect(await settleOutbox(restored(world))).toEqual({ settled: 1, late: 0, failed: 0 });
  expect([await moneyOf(world), world.notes.notes()]).toEqual([[cost, 0], []]);
});

test('BILL-13 a sweeper that cannot read the outbox releases nothing', async () => {
  const world = await createWorld({ fault: down, outboxFaults: { read: fails } });
  await world.clock.until(world.ask());
  await world.clock.advance(600_000 + GRACE_MS);
  const deps = { ...world.deps.ledger, store: world.memory };
  expect(await sweep(deps)).toMatchObject({ finished: 0, released: 0, failed: 1 });
  expect(await moneyOf(world)).toEqual([0n, 1]);
});

test('BILL-14 an outbox entry for a recorded charge with a lost reply changes nothing', async () => {
  const world = await createWorld({ fault: (method) => (method === 'putRecord' ? losesReply : undefined) });
  answeredIn(await world.clock.until(world.ask()));
  expect(world.notes.notes()).toHaveLength(1);
  expect(await settleOutbox(restored(world))).toMatchObject({ settled: 1 });
  expect(await moneyOf(world)).toEqual([cost, 0]);
});

test('BILL-14 no outbox entry is written in the last minute of a hold: 503, uncharged', async () => {
  const moment = createMoment();
  const world = await createWorld({ fault: down, play: () => moment.until.then(() => answered()) });
  const asked = world.ask({}, {}, undefined).catch((error: unknown) => error);
  await world.clock.flush();
  // The provider responds after the host's clock has reached the last minute of the hold.
  const [hold] = (await world.account()).holds.values();
  if (!hold) throw new Error('no open hold');
  const left = hold.expiresAtMs - world.clock.now();
  world.clock.skip(left - 60_000 + 1);
  moment.come();
  expect(await world.clock.until(asked)).toMatchObject({ code: 'service_unavailable', status: 503 });
  expect(world.notes.notes()).toEqual([]);
});

test('BILL-14 an outbox entry confirmed too late does not count, and the hold is released', async () => {
  const slow = createMoment();
  const world = await createWorld({
    fault: (method, turn) => (method === 'putRecord' && turn < 4 ? fails : undefined),
    outboxFaults: { put: [{ kind: 'delayed', until: slow.until }] },
  });
  const asked = world.clock.until(world.ask().catch((error: unknown) => error));
  await world.clock.advance(5_000);
  const [hold] = (await world.account()).holds.values();
  if (!hold) throw new Error('no open hold');
  world.clock.skip(hold.expiresAtMs - world.clock.now() - 1_000);
  slow.come();
  expect(await asked).toMatchObject({ code: 'service_unavailable' });
  expect(world.notes.notes()).toHaveLength(1);
  expect(await settleOutbox(restored(world))).toEqual({ settled: 0, late: 1, failed: 0 });
  expect(await moneyOf(world)).toEqual([0n, 0]);
  expect((await world.account()).availablePicos).toBe(start);
});

test('BILL-14 an outbox entry stays until the ledger has applied it', async () => {
  const world = await createWorld({ fault: down });
  await world.clock.until(world.ask());
  const stillDown = { ...world.deps.ledger, outbox: world.notes };
  expect(await world.clock.until(settleOutbox(stillDown))).toMatchObject({ settled: 0, late: 0, failed: 1 });
  expect(world.notes.notes()).toHaveLength(1);
  expect(await settleOutbox(restored(world))).toEqual({ settled: 1, late: 0, failed: 0 });
  expect(await moneyOf(world)).toEqual([cost, 0]);
});

test('BILL-14 and BILL-13 an outbox entry after a release does not charge the request', async () => {
  const world = await createWorld({ fault: down });
  await world.clock.until(world.ask());
  const [note] = world.notes.notes();
  if (!note) throw new Error('no outbox entry');
  await world.memory.putRecord({ ...note.record, outcome: 'released', amountPicos: 0n, reason: 'by force' });
  expect(await settleOutbox(restored(world))).toEqual({ settled: 0, late: 1, failed: 0 });
  expect(await moneyOf(world)).toEqual([0n, 0]);
  expect([(await world.account()).availablePicos, world.notes.notes()]).toEqual([start, []]);
});

test('BILL-14 an outbox entry that fails does not delay the others', async () => {
  const world = await createWorld({ fault: down });
  await world.clock.until(world.ask());
  const [note] = world.notes.notes();
  if (!note) throw new Error('no outbox entry');
  await world.notes.put({ ...note, record: { ...note.record, holdId: 'a.0', requestId: 'a', accountId: ACCOUNT } });
  const broken = {
    ...restored(world),
    outbox: {
      put: world.notes.put.bind(world.notes),
      list: world.notes.list.bind(world.notes),
      remove: world.notes.remove.bind(world.notes),
      read: async (holdId: string) => {
        if (holdId === 'a.0') throw new Error('cannot be read');
        return world.notes.read(holdId);
      },
    },
  };
  expect(await settleOutbox(broken)).toMatchObject({
    settled: 1,
    failed: 1,
    oldestAtMs: undefined,
    bug: { message: expect.stringMatching(/1 outbox entries/), errors: [new Error('cannot be read')] },
  });
  expect(await moneyOf(world)).toEqual([cost, 0]);
});

test('BILL-14 an outbox entry with a lost reply is written again, and the response is sent', async () => {
  const world = await createWorld({ fault: down, outboxFaults: { put: [losesReply] } });
  expect(answeredIn(await world.clock.until(world.ask())).receipt.costPicos).toBe(cost);
  expect(await settleOutbox(restored(world))).toMatchObject({ settled: 1 });
  expect(await moneyOf(world)).toEqual([cost, 0]);
});
