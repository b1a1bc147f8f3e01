import type { JsonObject, JsonValue } from '../../core/json.ts';

/**
 * Text of the messages of one response, as the one text of a chat completion (CHAT-5). Commentary waits until the next
 * item is known: it is dropped if the final answer follows, because it often repeats it
 * (https://github.com/langchain4j/langchain4j/issues/6399, 2026-09-14), and is the text if calls or the end follow.
 * Messages are joined by an empty line.
 */
export class SpokenText {
  #place: JsonValue | undefined;
  #isSaid = false;
  #isAnswered = false;
  #commentary = '';

  /** Takes text of the message at this place. Returns the text that is ready, '' if there is none. */
  add(place: JsonValue | undefined, phase: Phase, text: string): string {
    if (text === '') return '';
    if (phase === 'final_answer') {
      this.#isAnswered = true;
      this.#commentary = '';
    }
    const isCommentary = phase === 'commentary';
    if (isCommentary && this.#isAnswered) return '';
    const waiting = isCommentary ? '' : this.take();
    const isNext = (this.#isSaid || this.#commentary !== '') && place !== this.#place;
    const added = isNext ? `\n\n${text}` : text;
    this.#place = place;
    if (isCommentary) this.#commentary += added;
    else this.#isSaid = true;
    return isCommentary ? '' : waiting + added;
  }

  /** Returns the commentary that waits, because a call or the end follows it. */
  take(): string {
    const text = this.#commentary;
    this.#commentary = '';
    this.#isSaid ||= text !== '';
    return text;
  }
}

/** Undefined if the model does not label its messages. */
type Phase = 'commentary' | 'final_answer' | undefined;

/**
 * Phase of a message: `ResponseOutputMessage.phase` in the package openai 7.55.0 (resources/responses/responses.d.ts),
 * for models from gpt-5.3-codex on.
 */
export const phaseOf = ({ phase }: JsonObject): Phase =>
  phase === 'commentary' || phase === 'final_answer' ? phase : undefined;
