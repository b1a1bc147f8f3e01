import { expect, test } from 'vitest';
import type { VideoStepDependencies } from '../../../lambdas/core/videos/dependencies.ts';
import {
  chargeVideo,
  finishVideo,
  notifyVideo,
  releaseVideo,
  storeVideo,
} from '../../../lambdas/core/videos/finish-video.ts';
import { pollVideo } from '../../../lambdas/core/videos/poll-video.ts';
import { LAST_STEPS_MS } from '../../../lambdas/core/videos/resume-videos.ts';
import type { VideoJob } from '../../../lambdas/core/videos/video-job.ts';
import { PAUSED_ERROR } from '../../../lambdas/functions/wiring/video-steps-handler.ts';
import { environments } from '../../../lib/environments.ts';
import { readDefinition, toSubstitutions } from '../../../lib/video/definition.ts';
import { LAST_STEPS_SECONDS_MAX, lastStepsSeconds, tightTimesIn } from '../../../lib/video/last-steps.ts';
import { NOW, times, VIDEO } from '../../lambdas/core/videos/video-samples.ts';
import { type WorldOptions, worldWithJob } from '../../lambdas/core/videos/video-world.ts';
import { ManualClock } from '../../support/memory/manual-clock.ts';
import { succeededWith } from '../../support/memory/scripted-video-wire.ts';
import { playMachine } from './play-machine.ts';

const settings = environments.prod.videos;
const definition = readDefinition(
  toSubstitutions({ stepFunctionArn: 'arn:aws:lambda:eu-central-1:123456789012:function:steps', settings }),
);
const LIMIT_MS = settings.VIDEO_LIMIT_SECONDS * 1_000;

const steps: Readonly<Record<string, (ports: VideoStepDependencies, videoId: string) => Promise<unknown>>> = {
  Poll: pollVideo,
  Store: storeVideo,
  Charge: chargeVideo,
  Finish: finishVideo,
  Release: releaseVideo,
  Notify: notifyVideo,
};

type Trouble = (state: string, turn: number) => boolean | 'paused';

const pausedError = Object.assign(new Error('paused'), { name: PAUSED_ERROR });

const webhook = { url: 'https://client.example/told', secret: 'whsec_1' };

/** Plays one video from its creation to its end with the real definition, steps and stores, and a scripted provider. */
const playVideo = async (finishedAfterMs: number, options: WorldOptions & { readonly trouble?: Trouble } = {}) => {
  const clock: { now: () => number } = { now: () => NOW };
  const poll = () =>
    clock.now() - NOW >= finishedAfterMs ? succeededWith({ tokens: 10 }) : ({ kind: 'running', progress: 5 } as const);
  const world = await worldWithJob(
    { upstreamId: 'u-1', prompt: 'a secret cat', webhook },
    { script: { poll }, ...options },
  );
  clock.now = () => world.clock.now();
  const turns = new Map<string, number>();
  const play = await playMachine({
    definition,
    clock: world.clock,
    input: { videoId: VIDEO },
    runTask: async (state, input) => {
      const turn = turns.get(state) ?? 0;
      turns.set(state, turn + 1);
      const trouble = options.trouble?.(state, turn);
      if (trouble) throw trouble === 'paused' ? pausedError : new Error('a temporary fault');
      return steps[state]?.(world.steps, input === undefined ? '' : VIDEO);
    },
  });
  return { ...play, ...world };
};

test('VID-5 a video of ten minutes needs at most 60 transitions, with growing poll intervals', async () => {
  const { transitions, tasks, job, records, delivered, error } = await playVideo(10 * 60_000);
  expect(error).toBeUndefined();
  expect(transitions.slice(-6)).toEqual(['Store', 'Charge', 'Finish', 'Told', 'Notify', 'Done']);
  expect(transitions).toHaveLength(51);
  expect(transitions.length).toBeLessThanOrEqual(60);
  const polls = tasks.filter(({ state }) => state === 'Poll').map(({ atMs }) => (atMs - NOW) / 1_000);
  expect(polls).toEqual([10, 20, 30, 45, 68, 102, 153, 213, 273, 333, 393, 453, 513, 573, 633]);
  expect(job()).toMatchObject({ state: 'completed' });
  expect(await records()).toMatchObject([{ outcome: 'settled' }]);
  expect(delivered).toHaveLength(1);
});

