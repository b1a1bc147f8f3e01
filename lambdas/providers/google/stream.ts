import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import type { TokenUsage } from '../../core/pricing/charge.ts';
import { mergeUsage } from '../merge-usage.ts';
import type { StreamReader, WireBatch } from '../read-stream.ts';
import { filtered, incomplete } from '../refusals.ts';
import {
  blocked,
  finishReasonOf,
  type Generated,
  holdsImage,
  type InBand,
  isFilter,
  LinkedContent,
  partsOf,
  readChunk,
  toDrawnUsage,
  toFinishReason,
  toTokenUsage,
  toToolCall,
  usageIn,
  type WholeGenerated,
} from './response.ts';

/**
 * Matches events that must be parsed. It cannot match inside a string value, where quotes are escaped, but it can match
 * members of a call's arguments.
 */
const decisive = /"(?:finishReason|blockReason|error)"\s*:/;

const hasContent = ({ candidates }: Generated): boolean =>
  candidates.some(({ content }) => (content?.parts ?? []).length > 0);

/**
 * Reads events for a client of the same protocol: unchanged, on one line each. The protocol has no event for the end of
 * a stream, so a stream is complete once each candidate has its finish reason (BILL-9). The event that ends the last
 * candidate and all later ones wait for the charge.
 */
export const nativeReader = (choices: number, inBand: InBand): StreamReader => {
  const outcome = new StreamOutcome(choices, inBand.linkImage !== undefined);
  const held: string[] = [];
  let opening = true;
  return {
    take: ({ data }, out) => {
      const event = data.includes('\n') ? data.replaceAll('\n', ' ') : data;
      outcome.look(event);
      if (opening || outcome.isFinished || decisive.test(event)) {
        const chunk = readChunk(event, inBand);
        outcome.take(chunk);
        opening &&= !hasContent(chunk);
      } else outcome.count(usageIn(event, inBand));
      if (outcome.isFinished) held.push(event);
      else out.native(event, opening);
    },
    isDone: false,
    get isWhole() {
      return outcome.isWhole;
    },
    get usageSoFar() {
      return outcome.usageSoFar;
    },
    end: () => {
      if (!outcome.isFinished) throw incomplete();
      return { kind: 'end', ending: { kind: 'native', events: held }, usage: outcome.usageSoFar };
    },
  };
};

/** Reads the pieces of the only candidate for a client of another protocol. */
export const neutralReader = (inBand: InBand): StreamReader => {
  const outcome = new StreamOutcome(1, inBand.linkImage !== undefined);
  const content = new LinkedContent(inBand.linkImage);
  let reason = '';
  let calls = 0;
  let begun = false;
  let said = false;
  let isBlocked = false;
  const give = (chunk: Generated, out: WireBatch): void => {
    for (const part of partsOf(chunk.candidates[0])) {
      const text = content.take(part);
      const call = toToolCall(part, chunk.responseId, calls);
      if (text !== '') out.neutral({ kind: 'text', text });
      said ||= text !== '';
      if (call) {
        const { arguments: json, ...named } = call;
        out.neutral({ kind: 'tool_call', index: calls, ...named });
        out.neutral({ kind: 'tool_arguments', index: calls, text: json });
        calls += 1;
      }
      begun ||= text !== '' || call !== undefined;
    }
    if (!begun) out.announce();
  };
  return {
    take: ({ data }, out) => {
      const chunk = readChunk(data, inBand);
      const [candidate] = chunk.candidates;
      reason = (candidate && finishReasonOf(candidate)) ?? reason;
      isBlocked ||= blocked(chunk) || isFilter(reason);
      outcome.look(data);
      outcome.take(chunk);
      if (isBlocked && !begun) throw filtered(outcome.usageSoFar);
      // A chunk that reports a block has no content for the client.
      if (!isBlocked) give(chunk, out);
    },
    isDone: false,
    get isWhole() {
      return outcome.isWhole;
    },
    get usageSoFar() {
      return outcome.usageSoFar;
    },
    ready: () => content.store(),
    end: () => {
      if (!outcome.isFinished) throw incomplete();
      if (isBlocked) {
        if (!outcome.usageSoFar) throw filtered();
        return { kind: 'end', ending: { kind: 'neutral', finishReason: 'content_filter' }, usage: outcome.usageSoFar };
      }
      const finishReason = toFinishReason(reason, { calls: calls > 0, text: said }, outcome.usageSoFar);
      return { kind: 'end', ending: { kind: 'neutral', finishReason }, usage: outcome.usageSoFar };
    },
  };
};

/** Progress of a stream toward its end. */
class StreamOutcome {
  readonly #choices: number;
  readonly #draws: boolean;
  readonly #finished = new Set<number>();
  #blocked = false;
  #holdsImage = false;
  /** Nearly every chunk has the usage so far. */
  #reported: JsonObject = {};
  /** Whether a usage has arrived with or after the last finish reason. */
  isWhole = false;

  /** `draws`: whether the model generates images, whose tokens are counted separately. */
  constructor(choices: number, draws = false) {
    this.#choices = choices;
    this.#draws = draws;
  }

  /** Notes whether the event contains an image. Called for every event, even if the event is not parsed. */
  look(event: string): void {
    if (this.#draws) this.#holdsImage ||= holdsImage(event);
  }

  /** Whether all candidates have ended. A blocked prompt has none. */
  get isFinished(): boolean {
    return this.#blocked || this.#finished.size >= this.#choices;
  }

  get usageSoFar(): TokenUsage | undefined {
    return this.#toUsage(this.#reported);
  }

  take(chunk: WholeGenerated): void {
    this.#blocked ||= blocked(chunk);
    for (const candidate of chunk.candidates) {
      if (finishReasonOf(candidate) !== undefined) this.#finished.add(candidate.index);
    }
    const { usageMetadata } = chunk.body;
    this.count(usageMetadata);
    this.isWhole ||= this.isFinished && this.#toUsage(usageMetadata) !== undefined;
  }

  count(usageMetadata: JsonValue | undefined): void {
    if (isJsonObject(usageMetadata)) this.#reported = mergeUsage(this.#reported, usageMetadata);
  }

  #toUsage(reported: JsonValue | undefined): TokenUsage | undefined {
    return this.#draws ? toDrawnUsage(reported, this.#holdsImage) : toTokenUsage(reported);
  }
}
