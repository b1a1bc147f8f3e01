import { StateMachine, type StateMachineDefinition } from 'aws-local-stepfunctions';
import { onTestFinished, vi } from 'vitest';
import type { ManualClock } from '../../support/memory/manual-clock.ts';

/** What a Task state hands to the function, as it stands in the execution's history. */
export interface Task {
  readonly state: string;
  readonly input: unknown;
  /** When, by the clock of the play. */
  readonly atMs: number;
}

export interface Play {
  /** States in the order in which they were entered; one that is repeated counts again. Each is a transition that AWS bills. */
  readonly transitions: readonly string[];
  readonly tasks: readonly Task[];
  /** All that the history of the execution holds, as text. */
  readonly history: string;
  readonly endedAtMs: number;
  /** Of an execution that failed. */
  readonly error: string | undefined;
}

interface PlayOptions {
  readonly definition: StateMachineDefinition;
  readonly clock: ManualClock;
  readonly input: { readonly videoId: string };
  readonly runTask: (state: string, input: unknown) => Promise<unknown>;
}

/** Everything in the definition is in whole seconds. */
const SECOND_MS = 1_000;
/** Of what chance allows, for the waits before a repeat. */
const LONGEST = 1 - 1e-9;

/** One execution on the engine of this machine, in the time of a clock that a test has. */
export const playMachine = async ({ definition, clock, input, runTask }: PlayOptions): Promise<Play> => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: clock.now() });
  const random = vi.spyOn(Math, 'random').mockReturnValue(LONGEST);
  onTestFinished(() => {
    vi.useRealTimers();
    random.mockRestore();
  });
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
  const play: { ended: boolean; error: string | undefined } = { ended: false, error: undefined };
  result
    .catch((error: unknown) => {
      play.error = String(error instanceof Error ? (error.cause ?? error) : error);
    })
    .finally(() => {
      play.ended = true;
    });
  await settle(clock);
  while (!play.ended) {
    // The clock comes first: what wakes up in the machine reads it.
    await clock.advance(SECOND_MS);
    await vi.advanceTimersByTimeAsync(SECOND_MS);
    await settle(clock);
  }
  const events = await Array.fromAsync(eventLogs);
  return {
    transitions: events.flatMap((event) =>
      event.type === 'StateEntered' || event.type === 'StateRetried' ? [event.state.name] : [],
    ),
    tasks,
    history: JSON.stringify(events),
    endedAtMs: clock.now(),
    error: play.error,
  };
};

/** Several states may follow each other without a wait. */
const settle = async (clock: ManualClock): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await clock.flush();
};
