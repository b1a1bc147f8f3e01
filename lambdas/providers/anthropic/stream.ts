import { isJsonObject, type JsonObject, parseJson } from '../../core/json.ts';
import type { TokenUsage } from '../../core/pricing/charge.ts';
import { mergeUsage } from '../merge-usage.ts';
import { parseExact } from '../read-json.ts';
import type { Frame, StreamReader, WireBatch } from '../read-stream.ts';
import { filtered, incomplete, type RefusalContext, unreadable } from '../refusals.ts';
import { topLevelString } from '../top-level-member.ts';
import { ownParam, type ToParam, toInBandError } from './errors.ts';
import { toFinishReason, toTokenUsage } from './response.ts';

interface MessagesStreamOptions {
  /** Model id that the client sees. */
  readonly modelId: string;
  readonly refusalContext: RefusalContext;
}

const MESSAGE_STOP = 'event: message_stop\ndata: {"type":"message_stop"}\n\n';

/**
 * Reads https://platform.claude.com/docs/en/build-with-claude/streaming for clients of the same protocol. Events pass
 * unchanged, except for the model in the first one (MSG-1). The event with the stop reason and all later ones are held
 * back. A response is complete if that event had the final usage, or if `message_stop` followed it (BILL-9, BILL-10).
 */
export const nativeReader = ({ modelId, refusalContext }: MessagesStreamOptions): StreamReader => {
  const tally = new MessageTally();
  const held: string[] = [];
  let opening = true;
  let isDone = false;
  return {
    take: (frame, out) => {
      const name = nameOf(frame);
      if (name === 'error') throw toInBandError(readEvent(frame.data), refusalContext, ownParam);
      let text = frame.text;
      if (name === 'message_start') text = withOurModel(frame, tally.begin(readEvent(frame.data)).model, modelId);
      else if (name === 'message_delta') tally.change(readEvent(frame.data));
      else if (name === 'message_stop') isDone = true;
      else if (name !== 'ping') opening = false;
      if (isDone || tally.stopReason !== undefined) held.push(text);
      else out.native(text, opening);
    },
    get isDone() {
      return isDone;
    },
    get isWhole() {
      return tally.usage !== undefined;
    },
    get usageSoFar() {
      return tally.usageSoFar;
    },
    end: () => {
      const { usage, stopReason } = tally;
      if (stopReason === undefined || !(isDone || usage)) throw incomplete();
      return { kind: 'end', ending: { kind: 'native', events: isDone ? held : [...held, MESSAGE_STOP] }, usage };
    },
  };
};

