import { type Clock, sleep } from '../../../../lambdas/core/clock.ts';
import type { VideoWorkflow } from '../../../../lambdas/core/videos/dependencies.ts';
import { Aborted, playStates, StepFailed, secondsMaxOf } from './video-states.ts';

interface Execution {
  status: 'running' | 'ended' | 'died';
}

export interface ExecutionWorld {
  readonly clock: Clock;
  readonly definition: unknown;
  readonly random: () => number;
  /** Calls the Lambda function that runs a step. Throws the error that the state machine receives. */
  readonly invoke: (step: string, videoId: string) => Promise<unknown>;
  /** Triggers the EventBridge rule for executions that failed or were stopped. */
  readonly died: (videoId: string) => void;
  readonly mistake: (error: unknown) => void;
}

/**
 * A state machine service that never fails. It plays one execution per video and calls steps that may fail in any way.
 */
export class VideoExecutions implements VideoWorkflow {
  readonly #world: ExecutionWorld;
  readonly #executions = new Map<string, Execution>();

  constructor(world: ExecutionWorld) {
    this.#world = world;
  }

  async start(videoId: string): Promise<'running' | 'ended'> {
    const present = this.#executions.get(videoId);
    if (present) return present.status === 'running' ? 'running' : 'ended';
    const execution: Execution = { status: 'running' };
    this.#executions.set(videoId, execution);
    const { clock, definition, mistake } = this.#world;
    const cancel = clock.after(secondsMaxOf(definition) * 1_000, () => this.abort(videoId));
    this.#play(videoId, execution).catch(mistake).finally(cancel);
    return 'running';
  }

  running(): readonly string[] {
    return [...this.#executions].filter(([, { status }]) => status === 'running').map(([videoId]) => videoId);
  }

  /** Stops an execution, on request or at its time limit. Its current step continues. */
  abort(videoId: string): void {
    const execution = this.#executions.get(videoId);
    if (execution?.status !== 'running') return;
    execution.status = 'died';
    this.#world.died(videoId);
  }

  async #play(videoId: string, execution: Execution): Promise<void> {
    const { clock, definition, random, invoke, died } = this.#world;
    const goOn = (): void => {
      if (execution.status !== 'running') throw new Aborted();
    };
    try {
      await playStates(
        definition,
        { videoId },
        {
          random,
          wait: async (seconds) => {
            await sleep(clock, seconds * 1_000);
            goOn();
          },
          task: async (_name, { step }, timeoutSeconds) => {
            goOn();
            try {
              return await within(clock, timeoutSeconds, invoke(String(step), videoId));
            } finally {
              goOn();
            }
          },
        },
      );
      execution.status = 'ended';
    } catch (error) {
      if (error instanceof Aborted) return;
      if (!(error instanceof StepFailed)) throw error;
      execution.status = 'died';
      died(videoId);
    }
  }
}

/** Waits at most this many seconds. The call itself continues. */
const within = <T>(clock: Clock, seconds: number, pending: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const cancel = clock.after(seconds * 1_000, () => reject(new Error('States.Timeout')));
    pending.then(resolve, reject).finally(cancel);
  });
