import * as z from 'zod';
import type { ReasoningTokens } from '../../core/catalog/providers.ts';
import type { Provider } from '../../core/catalog/schema.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../core/json.ts';
import type { TokenUsage } from '../../core/pricing/charge.ts';
import type { TextWire, WireAnswer, WireCall } from '../../core/text/text-wire.ts';
import { mergeUsage } from '../merge-usage.ts';
import { readJsonText, tokenCount } from '../read-json.ts';
import { type StreamReader, toWireStream } from '../read-stream.ts';
import { filtered, incomplete, type RefusalContext, unreadable, withoutOutput } from '../refusals.ts';
import { topLevelString } from '../top-level-member.ts';
import type { UpstreamResponse } from '../upstream-http.ts';
import { callVendor, type WireOptions } from '../vendor-call.ts';
import { parseRefusal, toInBandError, toOpenaiError } from './errors.ts';
import { reasoningTokensOf, toDisjointCounts } from './token-usage.ts';

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
 * written to a cache, `completion_tokens` includes reasoning. Some servers report reasoning beside it, as xAI does:
 * https://docs.x.ai/docs/key-information/consumption-and-rate-limits
 */
const chatUsage = z.object({
  prompt_tokens: tokenCount,
  completion_tokens: tokenCount,
  total_tokens: tokenCount,
  prompt_tokens_details: z.object({ cached_tokens: tokenCount, cache_write_tokens: tokenCount }).nullish().catch(null),
  completion_tokens_details: z.object({ reasoning_tokens: tokenCount }).nullish().catch(null),
});

/** Undefined if the provider reported no usage or none that can be counted. */
export const toTokenUsage = (reported: unknown, reasoningTokens?: ReasoningTokens): TokenUsage | undefined => {
  const { data } = chatUsage.safeParse(reported);
  if (!data) return undefined;
  const counts = {
    prompt: data.prompt_tokens,
    completion: data.completion_tokens,
    total: data.total_tokens,
    cached: data.prompt_tokens_details?.cached_tokens,
    cacheWrite: data.prompt_tokens_details?.cache_write_tokens,
    reasoning: data.completion_tokens_details?.reasoning_tokens,
  };
  return toDisjointCounts(counts, reasoningTokens);
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
  /** Usage of all chunks so far. */
  reportedUsage: JsonObject | undefined;

  constructor(options: ChatStreamOptions) {
    this.#options = options;
    this.#ourModel = JSON.stringify(options.modelId);
  }

  get usage(): TokenUsage | undefined {
    return this.#toUsage(this.reportedUsage);
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
    for (const choice of finishing) this.#finished.add(choice.index);
    if (usage) this.#count(usage, choices.length === 0);
    if (this.isBlocked && this.opening) throw filtered(this.usage);
    if (finishing.length === 0) return choices.length === 0 && usage ? undefined : this.#withOurModel(data);
    const all = this.allFinished;
    this.#last = { ...body, model: this.#options.modelId, ...(all ? {} : { choices: [] }) };
    return all ? undefined : this.#withOurModel(data);
  }

  #count(usage: JsonObject, withoutChoices: boolean): void {
    this.reportedUsage = this.reportedUsage ? mergeUsage(this.reportedUsage, usage) : usage;
    // A usage that cannot be counted adds nothing.
    if (!this.#toUsage(usage)) return;
    this.usageIsFinal = this.allFinished || (withoutChoices && this.#finished.size > 0);
  }

  #toUsage(reported: JsonObject | undefined): TokenUsage | undefined {
    return toTokenUsage(reported, this.#options.reasoningTokens);
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
  readonly reasoningTokens?: ReasoningTokens | undefined;
}

/**
 * Reads the provider's event stream. Events pass unchanged, and only those that show how it ends are parsed. A stream
 * is complete if its usage has arrived, or if it ended with `[DONE]` after a finish reason (BILL-9, BILL-10).
 */
export const chatReader = (options: ChatStreamOptions): StreamReader => {
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
    get usageSoFar() {
      return chunks.usage;
    },
    end: () => {
      const { held, reportedUsage, usage, isBlocked } = chunks;
      if (isBlocked && !usage) throw filtered();
      if (!held || !(chunks.usageIsFinal || (isDone && chunks.allFinished))) throw incomplete();
      return { kind: 'end', ending: { kind: 'deferred', event: held, reportedUsage }, usage };
    },
  };
};

const choices = z.array(z.object({ finish_reason: z.string().nullish() }));

/** Creates the wire for chat completions of OpenAI and of every compatible server. */
export const createChatWire = (options: WireOptions): TextWire => ({
  buildCall: (call) => ({
    send: async ({ outputTokensMax, signal }) => {
      const { stream, choices: wanted } = call.request;
      const reasoningTokens = reasoningTokensOf(call.provider);
      const { response, refusalContext } = await callVendor(options, {
        provider: call.provider,
        path: '/chat/completions',
        body: toChatBody(call, outputTokensMax),
        streamed: stream,
        signal,
        refuse: (status, body, context) => toOpenaiError(status, parseRefusal(body), context),
      });
      if (!stream) return await toAnswer(response, refusalContext, reasoningTokens);
      const reader = chatReader({ modelId: call.model.id, choices: wanted, refusalContext, reasoningTokens });
      return toWireStream(response, reader);
    },
  }),
});

const toAnswer = async (
  response: UpstreamResponse,
  refusalContext: RefusalContext,
  reasoningTokens: ReasoningTokens | undefined,
): Promise<WireAnswer> => {
  const { text, value: body } = await readJsonText(response);
  if (!isJsonObject(body)) throw unreadable();
  if (isJsonObject(body.error)) throw toInBandError(parseRefusal(body), refusalContext);
  const listed = choices.safeParse(body.choices);
  if (!listed.success) throw unreadable();
  const usage = toTokenUsage(body.usage, reasoningTokens);
  if (listed.data.length === 0) throw withoutOutput(usage);
  if (listed.data.some((choice) => choice.finish_reason === 'content_filter')) throw filtered(usage);
  return { kind: 'answer', content: { kind: 'native', text, body }, usage };
};
