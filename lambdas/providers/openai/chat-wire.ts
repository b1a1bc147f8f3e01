import * as z from 'zod';
import type { Provider } from '../../core/catalog/schema.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../core/json.ts';
import type { TokenUsage } from '../../core/pricing/charge.ts';
import type { TextWire, WireAnswer, WireCall, WireEvent } from '../../core/text/text-wire.ts';
import { readJsonText, tokenCount } from '../read-json.ts';
import { readStream, type StreamReader } from '../read-stream.ts';
import { filtered, incomplete, type RefusalContext, unreadable } from '../refusals.ts';
import { topLevelString } from '../top-level-member.ts';
import type { UpstreamResponse } from '../upstream-http.ts';
import { callVendor, type WireOptions } from '../vendor-call.ts';
import { parseRefusal, toInBandError, toOpenaiError } from './errors.ts';

/**
 * Client's body with a few changes (BILL-6): the provider's name of the model, the cap of the hold in the field that
 * this provider reads, usage on streams, and no storing. https://platform.openai.com/docs/api-reference/chat/create
 */
export const toChatBody = ({ request, upstream, provider }: WireCall, outputTokensMax: number): JsonObject => {
  const { max_tokens, max_completion_tokens, stream_options: options, ...body } = request.body;
  return {
    ...body,
    model: upstream.model,
    [capField(provider)]: outputTokensMax,
    // Conversations must not be stored. Other servers may not know the field.
    ...(provider.kind === 'openai' ? { store: false } : {}),
    ...(request.stream ? { stream_options: { ...(isJsonObject(options) ? options : {}), include_usage: true } } : {}),
  };
};

const capField = (provider: Provider): string =>
  'outputCapField' in provider ? provider.outputCapField : 'max_tokens';

/**
 * https://platform.openai.com/docs/api-reference/chat/object: `prompt_tokens` includes tokens that were read from or
 * written to a cache, `completion_tokens` includes reasoning.
 */
const chatUsage = z.object({
  prompt_tokens: tokenCount,
  completion_tokens: tokenCount,
  prompt_tokens_details: z.object({ cached_tokens: tokenCount, cache_write_tokens: tokenCount }).nullish().catch(null),
  completion_tokens_details: z.object({ reasoning_tokens: tokenCount }).nullish().catch(null),
});

/** Undefined if the provider reported no usage or none that can be counted. */
export const toTokenUsage = (reported: unknown): TokenUsage | undefined => {
  const parsed = chatUsage.safeParse(reported);
  if (!parsed.success) return undefined;
  if ((parsed.data.prompt_tokens ?? parsed.data.completion_tokens ?? undefined) === undefined) return undefined;
  const prompt = parsed.data.prompt_tokens ?? 0;
  const completion = parsed.data.completion_tokens ?? 0;
  const cacheRead = Math.min(parsed.data.prompt_tokens_details?.cached_tokens ?? 0, prompt);
  const cacheWrite = Math.min(parsed.data.prompt_tokens_details?.cache_write_tokens ?? 0, prompt - cacheRead);
  const reasoning = Math.min(parsed.data.completion_tokens_details?.reasoning_tokens ?? 0, completion);
  return {
    input: prompt - cacheRead - cacheWrite,
    cacheRead,
    cacheWrite,
    cacheWrite1h: 0,
    output: completion - reasoning,
    reasoning,
  };
};

/**
 * Matches a finish reason, a usage or an error that is not null. It cannot match inside a string value, where quotes
 * are escaped.
 */
const decisive = /"(?:finish_reason|usage|error)"\s*:(?!\s*null)/;

/** Source: https://platform.openai.com/docs/api-reference/chat/streaming */
const chunk = z.object({
  choices: z
    .array(
      z.object({
        index: z.int().catch(0),
        delta: z.record(z.string(), z.unknown()).catch({}),
        finish_reason: z.string().nullish(),
      }),
    )
    .catch([]),
  error: z.unknown().optional(),
});