/** Replaces only the value of the message's own `model`, and only if it differs. */
const withOurModel = ({ text, data }: Frame, theirs: unknown, ours: string): string => {
  if (typeof theirs !== 'string' || theirs === ours) return text;
  for (const { index, 0: name } of data.matchAll(/"message"\s*:\s*(?=\{)/g)) {
    const message = index + name.length;
    const span = topLevelString(data.slice(message), 'model');
    if (!span || JSON.parse(data.slice(message + span.start, message + span.end)) !== theirs) continue;
    const changed = `${data.slice(0, message + span.start)}${JSON.stringify(ours)}${data.slice(message + span.end)}`;
    return `${text.slice(0, text.indexOf('data: '))}data: ${changed.replaceAll('\n', '\ndata: ')}\n\n`;
  }
  return text;
};

const readEvent = (data: string): JsonObject => {
  try {
    const value = parseJson(data);
    if (isJsonObject(value)) return value;
  } catch {}
  throw unreadable();
};

/** Event in which arguments keep the digits of their numbers. */
const readExact = (data: string): JsonObject => {
  const event = readEvent(data);
  const { content_block: block } = event;
  if (!isJsonObject(block) || !isJsonObject(block.input) || Object.keys(block.input).length === 0) return event;
  try {
    const exact = parseExact(data);
    if (isJsonObject(exact)) return exact;
  } catch {}
  return event;
};

/** Name of an event. The provider names its events, but a server in between may not. */
const nameOf = ({ event, data }: Frame): string => {
  if (event !== '') return event;
  const { type } = readEvent(data);
  return typeof type === 'string' ? type : '';
};

const memberOf = (event: JsonObject, name: string): JsonObject => {
  const member = event[name];
  return isJsonObject(member) ? member : {};
};

/** Collects the facts about the end of a response from its events. */
class MessageTally {
  #reported: JsonObject = {};
  #isFinal = false;
  /** Undefined until the response has ended. */
  stopReason: string | undefined;

  /** Returns the announced message. */
  begin(event: JsonObject): JsonObject {
    const message = memberOf(event, 'message');
    this.#reported = mergeUsage(this.#reported, memberOf(message, 'usage'));
    return message;
  }

  /** Takes a `message_delta` event. The usage is final only if a stop reason has arrived. */
  change(event: JsonObject): void {
    const usage = memberOf(event, 'usage');
    this.#reported = mergeUsage(this.#reported, usage);
    const reason = memberOf(event, 'delta').stop_reason;
    if (typeof reason === 'string') this.stopReason = reason;
    const isTold = Object.keys(usage).length > 0 && toTokenUsage(this.#reported) !== undefined;
    this.#isFinal = this.stopReason !== undefined && (this.#isFinal || isTold);
  }

  /** Undefined without a final usage. The counts of the announcement cover only the first token (BILL-10). */
  get usage(): TokenUsage | undefined {
    return this.#isFinal ? this.usageSoFar : undefined;
  }

  get usageSoFar(): TokenUsage | undefined {
    return toTokenUsage(this.#reported);
  }
}

interface NeutralStreamOptions {
  readonly toParam: ToParam;
  readonly refusalContext: RefusalContext;
}

interface OpenCall {
  readonly index: number;
  /** Arguments at the start of the block, which count if no others arrive. */
  input: string;
}

/**
 * Reads the stream for clients of another protocol. Drops thinking. A refusal after content ends the stream with
 * `content_filter`; without content or usage it is an error (CHAT-14).
 */
export const neutralReader = ({ toParam, refusalContext }: NeutralStreamOptions): StreamReader => {
  const tally = new MessageTally();
  const blocks = new Blocks();
  let isDone = false;
  return {
    take: (frame, out) => {
      switch (nameOf(frame)) {
        case 'error':
          throw toInBandError(readEvent(frame.data), refusalContext, toParam);
        case 'message_start':
          tally.begin(readEvent(frame.data));
          out.announce();
          break;
        case 'content_block_start':
          blocks.open(readExact(frame.data), out);
          break;
        case 'content_block_delta':
          blocks.add(readEvent(frame.data), out);
          break;
        case 'content_block_stop':
          blocks.close(readEvent(frame.data), out);
          break;
        case 'message_delta':
          tally.change(readEvent(frame.data));
          if (tally.stopReason === 'refusal' && !blocks.hasContent) throw filtered(tally.usage);
          break;
        case 'message_stop':
          isDone = true;
      }
    },
    get isDone() {
      return isDone;
    },
    get isWhole() {
      return tally.usage !== undefined;
    },
    get usageSoFar() {
      return tally.usageSoFar;
    },
    end: () => {
      const { usage, stopReason } = tally;
      if (stopReason === undefined || !(isDone || usage)) throw incomplete();
      if (stopReason === 'refusal' && !usage) throw filtered();
      return { kind: 'end', ending: { kind: 'neutral', finishReason: toFinishReason(stopReason) }, usage };
    },
  };
};

/**
 * Content blocks of one response. The provider numbers all blocks together, but the gateway numbers the calls
 * separately.
 */
class Blocks {
  readonly #calls = new Map<unknown, OpenCall>();
  /** Whether the client has received text or a call. */
  hasContent = false;

  open({ index: place, content_block: block }: JsonObject, out: WireBatch): void {
    if (!isJsonObject(block)) throw unreadable();
    if (block.type === 'text') this.#say(block.text, out);
    if (block.type !== 'tool_use') return;
    const { id, name, input } = block;
    if (typeof id !== 'string' || typeof name !== 'string') throw unreadable();
    const index = this.#calls.size;
    this.#calls.set(place, { index, input: isJsonObject(input) ? JSON.stringify(input) : '{}' });
    out.neutral({ kind: 'tool_call', index, id, name });
    this.hasContent = true;
  }

  add({ index: place, delta }: JsonObject, out: WireBatch): void {
    if (!isJsonObject(delta)) throw unreadable();
    if (delta.type === 'text_delta') this.#say(delta.text, out);
    const call = delta.type === 'input_json_delta' ? this.#calls.get(place) : undefined;
    if (!call || delta.partial_json === '') return;
    if (typeof delta.partial_json !== 'string') throw unreadable();
    call.input = '';
    out.neutral({ kind: 'tool_arguments', index: call.index, text: delta.partial_json });
  }

  /**
   * Sends arguments that came whole at the start of the block: https://github.com/Yeachan-Heo/gajae-code/pull/1895
   * (2026-07-09). They are `{}` for a call without arguments, because clients parse the arguments.
   */
  close({ index: place }: JsonObject, out: WireBatch): void {
    const call = this.#calls.get(place);
    if (call && call.input !== '') out.neutral({ kind: 'tool_arguments', index: call.index, text: call.input });
  }

  #say(text: unknown, out: WireBatch): void {
    if (typeof text !== 'string') throw unreadable();
    if (text === '') return;
    out.neutral({ kind: 'text', text });
    this.hasContent = true;
  }
}
