import { expect, test } from 'vitest';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { sweep } from '../../../../lambdas/core/ledger/sweep.ts';
import { parseUsd } from '../../../../lambdas/core/money/usd.ts';
import { createMoment } from '../../../support/memory/faults.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { loggingSink, streamed } from './sink.ts';
import {
  createWorld,
  ended,
  INPUT_PICOS,
  OUTPUT_PICOS,
  raw,
  type StreamPart,
  streamOf,
  used,
  type World,
} from './text-world.ts';

const start = parseUsd('1000');
const cost = 40n * INPUT_PICOS + 10n * OUTPUT_PICOS;

const broken = new GatewayError('upstream_error', 'the connection broke');

const played = async (...events: readonly StreamPart[]) => {
  const stream = streamOf(...events);
  const world = await createWorld({ play: async () => stream });
  return { world, stream };
};

const expectReleased = async (world: World, reason: string): Promise<void> => {
  const { availablePicos, holds, spentPicos } = await world.account();
  expect([availablePicos, holds.size, spentPicos]).toEqual([start, 0, 0n]);
  expect(world.records()).toMatchObject([{ outcome: 'released', amountPicos: 0n, reason }]);
};

test('GEN-8 a stream holds, sends, commits, writes its last chunk, updates the account and ends', async () => {
  const { world, stream } = await played(raw('a'), raw('b'), ended());
  const generated = await world.ask({ stream: true });
  expect(world.log).toEqual(['hold', 'send']);
  const { sink, seen } = loggingSink(world.log);
  await streamed(generated).pump(sink);
  expect(world.log).toEqual(['hold', 'send', 'raw a', 'raw b', 'putRecord', 'finish', 'apply', 'close']);
  expect(seen.receipt).toMatchObject({ costPicos: cost });
  expect(seen.closedWith?.costPicos).toBe(cost);
  expect([stream.closed(), world.clock.waiting]).toEqual([1, 0]);
  expect((await world.account()).availablePicos).toBe(start - cost);
});

test('CHAT-11 an event is sent before the next one is read', async () => {
  const world = await createWorld({
    play: async () => {
      async function* events() {
        yield raw('a');
        world.log.push('asked for b');
        yield raw('b');
        world.log.push('asked for the end');
        yield ended();
      }
      return { kind: 'stream', events: events(), close: () => undefined, usageSoFar: () => undefined };
    },
  });
  const { sink } = loggingSink(world.log);
  await streamed(await world.ask({ stream: true })).pump(sink);
  expect(world.log.slice(2, 6)).toEqual(['raw a', 'asked for b', 'raw b', 'asked for the end']);
});

test('ERR-4 an error as the first event is thrown, releases the hold and closes the stream', async () => {
  const { world, stream } = await played(broken);
  await expect(world.ask({ stream: true })).rejects.toBe(broken);
  await expectReleased(world, 'upstream_error');
  expect([stream.closed(), world.clock.waiting]).toEqual([1, 0]);
});

for (let count = 1; count <= 3; count += 1) {
  test(`BILL-9 a stream that breaks after event ${count} sends an error event and frees its hold`, async () => {
    const { world, stream } = await played(...Array.from({ length: count }, (_, at) => raw(`${at}`)), broken);
    const { sink, seen } = loggingSink(world.log);
    await streamed(await world.ask({ stream: true })).pump(sink);
    await expectReleased(world, 'upstream_error');
    expect(world.log.slice(-3)).toEqual(['apply', 'fail upstream_error', 'close']);
    expect(world.log).not.toContain('finish');
    expect([seen.closedWith, stream.closed(), world.clock.waiting]).toEqual([undefined, 1, 0]);
  });
}

test('BILL-9 a stream without a final event fails', async () => {
  const { world } = await played(raw('a'));
  const { sink, seen } = loggingSink(world.log);
  await streamed(await world.ask({ stream: true })).pump(sink);
  await expectReleased(world, 'internal_error');
  expect(seen.error?.code).toBe('internal_error');
  expect(world.log).not.toContain('finish');
});

test("ERR-5 the error event of a bug in a stream does not contain the bug's message", async () => {
  const { world } = await played(raw('a'), new TypeError('canary'));
  const { sink, seen } = loggingSink(world.log);
  await streamed(await world.ask({ stream: true })).pump(sink);
  expect(seen.error?.code).toBe('internal_error');
  expect(seen.error?.message).not.toContain('canary');
  await expectReleased(world, 'internal_error');
});

test('BILL-9 a stream whose first event is its end is charged like any other', async () => {
  const { world } = await played(ended());
  const { sink } = loggingSink(world.log);
  await streamed(await world.ask({ stream: true })).pump(sink);
  expect(world.log).toEqual(['hold', 'send', 'putRecord', 'finish', 'apply', 'close']);
});