const saysNothing = (delta: Readonly<Record<string, unknown>>): boolean =>
  Object.entries(delta).every(([name, value]) => name === 'role' || value === '' || value === null);

/**
 * Chunks of one response: forwards them with the gateway's model id, holds the last one back for the end, and collects
 * the provider's usage.
 */
export class ChatChunks {
  readonly #options: ChatStreamOptions;
  readonly #ourModel: string;
  readonly #finished = new Set<number>();
  #begun = false;
  /** Start of the latest chunk up to the end of its model, and the text that replaces it. */
  #head = '';
  #ourHead = '';
  #last: JsonObject | undefined;
  /** Whether the response has only been announced so far. */
  opening = true;
  /** Whether the provider's filter stopped a choice (CHAT-14). */
  isBlocked = false;
  /**
   * Whether the usage is final. Some servers report a running usage on every chunk, which counts once nothing can be
   * added to it.
   */
  usageIsFinal = false;
  reportedUsage: JsonObject | undefined;
  usage: TokenUsage | undefined;

  constructor(options: ChatStreamOptions) {
    this.#options = options;
    this.#ourModel = JSON.stringify(options.modelId);
  }

  get allFinished(): boolean {
    return this.#finished.size >= this.#options.choices;
  }

  /**
   * Last chunk, which is sent together with the usage: the chunk with the last finish reason, or an empty chunk if a
   * choice has no finish reason.
   */
  get held(): JsonObject | undefined {
    return this.#last;
  }