test('VID-5 only the id of a video passes through an execution', async () => {
  const { tasks, history } = await playVideo(30_000);
  for (const { state, input } of tasks) expect(input).toEqual({ step: state.toLowerCase(), videoId: VIDEO });
  for (const word of ['secret cat', 'client.example', 'whsec', 'u-1', 'account-1']) expect(history).not.toContain(word);
});

test('VID-7 a job over 60 minutes fails and is released at the next poll', async () => {
  const { transitions, tasks, job, records, account, error } = await playVideo(Number.POSITIVE_INFINITY);
  expect(error).toBeUndefined();
  expect(transitions.slice(-6)).toEqual(['Poll', 'Choose', 'Release', 'Told', 'Notify', 'Done']);
  const released = tasks.find(({ state }) => state === 'Release');
  expect((released?.atMs ?? 0) - NOW).toBeGreaterThanOrEqual(LIMIT_MS);
  expect((released?.atMs ?? 0) - NOW).toBeLessThanOrEqual(LIMIT_MS + times.pollMaxMs);
  expect(job()).toMatchObject({ state: 'failed', failure: { code: 'upstream_timeout' } });
  expect(await records()).toMatchObject([{ outcome: 'released', amountPicos: 0n }]);
  expect((await account()).holds.size).toBe(0);
});

test('VID-5 a video found finished after 60 minutes is still delivered', async () => {
  const { job } = await playVideo(LIMIT_MS - 1_000);
  expect(job()).toMatchObject({ state: 'completed' });
});

test('VID-7 a video that the provider fails ends without a charge', async () => {
  const failure = { code: 'content_filter', message: 'no' } as const;
  const { transitions, job, records } = await playVideo(0, { script: { poll: () => ({ kind: 'failed', failure }) } });
  expect(transitions).toEqual(['FirstWait', 'Poll', 'Choose', 'Release', 'Told', 'Notify', 'Done']);
  expect(job()).toMatchObject({ state: 'failed', failure });
  expect(await records()).toMatchObject([{ outcome: 'released' }]);
});

test.for(['Poll', 'Store', 'Charge', 'Finish'])(
  'VID-6 a temporary fault of %s does not change the outcome',
  async (faulty) => {
    const { transitions, job, records } = await playVideo(30_000, {
      trouble: (state, turn) => state === faulty && turn % 3 < 2,
    });
    expect(transitions.filter((state) => state === 'Release')).toEqual([]);
    expect(job()).toMatchObject({ state: 'completed' });
    expect(await records()).toMatchObject([{ outcome: 'settled' }]);
  },
);

test.for(['Poll', 'Store', 'Charge', 'Finish', 'Notify'])(
  'OPS-15 a maintenance of 40 minutes at %s does not change the outcome',
  async (state) => {
    const { transitions, job, records, delivered } = await playVideo(30_000, {
      trouble: (name, turn) => name === state && turn < 40 && 'paused',
    });
    expect(transitions).not.toContain('Release');
    expect(job()).toMatchObject({ state: 'completed' });
    expect(await records()).toMatchObject([{ outcome: 'settled' }]);
    expect(delivered).toHaveLength(1);
  },
);

test.for([
  ['Store', 'failed', 'released'],
  ['Charge', 'failed', 'released'],
  // The charge is committed, so the release step completes the video.
  ['Finish', 'completed', 'settled'],
] as const)(
  'VID-6 with a permanent fault of %s, the video is %s and its hold %s, once',
  async ([faulty, state, outcome]) => {
    const { job, records, account, transitions } = await playVideo(30_000, { trouble: (name) => name === faulty });
    expect(transitions).toContain('Release');
    expect(job()).toMatchObject({ state });
    expect(await records()).toMatchObject([{ outcome }]);
    expect((await account()).holds.size).toBe(0);
  },
);

