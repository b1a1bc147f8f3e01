import type { VideoWorkflow } from '../../../lambdas/core/videos/dependencies.ts';

/** Executions without steps. A test ends them. */
export class MemoryVideoMachine implements VideoWorkflow {
  readonly #ended = new Set<string>();
  readonly #begun = new Set<string>();
  /** Ids of all starts, including repeats. */
  readonly starts: string[] = [];

  async start(videoId: string): Promise<'running' | 'ended'> {
    this.starts.push(videoId);
    this.#begun.add(videoId);
    return this.#ended.has(videoId) ? 'ended' : 'running';
  }

  /** Ends the execution. Works without one, too. */
  end(videoId: string): void {
    this.#ended.add(videoId);
  }

  /** Returns the ids of all videos that have or had an execution. */
  begun(): readonly string[] {
    return [...this.#begun];
  }
}