  /**
   * Returns the chunk to forward now, or undefined if the chunk is held back. All chunks of one response have the same
   * start up to their model, so this start is only compared, and only the rest is searched. (`startsWith` takes six
   * times as long as slicing and comparing.)
   */
  take(data: string): string | undefined {
    // Before its first content, every chunk is parsed: a block then is an error.
    if (this.opening || !this.#begun) return this.#takeParsed(data);
    if (this.#head !== '' && data.slice(0, this.#head.length) === this.#head) {
      const rest = data.slice(this.#head.length);
      if (decisive.test(rest)) return this.#takeParsed(data);
      return this.#ourHead + (rest.includes('\n') ? onOneLine(rest) : rest);
    }
    return decisive.test(data) ? this.#takeParsed(data) : this.#withOurModel(data);
  }

  #takeParsed(data: string): string | undefined {
    const body = readObject(data);
    const { choices, error } = chunk.parse(body);
    const usage = isJsonObject(body.usage) ? body.usage : undefined;
    if (error !== undefined && error !== null)
      throw toInBandError(parseRefusal({ error }), this.#options.refusalContext);
    this.opening &&= choices.every(({ delta }) => saysNothing(delta));
    this.#begun = true;
    const finishing = choices.filter((choice) => choice.finish_reason);
    this.isBlocked ||= finishing.some((choice) => choice.finish_reason === 'content_filter');
    if (this.isBlocked && this.opening) throw filtered(usage && toTokenUsage(usage));
    for (const choice of finishing) this.#finished.add(choice.index);
    this.#count(usage, choices.length === 0);
    if (finishing.length === 0) return choices.length === 0 && usage ? undefined : this.#withOurModel(data);
    const all = this.allFinished;
    this.#last = { ...body, model: this.#options.modelId, ...(all ? {} : { choices: [] }) };
    return all ? undefined : this.#withOurModel(data);
  }

  #count(usage: JsonObject | undefined, withoutChoices: boolean): void {
    if (!usage) return;
    const counted = toTokenUsage(usage);
    // A usage that cannot be counted does not replace an earlier one that can.
    if (!counted && this.usage) return;
    this.reportedUsage = usage;
    this.usage = counted;
    this.usageIsFinal = this.usage !== undefined && (this.allFinished || (withoutChoices && this.#finished.size > 0));
  }

  /** Replaces only the value of the chunk's own `model`, and only if it differs (CHAT-11). */
  #withOurModel(data: string): string {
    const line = onOneLine(data);
    const span = topLevelString(line, 'model');
    if (!span) return JSON.stringify({ ...readObject(line), model: this.#options.modelId });
    const head = line.slice(0, span.end);
    const ourHead = `${line.slice(0, span.start)}${this.#ourModel}`;
    if (!decisive.test(head)) {
      this.#head = head;
      this.#ourHead = ourHead;
    }
    return `${ourHead}${line.slice(span.end)}`;
  }
}

const onOneLine = (data: string): string => data.replaceAll('\n', ' ');

const readObject = (data: string): JsonObject => {
  try {
    const value = parseJson(data);
    if (isJsonObject(value)) return value;
  } catch {}
  throw unreadable();
};

export interface ChatStreamOptions {
  /** Model id that the client sees. */
  readonly modelId: string;
  readonly choices: number;
  readonly refusalContext: RefusalContext;
}

/**
 * Reads the provider's event stream. Events pass unchanged, and only those that show how it ends are parsed. A stream
 * is complete if its usage has arrived, or if it ended with `[DONE]` after a finish reason (BILL-9, BILL-10).
 */
export const readChatStream = (
  body: AsyncIterable<Uint8Array>,
  options: ChatStreamOptions,
): AsyncGenerator<WireEvent, void> => readStream(body, chatReader(options));

const chatReader = (options: ChatStreamOptions): StreamReader => {
  const chunks = new ChatChunks(options);
  let isDone = false;
  return {
    take: ({ data }, out) => {
      if (data === '[DONE]') {
        isDone = true;
        return;
      }
      const event = chunks.take(data);
      if (event !== undefined) out.native(event, chunks.opening);
    },
    get isDone() {
      return isDone;
    },
    get isWhole() {
      return chunks.usageIsFinal;
    },
    end: () => {
      const { held, reportedUsage, usage, isBlocked } = chunks;
      if (isBlocked && !usage) throw filtered();
      if (!held || !(chunks.usageIsFinal || (isDone && chunks.allFinished))) throw incomplete();
      return { kind: 'end', ending: { kind: 'deferred', event: held, reportedUsage }, usage };
    },
  };
};

const choices = z.array(z.object({ finish_reason: z.string().nullish() })).min(1);

/** Creates the wire for chat completions of OpenAI and of every compatible server. */
export const createChatWire = (options: WireOptions): TextWire => ({
  buildCall: (call) => ({
    send: async ({ outputTokensMax, signal }) => {
      const { stream, choices: wanted } = call.request;
      const { response, refusalContext } = await callVendor(options, {
        provider: call.provider,
        path: '/chat/completions',
        body: toChatBody(call, outputTokensMax),
        streamed: stream,
        signal,
        refuse: (status, body, context) => toOpenaiError(status, parseRefusal(body), context),
      });
      if (!stream) return await toAnswer(response, refusalContext);
      const events = readChatStream(response.body, { modelId: call.model.id, choices: wanted, refusalContext });
      return { kind: 'stream', events, close: response.discard };
    },
  }),
});

const toAnswer = async (response: UpstreamResponse, refusalContext: RefusalContext): Promise<WireAnswer> => {
  const { text, value: body } = await readJsonText(response);
  if (isJsonObject(body) && isJsonObject(body.error)) throw toInBandError(parseRefusal(body), refusalContext);
  const listed = isJsonObject(body) ? choices.safeParse(body.choices) : undefined;
  if (!isJsonObject(body) || !listed?.success) throw unreadable();
  if (listed.data.some((choice) => choice.finish_reason === 'content_filter')) {
    throw filtered(toTokenUsage(body.usage));
  }
  return { kind: 'answer', content: { kind: 'native', text, body }, usage: toTokenUsage(body.usage) };
};
