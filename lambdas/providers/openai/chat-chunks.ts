import * as z from 'zod';
import { GatewayError } from '../../core/errors/gateway-error.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../core/json.ts';
import type { TokenUsage } from '../../core/pricing/token-usage.ts';
import type { ChatStreamOptions } from './chat-stream.ts';
import { toTokenUsage } from './chat-usage.ts';
import { parseRefusal, toInBandError } from './errors.ts';

/** A finish reason, a usage or an error that is not null. Inside a string value its quotes would be escaped. */
const decisive = /"(?:finish_reason|usage|error)"\s*:(?!\s*null)/;
const modelMember = /"model"\s*:\s*"((?:[^"\\]|\\.)*)"/;

/** https://platform.openai.com/docs/api-reference/chat/streaming */
const chunk = z.object({
  choices: z.array(z.object({ index: z.int().catch(0), finish_reason: z.string().nullish() })).catch([]),
  error: z.unknown().optional(),
});

/** The chunks of one answer: which pass as they are, which one is held back for the end, and what the vendor counted. */
export class ChatChunks {
  readonly #options: ChatStreamOptions;
  readonly #finished = new Set<number>();
  #theirModel: string | undefined;
  #usageWithoutChoices = false;
  held: JsonObject | undefined;
  reportedUsage: JsonObject | undefined;
  usage: TokenUsage | undefined;

  constructor(options: ChatStreamOptions) {
    this.#options = options;
  }

  /** Some servers report a running usage on every chunk: it counts once nothing can be added to it. */
  get usageIsFinal(): boolean {
    if (!this.usage || !this.held) return false;
    return this.#usageWithoutChoices || this.#finished.size >= this.#options.choices;
  }

  /** What to send on now, if anything: the chunk, preceded by one that was held back and turned out not to be the last. */
  take(data: string): string[] {
    if (this.#theirModel === undefined || decisive.test(data)) return this.#takeParsed(data);
    return [this.#withOurModel(data)];
  }

  #takeParsed(data: string): string[] {
    const body = readObject(data);
    const { choices, error } = chunk.parse(body);
    const usage = isJsonObject(body.usage) ? body.usage : undefined;
    if (error !== undefined && error !== null) throw toInBandError(parseRefusal({ error }), this.#options.told);
    this.#theirModel ??= modelMember.exec(data)?.[0] ?? '';
    this.#count(usage, choices.length === 0);
    const finishing = choices.filter((choice) => choice.finish_reason);
    if (finishing.some((choice) => choice.finish_reason === 'content_filter')) throw filtered();
    if (finishing.length === 0) return choices.length === 0 && usage ? [] : [this.#withOurModel(data)];
    for (const choice of finishing) this.#finished.add(choice.index);
    const before = this.held;
    this.held = { ...body, model: this.#options.modelId };
    return before ? [JSON.stringify(before)] : [];
  }

  #count(usage: JsonObject | undefined, withoutChoices: boolean): void {
    if (!usage) return;
    this.reportedUsage = usage;
    this.usage = toTokenUsage(usage);
    this.#usageWithoutChoices ||= withoutChoices;
  }

  #withOurModel(data: string): string {
    const ours = `"model":${JSON.stringify(this.#options.modelId)}`;
    const line = data.includes('\n') ? data.replaceAll('\n', ' ') : data;
    if (line.includes(ours)) return line;
    if (this.#theirModel && line.includes(this.#theirModel)) return line.replace(this.#theirModel, () => ours);
    return JSON.stringify({ ...readObject(line), model: this.#options.modelId });
  }
}

const readObject = (data: string): JsonObject => {
  try {
    const value = parseJson(data);
    if (isJsonObject(value)) return value;
  } catch {}
  throw unreadable();
};

const unreadable = (): GatewayError =>
  new GatewayError('upstream_error', 'The model sent something unreadable. Nothing was charged.');

const filtered = (): GatewayError =>
  new GatewayError('content_filter', 'The answer was stopped by the safety filter of the vendor. Nothing was charged.');