test('BILL-13 a stream that ends after its hold was swept fails and is not charged', async () => {
  const world = await createWorld({
    play: async () => {
      async function* events() {
        yield raw('a');
        await world.clock.advance(599_000);
        yield raw('b');
        // The process sleeps: time passes without its timers.
        const later = new ManualClock(world.clock.now() + 302_000);
        await sweep({ ...world.deps.ledger, clock: later });
        yield ended();
      }
      return { kind: 'stream', events: events(), close: () => undefined, usageSoFar: () => undefined };
    },
  });
  const { sink, seen } = loggingSink(world.log);
  await streamed(await world.ask({ stream: true })).pump(sink);
  expect(seen.error?.code).toBe('internal_error');
  expect(world.log).not.toContain('finish');
  expect(world.notices).toEqual(['late_settlement']);
  await expectReleased(world, 'expired');
});

test('BILL-8 the upstream stream is read to its end and charged without a reader', async () => {
  const words = Array.from({ length: 50 }, (_, at) => raw(`${at}`));
  const { world } = await played(...words, ended());
  const silent = {
    native: () => undefined,
    neutral: () => undefined,
    finish: () => undefined,
    fail: () => undefined,
    close: () => undefined,
  };
  await streamed(await world.ask({ stream: true })).pump(silent);
  expect((await world.account()).spentPicos).toBe(cost);
});

const opening: StreamPart = { kind: 'native', events: ['role'], announcement: true };

test('CHAT-14 an error after one announcement is thrown, frees the hold and closes the stream', async () => {
  const { world, stream } = await played(opening, broken);
  await expect(world.ask({ stream: true })).rejects.toBe(broken);
  await expectReleased(world, 'upstream_error');
  expect([stream.closed(), world.clock.waiting]).toEqual([1, 0]);
});

test('ERR-4 an error after several announcements or a neutral announcement is thrown as well', async () => {
  const announced: StreamPart = { kind: 'neutral', deltas: [], announcement: true };
  for (const openings of [[opening, opening, opening], [announced], [announced, opening]]) {
    const { world, stream } = await played(...openings, broken);
    await expect(world.ask({ stream: true })).rejects.toBe(broken);
    await expectReleased(world, 'upstream_error');
    expect([stream.closed(), world.clock.waiting]).toEqual([1, 0]);
  }
});

test('CHAT-14 each announcement is sent once, at its place in the stream', async () => {
  const { world } = await played(opening, opening, raw('a'), opening, raw('b'), ended());
  await streamed(await world.ask({ stream: true })).pump(loggingSink(world.log).sink);
  const words = ['raw role', 'raw role', 'raw a', 'raw role', 'raw b'];
  expect(world.log.slice(2)).toEqual([...words, 'putRecord', 'finish', 'apply', 'close']);
});

test('CHAT-5 neutral deltas go to the neutral side of the sink', async () => {
  const pieces: StreamPart = { kind: 'neutral', deltas: [{ kind: 'text', text: 'a' }] };
  const { world } = await played(pieces, {
    kind: 'end',
    ending: { kind: 'neutral', finishReason: 'stop' },
    usage: used(40, 10),
  });
  await streamed(await world.ask({ stream: true })).pump(loggingSink(world.log).sink);
  expect(world.log.slice(2)).toEqual(['delta text', 'putRecord', 'finish', 'apply', 'close']);
  expect((await world.account()).spentPicos).toBe(cost);
});

const paused =
  (pause: Promise<void>, ...later: readonly StreamPart[]) =>
  async () => {
    async function* events() {
      yield raw('role', true);
      await pause;
      for (const event of later) {
        if (event instanceof Error) throw event;
        yield event;
      }
    }
    return { kind: 'stream', events: events(), close: () => undefined, usageSoFar: () => undefined } as const;
  };

test('CHAT-11 an announcement waits at most a second for the next event', async () => {
  const moment = createMoment();
  const world = await createWorld({ play: paused(moment.until, raw('a'), ended()) });
  let begun = false;
  const asked = world.ask({ stream: true }).then((generated) => {
    begun = true;
    return generated;
  });
  await world.clock.advance(999);
  expect(begun).toBe(false);
  await world.clock.advance(1);
  const pumped = streamed(await asked).pump(loggingSink(world.log).sink);
  await world.clock.flush();
  expect(world.log).toEqual(['hold', 'send', 'raw role']);
  moment.come();
  await pumped;
  expect(world.log.slice(2)).toEqual(['raw role', 'raw a', 'putRecord', 'finish', 'apply', 'close']);
});

test('CHAT-14 an error after an announcement has waited a second becomes an error event', async () => {
  const moment = createMoment();
  const world = await createWorld({ play: paused(moment.until, broken) });
  const asked = world.ask({ stream: true });
  await world.clock.advance(1_000);
  const pumped = streamed(await asked).pump(loggingSink(world.log).sink);
  moment.come();
  await pumped;
  expect(world.log.slice(-2)).toEqual(['fail upstream_error', 'close']);
  await expectReleased(world, 'upstream_error');
});