test('VID-7 if every poll fails, the video stays queued until the execution times out', async () => {
  const { error, transitions, steps: ports, job, records } = await playVideo(0, { trouble: (name) => name === 'Poll' });
  expect(error).toContain('ExecutionTimeoutError');
  expect(new Set(transitions)).toEqual(new Set(['FirstWait', 'Poll', 'Pause']));
  expect(job()).toMatchObject({ state: 'queued' });
  // The rule on failed executions calls this step.
  await releaseVideo(ports, VIDEO);
  expect(job()).toMatchObject({ state: 'failed', failure: { code: 'upstream_timeout' } });
  expect(await records()).toMatchObject([{ outcome: 'released' }]);
});

test('VID-7 a video is completed even if the stores recover only after an hour', async () => {
  const { job } = await playVideo(0, { trouble: (name, turn) => name === 'Poll' && turn < 100 });
  expect(job()).toMatchObject({ state: 'completed' });
});

test('BILL-13 a release that fails after all its retries is tried again after a pause', async () => {
  const trouble: Trouble = (state, turn) => state === 'Store' || (state === 'Release' && turn < 7);
  const { error, transitions, job, records } = await playVideo(0, { trouble });
  expect(error).toBeUndefined();
  expect(transitions.filter((state) => state === 'Release')).toHaveLength(8);
  expect(job()).toMatchObject({ state: 'failed' });
  expect(await records()).toMatchObject([{ outcome: 'released' }]);
});

test('OPS-11 a video that no step can read for an hour is charged and completed after it', async () => {
  // The newer release that changed the video is back at the hundredth poll.
  let isReadable = true;
  const trouble: Trouble = (state, turn) => {
    if (state === 'Poll') isReadable = turn === 0 || turn >= 100;
    else if (turn === 0) isReadable = false;
    return !isReadable;
  };
  const { error, transitions, job, records } = await playVideo(0, { trouble });
  expect(error).toBeUndefined();
  expect(transitions).toContain('Pause');
  expect(job()).toMatchObject({ state: 'completed' });
  expect(await records()).toMatchObject([{ outcome: 'settled' }]);
});

test('VID-7 a webhook is tried 5 times at growing intervals, without effect on the video', async () => {
  const deliver = async () => ({ status: 500, problem: 'the server returned 500.' });
  const { error, tasks, job } = await playVideo(0, { deliver });
  expect(error).toBeUndefined();
  expect(job()).toMatchObject({ state: 'completed' });
  expect(job()?.delivery).toEqual({
    attempts: 5,
    lastAtMs: NOW + 410_000,
    status: 500,
    problem: 'the server returned 500.',
  });
  const tries = tasks.filter(({ state }) => state === 'Notify').map(({ atMs }) => Math.floor((atMs - NOW) / 1_000));
  // The first attempt is at 10 s.
  expect(tries).toEqual([10, 20, 50, 140, 410]);
});

test('VID-7 the recorded time of the next attempt is that of the state machine', async () => {
  const planned: (number | undefined)[] = [];
  let lastJob: VideoJob | undefined;
  const deliver = async (job: VideoJob) => {
    planned.push(job.delivery?.nextAtMs);
    lastJob = job;
    return { status: 500, problem: 'the server returned 500.' };
  };
  const { tasks } = await playVideo(0, { deliver });
  const tries = tasks.filter(({ state }) => state === 'Notify').map(({ atMs }) => atMs);
  expect(planned).toEqual([undefined, ...tries.slice(1)]);
  expect(lastJob?.delivery?.attempts).toBe(4);
});

test('VID-7 a video without a webhook URL calls no webhook', async () => {
  const clock = new ManualClock(NOW);
  const runTask = async (state: string) =>
    state === 'Poll' ? { outcome: 'failed', waitSeconds: 1, elapsedSeconds: 0 } : { webhook: false };
  const { transitions } = await playMachine({ definition, clock, input: { videoId: VIDEO }, runTask });
  expect(transitions.slice(-3)).toEqual(['Release', 'Told', 'Done']);
});

