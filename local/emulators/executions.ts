import { setTimeout as sleep } from 'node:timers/promises';
import {
  ExecutionAbortedError,
  ExecutionTimeoutError,
  StateMachine,
  type StateMachineDefinition,
} from 'aws-local-stepfunctions';

export type ExecutionStatus = 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED';

export type Execution = {
  readonly name: string;
  readonly arn: string;
  /** Input as JSON, unchanged. */
  readonly input: string;
  readonly startedAtMs: number;
  readonly status: ExecutionStatus;
  readonly endedAtMs?: number;
  /** Output as JSON. */
  readonly output?: string;
  readonly error?: string;
  readonly cause?: string;
};

export type ExecutionsOptions = {
  /** Definition of the deployed state machine, with local names. */
  readonly definition: StateMachineDefinition;
  readonly machineArn: string;
  /** Called for every Task state, with the input of the state. */
  readonly runTask: (input: unknown) => Promise<unknown>;
  /**
   * Called when an execution ends without success, like the target of the deployed EventBridge rule. A failed call is
   * repeated several times.
   */
  readonly onUnfinished: (name: string) => Promise<void>;
  /** Writes one line for the terminal. */
  readonly onFailure: (message: string) => void;
  /** Waits in ms before each attempt of `onUnfinished`. */
  readonly tellAfterMs?: readonly number[];
  /** Time in ms that a running step gets to end during a stop. */
  readonly stepGraceMs?: number;
};

export type Executions = {
  find(name: string): Execution | undefined;
  /** Executions, oldest first. */
  list(): readonly Execution[];
  /** Starts an execution under a name that no remembered execution has. `input` is JSON. */
  start(name: string, input: string): Execution;
  /** Aborts a running execution. Returns its snapshot; undefined if no remembered execution has the name. */
  abort(name: string): Execution | undefined;
  /** Ends every execution where it is, without a callback, as when a machine is switched off. */
  stop(): Promise<void>;
};

type Json = Parameters<StateMachine['run']>[0];
type Run = { execution: Execution; readonly off: AbortController; readonly aborted: Promise<never> };
type Ending = Pick<Execution, 'status' | 'output' | 'error' | 'cause'>;

const STEP_GRACE_MS = 1_000;
/** Maximum number of remembered executions, including running ones. Older finished ones are dropped. */
const REMEMBERED_MAX = 1_000;
const TELL_AFTER_MS = [0, 1_000, 5_000, 20_000] as const;

/** Executions of one state machine, in memory. After a restart, unfinished ones have to be started again. */
export function createExecutions(options: ExecutionsOptions): Executions {
  const { definition, machineArn } = options;
  const machine = new StateMachine(definition);
  const tasks = taskStates(definition);
  const runs = new Map<string, Run>();
  const underWay = new Set<Promise<unknown>>();
  const off = new AbortController();

  /** Runs a step. An aborted execution does not wait for its step, which continues in the background. */
  const callStep = async (run: Run, input: unknown): Promise<Json> => {
    run.off.signal.throwIfAborted();
    const step = options.runTask(input);
    const settled = step.catch(() => undefined).finally(() => underWay.delete(settled));
    underWay.add(settled);
    return toJson(await Promise.race([step, run.aborted]));
  };

  const forgetOldest = (): void => {
    for (const [name, { execution }] of runs) {
      if (runs.size <= REMEMBERED_MAX) return;
      if (execution.status !== 'RUNNING') runs.delete(name);
    }
  };

  const follow = async (run: Run, result: Promise<unknown>): Promise<void> => {
    const ending = await endingOf(result);
    end(run, ending);
    forgetOldest();
    if (run.execution.status !== 'SUCCEEDED') await tell(options, run.execution, off.signal);
  };

  return {
    find: (name) => runs.get(name)?.execution,
    list: () => [...runs.values()].map(({ execution }) => execution),
    start(name, input) {
      const run = createRun({ name, arn: executionArn(machineArn, name), input, startedAtMs: Date.now() });
      runs.set(name, run);
      const { result, abort } = machine.run(JSON.parse(input), {
        overrides: { taskResourceLocalHandlers: handlersFor(tasks, (given) => callStep(run, given)) },
        context: contextOf(run.execution, machineArn),
      });
      run.off.signal.addEventListener('abort', abort, { once: true });
      follow(run, result).catch((error: unknown) => options.onFailure(`the state machine failed: ${error}`));
      return run.execution;
    },
    abort(name) {
      const run = runs.get(name);
      if (run) end(run, { status: 'ABORTED' });
      run?.off.abort();
      return run?.execution;
    },
    async stop() {
      off.abort();
      for (const run of runs.values()) run.off.abort();
      await Promise.race([
        Promise.all(underWay),
        sleep(options.stepGraceMs ?? STEP_GRACE_MS, undefined, { ref: false }),
      ]);
    },
  };
}

