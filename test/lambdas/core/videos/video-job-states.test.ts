import { StateMachine } from 'aws-local-stepfunctions';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PAUSED_ERROR } from '../../../../lambdas/functions/wiring/video-steps-handler.ts';
import { randomRuns } from '../../../support/random-runs.ts';
import { definition } from './video-history.ts';
import { playStates } from './video-states.ts';

/** Results of the tasks of one execution, call by call: a failure or a response. */
type Script = readonly {
  readonly fails: boolean;
  readonly outcome: string;
  readonly webhook: boolean;
  readonly late: boolean;
}[];

const scripted = (script: Script) => {
  let turn = 0;
  const calls: string[] = [];
  const answer = (parameters: unknown) => {
    const step = script[turn];
    turn += 1;
    calls.push(JSON.stringify(parameters));
    if (step?.fails) throw new Error('scripted failure');
    return {
      outcome: step?.outcome ?? 'failed',
      waitSeconds: turn,
      elapsedSeconds: step?.late ? 3_600 : 3_599,
      webhook: step?.webhook ?? false,
    };
  };
  return { calls, answer };
};

const tasks = ['Poll', 'Store', 'Charge', 'Finish', 'Release', 'Notify'];

/** Returns the states in the order in which they are entered and retried, the parameters of every call, and the end. */
const byEngine = async (script: Script) => {
  const { calls, answer } = scripted(script);
  const none = Object.fromEntries(tasks.map((name) => [name, Array.from({ length: 9 }, () => 0)]));
  const run = new StateMachine(structuredClone(definition)).run(
    { videoId: 'v' },
    {
      overrides: {
        taskResourceLocalHandlers: Object.fromEntries(tasks.map((name) => [name, answer])),
        waitTimeOverrides: { FirstWait: 0, Wait: 0, Pause: 0 },
        retryIntervalOverrides: none,
      },
    },
  );
  const entered: string[] = [];
  const reading = (async () => {
    for await (const event of run.eventLogs) {
      if (event.type === 'StateEntered') entered.push(event.state.name);
      if (event.type === 'StateRetried') entered.push(event.state.name);
    }
  })();
  const end = await run.result.then(
    () => 'succeeded',
    () => 'failed',
  );
  await reading;
  return { entered, calls, end };
};

const byHand = async (script: Script) => {
  const { calls, answer } = scripted(script);
  const entered: string[] = [];
  const playing = playStates(
    definition,
    { videoId: 'v' },
    {
      task: async (_name, parameters) => answer(parameters),
      wait: async () => undefined,
      random: () => 0.5,
      entered: (name) => entered.push(name),
    },
  );
  const end = await playing.then(
    () => 'succeeded',
    () => 'failed',
  );
  return { entered, calls, end };
};

const scripts = fc.array(
  fc.record({
    fails: fc.constantFrom(false, false, true),
    outcome: fc.constantFrom('running', 'running', 'succeeded', 'failed', 'ended'),
    webhook: fc.boolean(),
    late: fc.constantFrom(false, false, true),
  }),
  { maxLength: 25 },
);

test('VID-5 playing the deployed definition step by step matches the engine', async () => {
  const ends = new Set<string>();
  await fc.assert(
    fc.asyncProperty(scripts, async (script) => {
      const played = await byHand(script);
      expect(played).toEqual(await byEngine(script));
      ends.add(played.end);
    }),
    randomRuns(import.meta.filename, { quick: 5, long: 100 }),
  );
  expect(ends.size).toBeGreaterThan(0);
});

test('VID-5 a wait lasts the given time, and retries wait longer each time, up to a minute', async () => {
  const waits: number[] = [];
  let releases = 0;
  const playing = playStates(
    definition,
    { videoId: 'v' },
    {
      task: async (name) => {
        if (name === 'Poll') return { outcome: 'failed', waitSeconds: 7, elapsedSeconds: 0 };
        releases += 1;
        if (releases <= 7) throw new Error('scripted failure');
        return { webhook: false };
      },
      wait: async (seconds) => void waits.push(seconds),
      random: () => 1,
    },
  );
  await playing;
  // The last wait is the pause before the next poll.
  expect(waits).toEqual([60, 2, 4, 8, 16, 32, 60, 60]);
});

test('OPS-15 a paused step waits a minute each time, and uses no retry of its failures', async () => {
  const waits: number[] = [];
  let calls = 0;
  const paused = Object.assign(new Error('paused'), { name: PAUSED_ERROR });
  const task = async (name: string) => {
    if (name === 'Poll') return { outcome: 'failed', waitSeconds: 7, elapsedSeconds: 0 };
    calls += 1;
    if (calls === 1 || calls === 12) throw new Error('scripted failure');
    if (calls < 12) throw paused;
    return { webhook: false };
  };
  await playStates(
    definition,
    { videoId: 'v' },
    { task, wait: async (seconds) => void waits.push(seconds), random: () => 1 },
  );
  expect(waits.slice(1)).toEqual([2, ...Array.from({ length: 10 }, () => 60), 4]);
});

test('VID-5 a definition with an unsupported field is rejected', async () => {
  const world = { task: async () => ({}), wait: async () => undefined, random: () => 0 };
  const other = { ...definition, Version: '1.0' };
  await expect(playStates(other, { videoId: 'v' }, world)).rejects.toThrow('Version');
});
