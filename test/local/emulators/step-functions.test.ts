import {
  DescribeExecutionCommand,
  ExecutionAlreadyExists,
  ExecutionDoesNotExist,
  InvalidExecutionInput,
  InvalidName,
  ListExecutionsCommand,
  SFNClient,
  StartExecutionCommand,
  StateMachineDoesNotExist,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn';
import type { StateMachineDefinition } from 'aws-local-stepfunctions';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { localMachineArn, startStepFunctions } from '../../../local/emulators/step-functions.ts';
import { until } from '../../support/gateway-process.ts';

const cleanups: (() => unknown)[] = [];

/** The clock of the test controls the wait states. */
beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: Date.UTC(2026, 10, 22) }));
afterEach(async () => {
  vi.useRealTimers();
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const resource = 'arn:aws:lambda:us-east-1:000000000000:function:steps';

/** Polls until the task reports that it is done. */
const polling: StateMachineDefinition = {
  StartAt: 'poll',
  States: {
    poll: {
      Type: 'Task',
      Resource: resource,
      Parameters: { step: 'poll', 'id.$': '$$.Execution.Name', 'machine.$': '$$.StateMachine.Id', 'given.$': '$' },
      ResultPath: '$.polled',
      Retry: [{ ErrorEquals: ['States.ALL'], IntervalSeconds: 1, MaxAttempts: 1 }],
      Next: 'choose',
    },
    choose: {
      Type: 'Choice',
      Choices: [{ Variable: '$.polled.done', BooleanEquals: true, Next: 'end' }],
      Default: 'wait',
    },
    wait: { Type: 'Wait', SecondsPath: '$.polled.seconds', Next: 'poll' },
    end: { Type: 'Succeed' },
  },
};

interface World {
  readonly definition?: StateMachineDefinition;
  readonly runTask: (input: unknown) => Promise<unknown>;
  readonly onUnfinished?: (name: string) => Promise<void>;
  readonly grace?: number;
}

async function start({ definition = polling, runTask, onUnfinished = async () => undefined, grace }: World) {
  const released: string[] = [];
  const failures: string[] = [];
  const emulator = await startStepFunctions({
    definition,
    runTask,
    onUnfinished: async (name) => {
      released.push(name);
      await onUnfinished(name);
    },
    onFailure: (message) => failures.push(message),
    tellAfterMs: [0, 1],
    stepGraceMs: grace,
  });
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const client = new SFNClient({ endpoint: emulator.endpoint, region: 'us-east-1', credentials, maxAttempts: 1 });
  cleanups.push(emulator.stop, () => client.destroy());
  const begin = (name: string, input = '{}', stateMachineArn = emulator.machineArn) =>
    client.send(new StartExecutionCommand({ stateMachineArn, name, input }));
  const describe = async (name: string) => {
    const executionArn = `${localMachineArn.replace('stateMachine', 'execution')}:${name}`;
    return client.send(new DescribeExecutionCommand({ executionArn }));
  };
  const ended = async (name: string) => {
    for (;;) {
      const found = await describe(name);
      if (found.status !== 'RUNNING') return found;
      await vi.advanceTimersByTimeAsync(1_000);
    }
  };
  return { emulator, client, begin, describe, ended, released, failures };
}

const done = { done: true, seconds: 1 };
const forever = async () => ({ done: false, seconds: 3_600 });

test('VID-5 an execution runs its states to the end and gets its name from the context object', async () => {
  const inputs: unknown[] = [];
  const { begin, ended, released, client } = await start({
    runTask: async (input) => {
      inputs.push(input);
      return { done: inputs.length === 2, seconds: 1, nothing: undefined };
    },
  });
  const { executionArn = '', startDate } = await begin('video_1', '{"videoId":"video_1"}');
  expect(executionArn).toBe('arn:aws:states:us-east-1:000000000000:execution:videos:video_1');
  expect(startDate).toEqual(new Date('2026-11-22T00:00:00Z'));
  const end = await ended('video_1');
  expect([end.status, end.name, end.stateMachineArn]).toEqual(['SUCCEEDED', 'video_1', localMachineArn]);
  expect(JSON.parse(end.output ?? '')).toEqual({ videoId: 'video_1', polled: done });
  const asked = { step: 'poll', id: 'video_1', machine: localMachineArn };
  expect(inputs).toEqual([
    { ...asked, given: { videoId: 'video_1' } },
    { ...asked, given: { videoId: 'video_1', polled: { done: false, seconds: 1 } } },
  ]);
  expect(end.stopDate).toEqual(new Date('2026-11-22T00:00:01Z'));
  expect(released).toEqual([]);
  const list = await client.send(new ListExecutionsCommand({ stateMachineArn: localMachineArn }));
  expect(list.executions?.map(({ name, status }) => [name, status])).toEqual([['video_1', 'SUCCEEDED']]);
});

test('VID-5 a start can be repeated only with the same input, while its execution runs', async () => {
  let calls = 0;
  const { begin, client, ended } = await start({
    runTask: () => {
      calls += 1;
      return forever();
    },
  });
  const first = await begin('video_1', '{"a":1}');
  expect(await begin('video_1', '{"a":1}')).toMatchObject({
    executionArn: first.executionArn,
    startDate: first.startDate,
  });
  await expect(begin('video_1', '{"a":2}')).rejects.toThrow(ExecutionAlreadyExists);
  expect(calls).toBe(1);
  await client.send(new StopExecutionCommand({ executionArn: first.executionArn }));
  expect((await ended('video_1')).status).toBe('ABORTED');
  await expect(begin('video_1', '{"a":1}')).rejects.toThrow(ExecutionAlreadyExists);
});

test('invalid requests fail with the errors of AWS', async () => {
  const { begin, client, describe } = await start({ runTask: forever });
  for (const name of ['a b', 'a/b', 'a:b', 'a\u0007', 'n'.repeat(81)])
    await expect(begin(name), name).rejects.toThrow(InvalidName);
  await expect(begin('n'.repeat(80))).resolves.toMatchObject({ executionArn: expect.any(String) });
  await expect(begin('video_1', '{')).rejects.toThrow(InvalidExecutionInput);
  await expect(begin('video_1', '{}', `${localMachineArn}x`)).rejects.toThrow(StateMachineDoesNotExist);
  await expect(describe('video_1')).rejects.toThrow(ExecutionDoesNotExist);
  const executionArn = `${localMachineArn}:video_1`;
  await expect(client.send(new StopExecutionCommand({ executionArn }))).rejects.toThrow(ExecutionDoesNotExist);
});

test('VID-7 a failed step is retried once, and a failed or stopped execution is released', async () => {
  let calls = 0;
  const { begin, ended, released, client } = await start({
    runTask: async (input) => {
      if (JSON.stringify(input).includes('video_2')) return forever();
      calls += 1;
      throw new RangeError('out of range');
    },
  });
  await begin('video_1');
  expect(await ended('video_1')).toMatchObject({ status: 'FAILED', error: 'RangeError', cause: 'out of range' });
  expect(calls).toBe(2);
  await until('the release of the failed execution', () => released.at(0));
  const { executionArn } = await begin('video_2');
  await client.send(new StopExecutionCommand({ executionArn }));
  await until('the release of the stopped execution', () => released.at(1));
  expect(released).toEqual(['video_1', 'video_2']);
});

test('VID-7 an execution that exceeds the time limit of its state machine is released', async () => {
  const { begin, ended, released } = await start({ definition: { ...polling, TimeoutSeconds: 1 }, runTask: forever });
  await begin('video_1');
  expect((await ended('video_1')).status).toBe('TIMED_OUT');
  await until('the release', () => released.at(0));
});

test('VID-7 the release is retried until it works', async () => {
  let tries = 0;
  const { begin, ended, released, failures } = await start({
    runTask: () => Promise.reject(new Error('no')),
    onUnfinished: async () => {
      tries += 1;
      if (tries === 1) throw new Error('not now');
    },
  });
  await begin('video_1');
  await ended('video_1');
  await until('the second try', () => released.at(1));
  expect(failures).toEqual([]);
});

test('a stop interrupts executions, releases nothing and starts no further step', async () => {
  let calls = 0;
  let endStep = (): void => undefined;
  const { emulator, begin, released } = await start({
    runTask: async (input) => {
      calls += 1;
      if (JSON.stringify(input).includes('video_2')) await new Promise<void>((resolve) => (endStep = resolve));
      return { done: false, seconds: 3_600 };
    },
  });
  await begin('video_1');
  await begin('video_2');
  await until('both steps', () => (calls === 2 ? calls : undefined));
  const stopped = emulator.stop();
  let isOver = false;
  void stopped.then(() => (isOver = true));
  await new Promise(setImmediate);
  expect(isOver).toBe(false);
  endStep();
  await stopped;
  await vi.advanceTimersByTimeAsync(10_000);
  expect([released, calls]).toEqual([[], 2]);
  await expect(begin('video_3')).rejects.toThrow(/ECONNREFUSED/);
});

test('a stop leaves no timers, even with steps that never end', async () => {
  let calls = 0;
  const { emulator, begin, client } = await start({
    runTask: () => {
      calls += 1;
      return new Promise(() => undefined);
    },
    grace: 1,
  });
  for (let number = 0; number < 20; number += 1) await begin(`video_${number}`);
  expect([calls, vi.getTimerCount() >= 20]).toEqual([20, true]);
  await emulator.stop();
  client.destroy();
  expect(vi.getTimerCount()).toBe(0);
});

test('a definition with nested states is rejected: the library would send their tasks to AWS', async () => {
  const nested: StateMachineDefinition = {
    StartAt: 'all',
    States: { all: { Type: 'Parallel', Branches: [polling], End: true } },
  };
  await expect(start({ definition: nested, runTask: forever })).rejects.toThrow(
    /^The state all is a Map or Parallel state/,
  );
});
