import type { TokenUsage } from '../../core/pricing/charge.ts';
import { blocked, finishReasonOf, type Generated } from './chunk.ts';
import { holdsImage, toDrawnUsage, toTokenUsage } from './usage.ts';

/** How far a stream has come towards its end. */
export class StreamOutcome {
  readonly #choices: number;
  readonly #draws: boolean;
  readonly #finished = new Set<number>();
  #blocked = false;
  #holdsImage = false;
  /** Every chunk tells the usage so far: it is final only with or after the last finish reason. */
  usage: TokenUsage | undefined;

  /** `draws`: its images are counted apart. */
  constructor(choices: number, draws = false) {
    this.#choices = choices;
    this.#draws = draws;
  }

  /** Each event, whether or not its chunk is taken. */
  look(event: string): void {
    if (this.#draws) this.#holdsImage ||= holdsImage(event);
  }

  /** A prompt that was blocked has no answers to wait for. */
  get isFinished(): boolean {
    return this.#blocked || this.#finished.size >= this.#choices;
  }

  get isWhole(): boolean {
    return this.usage !== undefined;
  }

  take(chunk: Generated): void {
    this.#blocked ||= blocked(chunk);
    for (const candidate of chunk.candidates) {
      if (finishReasonOf(candidate) !== undefined) this.#finished.add(candidate.index);
    }
    if (this.isFinished) this.usage = this.#usageIn(chunk) ?? this.usage;
  }

  #usageIn({ usageMetadata }: Generated): TokenUsage | undefined {
    return this.#draws ? toDrawnUsage(usageMetadata, this.#holdsImage) : toTokenUsage(usageMetadata);
  }
}