test('VID-3 an execution for a video that has ended does nothing', async () => {
  const clock = new ManualClock(NOW);
  const runTask = async () => ({ outcome: 'ended', waitSeconds: 1, elapsedSeconds: 0 });
  const { transitions } = await playMachine({ definition, clock, input: { videoId: VIDEO }, runTask });
  expect(transitions).toEqual(['FirstWait', 'Poll', 'Choose', 'Done']);
});

/** Every step times out as often as allowed before it succeeds. `Finish` never succeeds. */
test('BILL-13 the last steps end within the life of the hold, even at their slowest', async () => {
  const clock = new ManualClock(NOW);
  const turns = new Map<string, number>();
  const lastTurns: Readonly<Record<string, number>> = { Poll: 7, Store: 8, Charge: 6, Finish: 99, Release: 6 };
  const runTask = async (state: string): Promise<unknown> => {
    const turn = turns.get(state) ?? 0;
    turns.set(state, turn + 1);
    if (state === 'Poll' && turn === 0)
      return { outcome: 'running', waitSeconds: settings.VIDEO_POLL_SECONDS_MAX, elapsedSeconds: 3_599 };
    if (turn < (lastTurns[state] ?? 0)) return new Promise(() => undefined);
    const step = definition.States[state];
    const justInTimeMs = ((step?.Type === 'Task' ? step.TimeoutSeconds : undefined) ?? 0) * 1_000 - 1_000;
    await new Promise<void>((resolve) => clock.after(justInTimeMs, resolve));
    return state === 'Poll' ? { outcome: 'succeeded', waitSeconds: 1, elapsedSeconds: 3_700 } : { webhook: false };
  };
  const { transitions, tasks, endedAtMs, error } = await playMachine({
    definition,
    clock,
    input: { videoId: VIDEO },
    runTask,
  });
  expect(error).toBeUndefined();
  expect(transitions.slice(-3)).toEqual(['Release', 'Told', 'Done']);
  const tookSeconds = (endedAtMs - (tasks[0]?.atMs ?? 0)) / 1_000;
  const bound = lastStepsSeconds(definition, settings);
  expect(bound).toBe(3_190);
  expect(LAST_STEPS_SECONDS_MAX * 1_000).toBe(LAST_STEPS_MS);
  // The four steps that succeed do so one second before their timeout.
  expect(tookSeconds).toBeLessThanOrEqual(bound);
  expect(tookSeconds).toBeGreaterThan(bound - 10);
  expect(bound).toBeLessThanOrEqual(LAST_STEPS_SECONDS_MAX);
  expect(settings.VIDEO_LIMIT_SECONDS + LAST_STEPS_SECONDS_MAX).toBeLessThanOrEqual(settings.VIDEO_HOLD_SECONDS);
});

test.for([
  ['a hold that is too short', { VIDEO_HOLD_SECONDS: 6_899 }, 'VIDEO_HOLD_SECONDS is 6899 and must be at least 6900'],
  ['a limit that is too long', { VIDEO_LIMIT_SECONDS: 3_901 }, 'must be at least 7201'],
  ['retries that take too long', { VIDEO_RETRY_SECONDS: 10 }, 'The last steps of a video take up to'],
  ['polls that are too far apart', { VIDEO_POLL_SECONDS_MAX: 600 }, 'The last steps of a video take up to'],
] as const)('BILL-13 %s is rejected', ([, change, message]) => {
  expect(tightTimesIn(settings)).toBeUndefined();
  expect(tightTimesIn({ ...settings, ...change })).toContain(message);
});

test('BILL-13 a definition with an unbounded step is rejected', () => {
  const { Poll, ...others } = definition.States;
  expect(() => lastStepsSeconds({ ...definition, States: others }, settings)).toThrow('Poll');
  expect(() =>
    lastStepsSeconds({ ...definition, States: { ...others, Poll: { Type: 'Succeed' } } }, settings),
  ).toThrow();
});
