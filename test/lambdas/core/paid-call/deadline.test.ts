import { expect, test } from 'vitest';
import { upstreamDeadline } from '../../../../lambdas/core/paid-call/deadline.ts';
import type { AnswerBy } from '../../../../lambdas/core/paid-call/dependencies.ts';
import { markResponded } from '../../../../lambdas/core/responded-calls.ts';
import { text } from '../catalog/sample-data.ts';
import { loggingSink, streamed } from '../text/sink.ts';
import { NOW } from '../text/text-models.ts';
import { answered, createWorld, GRACE_MS, raw, type WorldOptions } from '../text/text-world.ts';

const reasoning = { field: 'reasoning_effort', accepted: ['low'], default: 'low', levelsUi: ['low'] };

const cases: readonly (readonly [name: string, seconds: number, options: WorldOptions, hostEndsAtMs?: number])[] = [
  ['a model without reasoning', 600, {}],
  ['a model with reasoning', 900, { models: [text({ reasoning })] }],
  ['a shorter setting', 200, { upstreamDeadlineMs: 200_000 }],
  ['a longer setting', 600, { upstreamDeadlineMs: 800_000 }],
  ['a host that ends in 900 s', 600, {}, NOW + 900_000],
  ['a host that ends in 900 s, with a reasoning model,', 870, { models: [text({ reasoning })] }, NOW + 900_000],
  ['a host that ends in 100 s', 70, {}, NOW + 100_000],
  ['a host that ends in 30 s', 0, {}, NOW + 30_000],
  ['a host that has ended', 0, {}, NOW - 1],
];

test.for(cases)('LIM-6 the deadline for %s is %i s', async ([, seconds, options, hostEndsAtMs]) => {
  const world = await createWorld({
    ...options,
    play: ({ signal }) =>
      new Promise((_, reject) => {
        if (signal.aborted) reject(signal.reason);
        signal.addEventListener('abort', () => reject(signal.reason));
      }),
  });
  const outcome = world.ask({}, {}, hostEndsAtMs).catch((error: unknown) => error);
  await world.clock.flush();
  const [hold] = (await world.account()).holds.values();
  if (seconds > 0) {
    expect(hold?.expiresAtMs).toBe(NOW + seconds * 1_000 + GRACE_MS);
    await world.clock.advance(seconds * 1_000 - 1);
    expect(world.log).toEqual(['hold', 'send']);
  }
  await world.clock.advance(1);
  expect(await outcome).toMatchObject({ code: 'upstream_timeout', status: 504 });
  expect((await world.account()).holds.size).toBe(0);
  expect(world.records()).toMatchObject([{ outcome: 'released', reason: 'upstream_timeout' }]);
});

test('LIM-6 the deadline also limits a running stream', async () => {
  const world = await createWorld({
    play: async ({ signal }) => {
      async function* events() {
        yield raw('a');
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      }
      return { kind: 'stream', events: events(), close: () => undefined, usageSoFar: () => undefined };
    },
  });
  const { sink, seen } = loggingSink(world.log);
  const pumped = streamed(await world.ask({ stream: true })).pump(sink);
  await world.clock.advance(599_999);
  expect(world.log).not.toContain('close');
  await world.clock.advance(1);
  await pumped;
  expect(seen.error?.code).toBe('upstream_timeout');
  expect((await world.account()).holds.size).toBe(0);
});

test('LIM-6 no timer outlives a request', async () => {
  for (const play of [async () => answered(), () => Promise.reject(new Error('refused'))]) {
    const world = await createWorld({ play });
    await world.ask().catch(() => undefined);
    expect(world.clock.waiting).toBe(0);
  }
});

const by = (seconds: number, covers: 'beginning' | 'all'): AnswerBy => ({ atMs: NOW + seconds * 1_000, covers });
const silence: AnswerBy = { atMs: NOW + 105_000, covers: 'silence', silenceMs: 105_000 };

test.for([
  ['the whole response', by(105, 'all'), undefined, 105, 105],
  ['the whole response, later than the deadline', by(700, 'all'), undefined, 600, 600],
  ['the whole response, later than the host ends', by(105, 'all'), 100, 70, 70],
  ['the whole response, with no time left', by(-1, 'all'), undefined, 0, 0],
  ['the beginning', by(290, 'beginning'), undefined, 290, 600],
  ['the beginning, later than the deadline', by(700, 'beginning'), undefined, 600, 600],
  ['the beginning, later than the host ends', by(290, 'beginning'), 100, 70, 70],
  ['the beginning and each further piece', silence, undefined, 105, 600],
] as const)(
  'LIM-6 the deadline fits a front door that waits for %s',
  async ([, answerBy, hostSeconds, aborts, expires]) => {
    const { deps, clock } = await createWorld({});
    const model = deps.catalog.find('alpha-1', NOW);
    if (!model) throw new Error('no model');
    const hostEndsAtMs = hostSeconds === undefined ? undefined : NOW + hostSeconds * 1_000;
    const deadline = upstreamDeadline(deps, { hostEndsAtMs, answerBy }, model);
    expect(deadline.expiresAtMs).toBe(NOW + expires * 1_000 + GRACE_MS);
    const signal = deadline.start();
    if (aborts > 0) await clock.advance(aborts * 1_000 - 1);
    expect(signal.aborted).toBe(false);
    await clock.advance(1);
    expect(signal.reason).toMatchObject({
      code: 'upstream_timeout',
      message: expect.stringContaining(` ${aborts} s.`),
    });
  },
);

