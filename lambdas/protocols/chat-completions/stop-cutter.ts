import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../core/json.ts';
import type { OutputCutter } from '../../core/text/output-cutter.ts';
import type { TextSink } from '../../core/text/text-stream.ts';
import type { Ending, TextAnswer, TextDelta, WireAnswer } from '../../core/text/text-wire.ts';
import { StopMatcher, type StopSequences } from './stop-matcher.ts';

/** Cuts each choice of a chat completion at its first stop sequence (CHAT-17). */
export class StopCutter implements OutputCutter {
  readonly #sequences: StopSequences;
  readonly #choices = new Map<number, StopMatcher>();

  constructor(sequences: StopSequences) {
    this.#sequences = sequences;
  }

  get hasCut(): boolean {
    return this.#choices.values().some(({ isCut }) => isCut);
  }

  answer(answer: WireAnswer): WireAnswer {
    const { content } = answer;
    if (content.kind === 'neutral') {
      return { ...answer, content: { kind: 'neutral', answer: this.#cutNeutral(content.answer) } };
    }
    const { choices } = content.body;
    if (!Array.isArray(choices)) return answer;
    const body = { ...content.body, choices: choices.map((choice, at) => this.#cutChoice(choice, at)) };
    return this.hasCut ? { ...answer, content: { kind: 'native', text: JSON.stringify(body), body } } : answer;
  }

  native(events: readonly string[]): readonly string[] {
    return events.flatMap((event) => this.#toEvents(event));
  }

  neutral(deltas: readonly TextDelta[]): readonly TextDelta[] {
    const matcher = this.#matcherOf(0);
    const kept: TextDelta[] = [];
    for (const delta of deltas) {
      if (matcher.isCut) break;
      if (delta.kind === 'text') kept.push(...textDeltas(matcher.take(delta.text)));
      else {
        // Text before a call stays before it.
        kept.push(...textDeltas(matcher.rest()));
        if (!matcher.isCut) kept.push(delta);
      }
    }
    return kept;
  }

  end(last: Ending, sink: Pick<TextSink, 'native' | 'neutral'>): Ending {
    if (last.kind === 'neutral') {
      const matcher = this.#matcherOf(0);
      const rest = textDeltas(matcher.rest());
      if (rest.length > 0) sink.neutral(rest);
      return matcher.isCut ? { kind: 'neutral', finishReason: 'stop' } : last;
    }
    if (last.kind === 'native') throw new Error('a result of another protocol in a chat stream');
    const { kept, ending } = this.#split(last.event);
    const { usage, ...chunk } = last.event;
    const unfinished = [...this.#choices].flatMap(([index, matcher]) => toText(chunk, index, matcher.rest()));
    const rest = [...kept, ...unfinished].map((body) => JSON.stringify(body));
    if (rest.length > 0) sink.native(rest);
    return { ...last, event: ending ?? last.event };
  }

  #matcherOf(index: number): StopMatcher {
    const matcher = this.#choices.get(index) ?? new StopMatcher(this.#sequences);
    this.#choices.set(index, matcher);
    return matcher;
  }

  #cutNeutral(answer: TextAnswer): TextAnswer {
    const { text, isCut } = this.#cutText(0, answer.text ?? '');
    return isCut ? { text, refusal: null, toolCalls: [], finishReason: 'stop' } : answer;
  }

  #cutText(index: number, whole: string): { readonly text: string; readonly isCut: boolean } {
    const matcher = this.#matcherOf(index);
    const text = matcher.take(whole) + matcher.rest();
    return { text, isCut: matcher.isCut };
  }

  #cutChoice(choice: JsonValue, at: number): JsonValue {
    if (!isJsonObject(choice) || !isJsonObject(choice.message)) return choice;
    const { content, tool_calls, function_call, ...message } = choice.message;
    if (typeof content !== 'string') return choice;
    const { text, isCut } = this.#cutText(at, content);
    // The log probabilities contain the tokens after the cut.
    return isCut
      ? { ...choice, message: { ...message, content: text }, logprobs: null, finish_reason: 'stop' }
      : choice;
  }

  /** Returns the chunks to send for one chunk of the provider: itself if nothing of it is cut or waits. */
  #toEvents(event: string): readonly string[] {
    const body = parseJson(event);
    if (!isJsonObject(body)) return [event];
    const { kept, ending, isChanged } = this.#split(body);
    return isChanged ? [...kept, ...(ending ? [ending] : [])].map((chunk) => JSON.stringify(chunk)) : [event];
  }

  /** Splits a chunk into those with output, and the one with its finish reasons. */
  #split(body: JsonObject): Split {
    const { choices, usage, ...chunk } = body;
    if (!Array.isArray(choices) || choices.length === 0) return { kept: [], ending: body, isChanged: false };
    const kept: JsonObject[] = [];
    const finished: JsonObject[] = [];
    let isChanged = false;
    for (const choice of choices.filter(isJsonObject)) {
      const { said, isWhole } = this.#take(chunk, choice);
      kept.push(...said);
      isChanged ||= !isWhole;
      if (typeof choice.finish_reason !== 'string') continue;
      isChanged = true;
      const reason = this.#matcherOf(indexOf(choice)).isCut ? 'stop' : choice.finish_reason;
      finished.push({ ...choice, delta: {}, logprobs: null, finish_reason: reason });
    }
    const ending = finished.length > 0 ? { ...body, choices: finished } : undefined;
    return { kept, ending, isChanged };
  }

  /** Returns the output of one choice that can be sent now, and whether that is all of it. */
  #take(chunk: JsonObject, choice: JsonObject): { readonly said: readonly JsonObject[]; readonly isWhole: boolean } {
    const index = indexOf(choice);
    const matcher = this.#matcherOf(index);
    const { content, ...others } = isJsonObject(choice.delta) ? choice.delta : {};
    if (matcher.isCut) return { said: [], isWhole: false };
    const isText = typeof content === 'string';
    const taken = isText ? matcher.take(content) : '';
    const ends = typeof choice.finish_reason === 'string' || others.tool_calls !== undefined;
    const text = ends ? taken + matcher.rest() : taken;
    const isWhole = isText ? text === content : text === '';
    const { tool_calls, function_call, ...beforeCalls } = others;
    const delta = {
      ...(matcher.isCut ? beforeCalls : others),
      ...(text !== '' || content === '' || 'role' in others ? { content: text } : {}),
    };
    if (Object.keys(delta).length === 0) return { said: [], isWhole };
    const logprobs = isWhole ? (choice.logprobs ?? null) : null;
    return { said: [{ ...chunk, choices: [{ ...choice, delta, logprobs, finish_reason: null }] }], isWhole };
  }
}

interface Split {
  readonly kept: readonly JsonObject[];
  readonly ending: JsonObject | undefined;
  /** Whether the result differs from the chunk. */
  readonly isChanged: boolean;
}

const indexOf = ({ index }: JsonObject): number => (typeof index === 'number' ? index : 0);

const textDeltas = (text: string): readonly TextDelta[] => (text === '' ? [] : [{ kind: 'text', text }]);

/** Chunk with text alone, in the form of another chunk of the response. */
const toText = (chunk: JsonObject, index: number, text: string): readonly JsonObject[] =>
  text === ''
    ? []
    : [{ ...chunk, choices: [{ index, delta: { content: text }, logprobs: null, finish_reason: null }] }];
