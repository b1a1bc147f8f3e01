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
  /** JSON, as it was given. */
  readonly input: string;
  readonly startedAtMs: number;
  readonly status: ExecutionStatus;
  readonly endedAtMs?: number;
  /** JSON. */
  readonly output?: string;
  readonly error?: string;
  readonly cause?: string;
};

export type ExecutionsOptions = {
  /** The one that is deployed, with the names of this machine in it. */
  readonly definition: StateMachineDefinition;
  readonly machineArn: string;
  /** What every Task state calls, with the state's own input. */
  readonly runTask: (input: unknown) => Promise<unknown>;
  /** An execution ended without success: what a rule on such events would call. Tried a few times. */
  readonly onUnfinished: (name: string) => Promise<void>;
  /** One line for a person. */
  readonly onFailure: (message: string) => void;
  /** Waits before each try of `onUnfinished`. */
  readonly tellAfterMs?: readonly number[];
  /** How long a step that runs during a stop may take to end. */
  readonly stepGraceMs?: number;
};

export type Executions = {
  find(name: string): Execution | undefined;
  /** Oldest first. */
  list(): readonly Execution[];
  /** Under a name that no remembered execution has. `input` is JSON. */
  start(name: string, input: string): Execution;
  /** As it is then; undefined when there is none. */
  abort(name: string): Execution | undefined;
  /** Every execution ends where it is and nobody is told, as when a machine is switched off. */
  stop(): Promise<void>;
};

type Json = Parameters<StateMachine['run']>[0];
type Run = { execution: Execution; readonly off: AbortController; readonly aborted: Promise<never> };
type Ending = Pick<Execution, 'status' | 'output' | 'error' | 'cause'>;

const STEP_GRACE_MS = 1_000;
/** Executions, with those that run. Older ones that have ended are forgotten beyond this. */
const REMEMBERED_MAX = 1_000;
const TELL_AFTER_MS = [0, 1_000, 5_000, 20_000] as const;

/** The executions of one state machine, in memory: what ends with the process has to be started again. */
export function createExecutions(options: ExecutionsOptions): Executions {
  const { definition, machineArn } = options;
  const machine = new StateMachine(definition);
  const tasks = taskStates(definition);
  const runs = new Map<string, Run>();
  const underWay = new Set<Promise<unknown>>();
  const off = new AbortController();

  /** A step goes on when its execution is aborted, but nobody waits for it any more, with no timer, and no other begins. */
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

/** Every Task state has to be known, since the library asks AWS for one that is not. */
function taskStates({ States }: StateMachineDefinition): readonly string[] {
  const states = Object.entries(States);
  const nesting = states.find(([, { Type }]) => Type === 'Map' || Type === 'Parallel');
  if (nesting) throw new Error(`The state ${nesting[0]} has states of its own, which are not run here.`);
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

/** The first end counts. */
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

/** The input and the time of the start are the library's own affair. */
const contextOf = ({ name, arn }: Execution, machineArn: string) => ({
  Execution: { Id: arn, Name: name },
  StateMachine: { Id: machineArn, Name: machineArn.slice(machineArn.lastIndexOf(':') + 1) },
});

/** As it comes back from a Lambda function. */
const toJson = (value: unknown): Json => JSON.parse(JSON.stringify(value ?? null));
