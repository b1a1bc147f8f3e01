import type { VideoWorkflow } from '../../../lambdas/core/videos/dependencies.ts';

/** Executions that do nothing: a test says when one is over. */
export class MemoryVideoMachine implements VideoWorkflow {
  readonly #ended = new Set<string>();
  readonly #begun = new Set<string>();
  /** Every start that was executed, repeats too. */
  readonly starts: string[] = [];

  async start(videoId: string): Promise<'running' | 'ended'> {
    this.starts.push(videoId);
    this.#begun.add(videoId);
    return this.#ended.has(videoId) ? 'ended' : 'running';
  }

  /** The execution is over, whether or not there was one. */
  end(videoId: string): void {
    this.#ended.add(videoId);
  }

  /** The videos that have or had an execution. */
  begun(): readonly string[] {
    return [...this.#begun];
  }
}
