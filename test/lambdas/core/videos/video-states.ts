import * as z from 'zod';
import { PAUSED_ERROR } from '../../../../lambdas/functions/wiring/video-steps-handler.ts';

/** A task failed after all retries, and its state has no `Catch`. */
export class StepFailed extends Error {
  override readonly name = 'StepFailed';
}

/** The execution was stopped from outside. */
export class Aborted extends Error {
  override readonly name = 'Aborted';
}

/** Retries of a step while workers are paused for maintenance. They are not counted with those of failures. */
const pausedRetry = z.strictObject({
  ErrorEquals: z.tuple([z.literal(PAUSED_ERROR)]),
  IntervalSeconds: z.int(),
  BackoffRate: z.literal(1),
  MaxAttempts: z.literal(99_999_999),
});

const failureRetry = z.strictObject({
  ErrorEquals: z.tuple([z.literal('States.ALL')]),
  IntervalSeconds: z.int(),
  BackoffRate: z.number(),
  MaxDelaySeconds: z.int(),
  MaxAttempts: z.int(),
  JitterStrategy: z.literal('FULL').optional(),
});

const rule = z.strictObject({
  Variable: z.string(),
  StringEquals: z.string().optional(),
  BooleanEquals: z.boolean().optional(),
  NumericGreaterThanEquals: z.number().optional(),
  Next: z.string(),
});

const Comment = z.string().optional();

const task = z.strictObject({
  Type: z.literal('Task'),
  Comment,
  Resource: z.string(),
  Parameters: z.record(z.string(), z.string()),
  ResultPath: z.string().nullable(),
  TimeoutSeconds: z.int(),
  Retry: z.tuple([pausedRetry, failureRetry]),
  Catch: z
    .tuple([
      z.strictObject({ ErrorEquals: z.tuple([z.literal('States.ALL')]), ResultPath: z.null(), Next: z.string() }),
    ])
    .optional(),
  Next: z.string(),
});

/**
 * The part of the Amazon States Language that the definition uses. Any other field is rejected, because `playStates`
 * would ignore it.
 */
const machine = z.strictObject({
  Comment,
  QueryLanguage: z.literal('JSONPath'),
  /** Enforced by the caller: an execution that lasts longer is stopped. */
  TimeoutSeconds: z.int(),
  StartAt: z.string(),
  States: z.record(
    z.string(),
    z.discriminatedUnion('Type', [
      task,
      z.strictObject({
        Type: z.literal('Wait'),
        Comment,
        Seconds: z.int().optional(),
        SecondsPath: z.string().optional(),
        Next: z.string(),
      }),
      z.strictObject({ Type: z.literal('Choice'), Comment, Choices: z.array(rule), Default: z.string() }),
      z.strictObject({ Type: z.literal('Succeed'), Comment }),
    ]),
  ),
});

type Task = z.output<typeof task>;
type State = z.output<typeof machine>['States'][string];
type Data = Readonly<Record<string, unknown>>;

/** Environment of an execution. */
export interface StatesWorld {
  /** Makes one call of a task with its parameters. Throws the error of the task. */
  task(name: string, parameters: Data, timeoutSeconds: number): Promise<unknown>;
  wait(seconds: number): Promise<void>;
  /** Returns the jitter, from 0 to 1. */
  random(): number;
  /** Called for every state that is entered, and again for every retry of a task. */
  entered?(name: string): void;
}

export const secondsMaxOf = (definition: unknown): number => machine.parse(definition).TimeoutSeconds;

/**
 * Plays one execution of the deployed definition, state by state. It works like a local engine, but a test moves the
 * clock and can delay steps. Throws StepFailed when the execution fails, and every error of `world` that is not the
 * error of a task.
 */
export const playStates = async (definition: unknown, input: Data, world: StatesWorld): Promise<void> => {
  const { States, StartAt } = machine.parse(definition);
  let at: At | undefined = { name: StartAt, data: input };
  while (at) {
    const state: State | undefined = States[at.name];
    if (!state) throw new Error(`there is no state ${at.name}`);
    world.entered?.(at.name);
    at = await leave(state, at, world);
  }
};

interface At {
  readonly name: string;
  readonly data: Data;
}

/** Returns the next state; undefined at the end. */
const leave = async (state: State, { name, data }: At, world: StatesWorld): Promise<At | undefined> => {
  switch (state.Type) {
    case 'Succeed':
      return undefined;
    case 'Wait':
      await world.wait(state.Seconds ?? numberAt(data, state.SecondsPath ?? ''));
      return { name: state.Next, data };
    case 'Choice':
      return { name: state.Choices.find((one) => holds(data, one))?.Next ?? state.Default, data };
    case 'Task': {
      const outcome = await perform(name, state, data, world);
      if ('failed' in outcome) return { name: caughtBy(name, state), data };
      const { ResultPath } = state;
      return {
        name: state.Next,
        data: ResultPath === null ? data : { ...data, [memberOf(ResultPath)]: outcome.result },
      };
    }
  }
};

const caughtBy = (name: string, { Catch }: Task): string => {
  if (!Catch) throw new StepFailed(`${name} failed permanently`);
  return Catch[0].Next;
};

const perform = async (
  name: string,
  { Parameters, TimeoutSeconds, Retry }: Task,
  data: Data,
  world: StatesWorld,
): Promise<{ readonly result: unknown } | { readonly failed: true }> => {
  const parameters = Object.fromEntries(
    Object.entries(Parameters).map(([key, value]) =>
      key.endsWith('.$') ? [key.slice(0, -2), valueAt(data, value)] : [key, value],
    ),
  );
  const [paused, { IntervalSeconds, BackoffRate, MaxDelaySeconds, MaxAttempts, JitterStrategy }] = Retry;
  for (let claimed = 0; ; ) {
    try {
      return { result: await world.task(name, parameters, TimeoutSeconds) };
    } catch (error) {
      if (error instanceof Aborted) throw error;
      if (error instanceof Error && error.name === PAUSED_ERROR) {
        await world.wait(paused.IntervalSeconds);
        world.entered?.(name);
        continue;
      }
      if (claimed >= MaxAttempts) return { failed: true };
    }
    const atMost = Math.min(MaxDelaySeconds, IntervalSeconds * BackoffRate ** claimed);
    await world.wait(JitterStrategy ? atMost * world.random() : atMost);
    claimed += 1;
    world.entered?.(name);
  }
};

const memberOf = (path: string): string => {
  const member = /^\$\.(\w+)$/.exec(path)?.[1];
  if (member === undefined) throw new Error(`${path}: unsupported path`);
  return member;
};

const valueAt = (data: Data, path: string): unknown =>
  path
    .split('.')
    .slice(1)
    .reduce<unknown>((value, member) => {
      const found = z.record(z.string(), z.unknown()).parse(value)[member];
      if (found === undefined) throw new Error(`there is no value at ${path}`);
      return found;
    }, data);

const numberAt = (data: Data, path: string): number => z.number().parse(valueAt(data, path));

const holds = (
  data: Data,
  { Variable, StringEquals, BooleanEquals, NumericGreaterThanEquals }: z.output<typeof rule>,
) => {
  const value = valueAt(data, Variable);
  if (StringEquals !== undefined) return value === StringEquals;
  if (BooleanEquals !== undefined) return value === BooleanEquals;
  return typeof value === 'number' && NumericGreaterThanEquals !== undefined && value >= NumericGreaterThanEquals;
};
