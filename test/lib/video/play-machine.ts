import { setImmediate as nextTurn } from 'node:timers/promises';
import { StateMachine, type StateMachineDefinition } from 'aws-local-stepfunctions';
import { onTestFinished, vi } from 'vitest';
import type { ManualClock } from '../../support/memory/manual-clock.ts';

/** Call of the function by a Task state, as recorded in the execution's history. */
export interface Task {
  readonly state: string;
  readonly input: unknown;
  /** Time of the call, by the clock of the play. */
  readonly atMs: number;
}

export interface Play {
  /** States in the order in which they were entered, with retries counted again. AWS bills each as a transition. */
  readonly transitions: readonly string[];
  readonly tasks: readonly Task[];
  /** Complete history of the execution, as text. */
  readonly history: string;
  readonly endedAtMs: number;
  /** Error of a failed execution; undefined if it succeeded. */
  readonly error: string | undefined;
}

interface PlayOptions {
  readonly definition: StateMachineDefinition;
  readonly clock: ManualClock;
  readonly input: { readonly videoId: string };
  readonly runTask: (state: string, input: unknown) => Promise<unknown>;
}

/** Random value for the longest wait that jitter allows before a retry. */
const LONGEST = 1 - 1e-9;

/**
 * Makes the engine use the clock of a test for its waits. Lets the clock settle longer, because states can follow
 * each other without a wait.
 */
const waitBy = (clock: ManualClock): void => {
  clock.flush = async () => {
    for (let turn = 0; turn < 5; turn++) await nextTurn();
  };
  vi.stubGlobal('setTimeout', (callback: () => void, ms = 0) => ({ cancel: clock.after(ms, callback) }));
  vi.stubGlobal('clearTimeout', (timer?: { cancel(): void }) => timer?.cancel());
  const random = vi.spyOn(Math, 'random').mockReturnValue(LONGEST);
  onTestFinished(() => {
    vi.unstubAllGlobals();
    random.mockRestore();
  });
};

/** Plays one execution on the local engine, in the time of a test's clock. */
export const playMachine = async ({ definition, clock, input, runTask }: PlayOptions): Promise<Play> => {
  waitBy(clock);
  const tasks: Task[] = [];
  const call = (state: string) => async (given: unknown) => {
    tasks.push({ state, input: given, atMs: clock.now() });
    return JSON.parse(JSON.stringify((await runTask(state, given)) ?? null));
  };
  const names = Object.entries(definition.States).flatMap(([name, { Type }]) => (Type === 'Task' ? [name] : []));
  const { result, eventLogs } = new StateMachine(definition).run(
    { ...input },
    { overrides: { taskResourceLocalHandlers: Object.fromEntries(names.map((name) => [name, call(name)])) } },
  );
  const error = await clock.until(
    result.then(
      () => undefined,
      (thrown: unknown) => String(thrown instanceof Error ? (thrown.cause ?? thrown) : thrown),
    ),
  );
  const events = await Array.fromAsync(eventLogs);
  return {
    transitions: events.flatMap((event) =>
      event.type === 'StateEntered' || event.type === 'StateRetried' ? [event.state.name] : [],
    ),
    tasks,
    history: JSON.stringify(events),
    endedAtMs: clock.now(),
    error,
  };
};
