import * as z from 'zod';
import { isJsonObject, type JsonObject, parseJson } from '../../core/json.ts';
import type { TokenUsage } from '../../core/pricing/charge.ts';
import { filtered, unreadable } from '../refusals.ts';
import { topLevelString } from '../top-level-member.ts';
import type { ChatStreamOptions } from './chat-stream.ts';
import { toTokenUsage } from './chat-usage.ts';
import { parseRefusal, toInBandError } from './errors.ts';

/** A finish reason, a usage or an error that is not null. Inside a string value its quotes would be escaped. */
const decisive = /"(?:finish_reason|usage|error)"\s*:(?!\s*null)/;

/** https://platform.openai.com/docs/api-reference/chat/streaming */
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

/** The chunks of one answer: which pass as they are, which one is held back for the end, and what the vendor counted. */
export class ChatChunks {
  readonly #options: ChatStreamOptions;
  readonly #ourModel: string;
  readonly #finished = new Set<number>();
  #begun = false;
  /** How the latest chunk began, up to the end of its model, and what goes out instead. */
  #head = '';
  #ourHead = '';
  #last: JsonObject | undefined;
  /** So far the answer has only been announced. */
  opening = true;
  /** Some servers report a running usage on every chunk: it counts once nothing can be added to it. */
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

  /** What goes out with the usage: the last finish reason, or an empty chunk when not all of the answers gave one. */
  get held(): JsonObject | undefined {
    return this.#last;
  }

  /**
   * The chunk as it is to be sent on now, if it is. Chunks of one answer begin alike: as far as their model they are compared, and
   * only what follows is looked through. (`startsWith` takes six times as long as cutting and comparing.)
   */
  take(data: string): string | undefined {
    if (this.#head !== '' && data.slice(0, this.#head.length) === this.#head) {
      const rest = data.slice(this.#head.length);
      if (decisive.test(rest)) return this.#takeParsed(data);
      this.opening = false;
      return this.#ourHead + (rest.includes('\n') ? onOneLine(rest) : rest);
    }
    if (!this.#begun || decisive.test(data)) return this.#takeParsed(data);
    this.opening = false;
    return this.#withOurModel(data);
  }

  #takeParsed(data: string): string | undefined {
    const body = readObject(data);
    const { choices, error } = chunk.parse(body);
    const usage = isJsonObject(body.usage) ? body.usage : undefined;
    if (error !== undefined && error !== null) throw toInBandError(parseRefusal({ error }), this.#options.told);
    this.opening &&= choices.every(({ delta }) => saysNothing(delta));
    this.#begun = true;
    const finishing = choices.filter((choice) => choice.finish_reason);
    if (finishing.some((choice) => choice.finish_reason === 'content_filter')) throw filtered();
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
    // What cannot be counted takes nothing away from what could be.
    if (!counted && this.usage) return;
    this.reportedUsage = usage;
    this.usage = counted;
    this.usageIsFinal = this.usage !== undefined && (this.allFinished || (withoutChoices && this.#finished.size > 0));
  }

  /** Only the value of the chunk's own `model` is replaced, and only where it differs (CHAT-11). */
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