const deadlineFor = async (answerBy: AnswerBy) => {
  const { deps, clock } = await createWorld({});
  const model = deps.catalog.find('alpha-1', NOW);
  if (!model) throw new Error('no model');
  const deadline = upstreamDeadline(deps, { hostEndsAtMs: undefined, answerBy }, model);
  return { deadline, clock, signal: deadline.start() };
};

test('LIM-6 a front door that waits for each piece ends a silence, not the whole response', async () => {
  const { deadline, clock, signal } = await deadlineFor(silence);
  await clock.advance(104_999);
  deadline.started();
  for (const seconds of [104, 1, 104]) {
    await clock.advance(seconds * 1_000);
    deadline.progressed();
  }
  await clock.advance(104_999);
  expect(signal.aborted).toBe(false);
  await clock.advance(1);
  expect(signal.reason).toMatchObject({ message: expect.stringContaining(' 105 s.') });
});

test('LIM-6 the deadline of a call ends a response whose pieces keep arriving', async () => {
  const { deadline, clock, signal } = await deadlineFor(silence);
  for (let second = 100; second < 600; second += 100) {
    await clock.advance(100_000);
    deadline.progressed();
  }
  await clock.advance(99_999);
  expect(signal.aborted).toBe(false);
  await clock.advance(1);
  expect(signal.reason).toMatchObject({ message: expect.stringContaining(' 600 s.') });
  deadline.stop();
  expect(clock.waiting).toBe(0);
});

test('LIM-6 the time limit of a front door counts from the arrival of the request', async () => {
  const { deps, clock } = await createWorld({});
  const model = deps.catalog.find('alpha-1', NOW);
  if (!model) throw new Error('no model');
  const deadline = upstreamDeadline(deps, { hostEndsAtMs: undefined, answerBy: by(105, 'all') }, model);
  await clock.advance(8_000);
  const signal = deadline.start();
  await clock.advance(97_000);
  expect(signal.aborted).toBe(true);
});

test('LIM-6 a started response gets the full time unless the front door waits for all of it', async () => {
  for (const [covers, atSeconds] of [
    ['beginning', 600],
    ['all', 290],
  ] as const) {
    const { deps, clock } = await createWorld({});
    const model = deps.catalog.find('alpha-1', NOW);
    if (!model) throw new Error('no model');
    const deadline = upstreamDeadline(deps, { hostEndsAtMs: undefined, answerBy: by(290, covers) }, model);
    const signal = deadline.start();
    await clock.advance(100_000);
    deadline.started();
    deadline.progressed();
    expect(clock.waiting).toBe(covers === 'all' ? 2 : 1);
    await clock.advance(atSeconds * 1_000 - 100_001);
    expect(signal.aborted).toBe(false);
    await clock.advance(1);
    expect(signal.aborted).toBe(true);
  }
});

/** Runs a deadline to its end. Returns whether the circuit ignores its error. */
const isIgnoredAfter = async (
  options: WorldOptions,
  limits: { readonly hostEndsAtMs?: number; readonly answerBy?: AnswerBy } = {},
  during: (signal: AbortSignal) => void = () => undefined,
): Promise<boolean> => {
  const { deps, clock } = await createWorld(options);
  const model = deps.catalog.find('alpha-1', NOW);
  if (!model) throw new Error('no model');
  const deadline = upstreamDeadline(deps, { hostEndsAtMs: undefined, answerBy: undefined, ...limits }, model);
  const signal = deadline.start();
  during(signal);
  await clock.advance(900_000);
  expect([signal.aborted, deadline.hasCut(signal.reason)]).toEqual([true, true]);
  return signal.reason.ignoredByCircuit;
};

test('FALL-1 the circuit counts silence until the deadline, and not a response that has begun', async () => {
  expect(await isIgnoredAfter({})).toBe(false);
  expect(await isIgnoredAfter({}, {}, markResponded)).toBe(true);
});

const reasons = { models: [text({ reasoning })] };

test.for([
  ['the setting', false, { upstreamDeadlineMs: 200_000 }, {}],
  ['a front door that waits for all', true, {}, { answerBy: by(105, 'all') }],
  ['a front door that waits for the beginning', true, {}, { answerBy: by(290, 'beginning') }],
  ['a later front door', false, {}, { answerBy: by(700, 'all') }],
  ['the host', true, {}, { hostEndsAtMs: NOW + 100_000 }],
  ['the host, to 870 s of a reasoning model', false, reasons, { hostEndsAtMs: NOW + 900_000 }],
  ['the host, below the setting', true, { upstreamDeadlineMs: 200_000 }, { hostEndsAtMs: NOW + 100_000 }],
] as const)(
  'FALL-1 silence until a deadline that is shortened by %s: ignored is %s',
  async ([, isIgnored, options, limits]) => {
    expect(await isIgnoredAfter(options, limits)).toBe(isIgnored);
  },
);
