import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { Reader, Reading, ServiceError } from './reading.ts';

/** Shows a chat completion or a response of the Responses API. Returns whether the response is complete. */
export const readText = (response: Response, reader: Reader): Promise<boolean> => {
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  return isStream ? readEvents(response, reader) : readWhole(response, reader);
};

const readWhole = async (response: Response, { show, elapsed }: Reader): Promise<boolean> => {
  show({ firstByteMs: elapsed() });
  const body: WholeBody = await response.json();
  const parts = body.output?.flatMap(({ content }) => content ?? []) ?? [];
  const text = body.choices?.[0]?.message?.content ?? parts.map((part) => part.text ?? '').join('');
  show({ text, ...usageOf(body.usage) });
  return true;
};

interface WholeBody {
  readonly choices?: readonly { readonly message?: { readonly content?: string | null } }[];
  readonly output?: readonly { readonly content?: readonly { readonly text?: string }[] }[];
  readonly usage?: WireUsage | null;
}

/** Usage of a chat completion (`prompt_tokens`) or of a response (`input_tokens`). */
interface WireUsage {
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly cost_usd?: string;
}

const usageOf = (usage: WireUsage | null | undefined): Partial<Reading> => {
  if (!usage) return {};
  const inputTokens = usage.prompt_tokens ?? usage.input_tokens ?? 0;
  const outputTokens = usage.completion_tokens ?? usage.output_tokens ?? 0;
  return { usage: { inputTokens, outputTokens }, ...(usage.cost_usd && { costUsd: usage.cost_usd }) };
};

/** A chunk of a chat completion, or an event of a response. */
interface StreamEvent {
  readonly choices?: readonly { readonly delta?: { readonly content?: string | null } }[];
  readonly type?: string;
  readonly delta?: string;
  readonly response?: { readonly usage?: WireUsage | null; readonly error?: ServiceError | null };
  readonly usage?: WireUsage | null;
  readonly error?: ServiceError | null;
  readonly code?: string;
  readonly message?: string;
}

const readEvents = async ({ body }: Response, { show, elapsed }: Reader): Promise<boolean> => {
  if (!body) return false;
  const events = body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream()).getReader();
  let text = '';
  let firstByteMs: number | undefined;
  for (;;) {
    const { value, done } = await events.read();
    if (done) {
      show({ error: { code: 'cut', message: 'The stream ended before its proper end.' } });
      return false;
    }
    if (value.data === '[DONE]') return true;
    const event: StreamEvent = JSON.parse(value.data);
    firstByteMs ??= elapsed();
    text += textOf(event);
    show({ state: 'streaming', text, firstByteMs, ...usageOf(event.usage ?? event.response?.usage) });
    const error = errorOf(event);
    if (error) show({ error });
    if (error || isEnd(event)) return !error;
  }
};

const textOf = ({ choices, type, delta }: StreamEvent): string =>
  choices?.[0]?.delta?.content ?? (type === 'response.output_text.delta' ? delta : undefined) ?? '';

const errorOf = ({ type, error, response, code = 'error', message = '' }: StreamEvent): ServiceError | undefined =>
  error ?? response?.error ?? (type === 'error' ? { code, message } : undefined);

/** A response has no `[DONE]`: it ends with an event. One that meets the token limit is incomplete, but charged. */
const isEnd = ({ type }: StreamEvent): boolean => type === 'response.completed' || type === 'response.incomplete';