/** Every Task state must be replaced, because the library calls AWS for an unknown one. */
function taskStates({ States }: StateMachineDefinition): readonly string[] {
  const states = Object.entries(States);
  const nesting = states.find(([, { Type }]) => Type === 'Map' || Type === 'Parallel');
  if (nesting)
    throw new Error(`The state ${nesting[0]} is a Map or Parallel state, which this emulator does not support.`);
  return states.filter(([, { Type }]) => Type === 'Task').map(([name]) => name);
}

const handlersFor = (tasks: readonly string[], call: (input: Json) => Promise<Json>) =>
  Object.fromEntries(tasks.map((state) => [state, call]));

function createRun(begun: Omit<Execution, 'status'>): Run {
  const off = new AbortController();
  const aborted = new Promise<never>((_resolve, reject) => {
    off.signal.addEventListener('abort', () => reject(off.signal.reason), { once: true });
  });
  aborted.catch(() => undefined);
  return { execution: { ...begun, status: 'RUNNING' }, off, aborted };
}

/** Records how a run has ended. Does nothing if the run has already ended. */
function end(run: Run, ending: Ending): void {
  if (run.execution.status === 'RUNNING') run.execution = { ...run.execution, ...ending, endedAtMs: Date.now() };
}

async function endingOf(result: Promise<unknown>): Promise<Ending> {
  try {
    return { status: 'SUCCEEDED', output: JSON.stringify(await result) };
  } catch (thrown) {
    if (thrown instanceof ExecutionAbortedError) return { status: 'ABORTED' };
    if (thrown instanceof ExecutionTimeoutError) return { status: 'TIMED_OUT' };
    const error = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
    return error instanceof Error
      ? { status: 'FAILED', error: error.name, cause: error.message }
      : { status: 'FAILED', cause: String(error) };
  }
}

async function tell(options: ExecutionsOptions, { name, status }: Execution, signal: AbortSignal): Promise<void> {
  let failure: unknown;
  for (const waitMs of options.tellAfterMs ?? TELL_AFTER_MS) {
    await sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
    if (signal.aborted) return;
    try {
      await options.onUnfinished(name);
      return;
    } catch (error) {
      failure = error;
    }
  }
  options.onFailure(`the execution ${name} ended as ${status}, and its release failed: ${failure}`);
}

const executionArn = (machineArn: string, name: string): string =>
  `${machineArn.replace(':stateMachine:', ':execution:')}:${name}`;

/** Context object of an execution. aws-local-stepfunctions adds the input and the start time itself. */
const contextOf = ({ name, arn }: Execution, machineArn: string) => ({
  Execution: { Id: arn, Name: name },
  StateMachine: { Id: machineArn, Name: machineArn.slice(machineArn.lastIndexOf(':') + 1) },
});

/** Converts a result as a Lambda function returns it. */
const toJson = (value: unknown): Json => JSON.parse(JSON.stringify(value ?? null));
