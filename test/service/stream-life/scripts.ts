import type { Wire } from '../../support/protocol-usage.ts';

/** Usage that a provider reports: missing, unreadable, or counts. */
export type ReportedUsage = 'missing' | 'unreadable' | TokenCounts;

export interface TokenCounts {
  readonly input: number;
  readonly output: number;
}

/** A stream of a provider. Places are numbers of events sent so far. */
export interface Script {
  readonly events: readonly string[];
  /** Words of the output, each with the place after it. */
  readonly words: readonly { readonly word: string; readonly place: number }[];
  /** Place after the finish reason. */
  readonly finished: number;
  /** Place after the final, countable usage. */
  readonly counted: number;
  /** Counts that every event before the final usage reports. */
  readonly running?: TokenCounts;
  /** Place after the provider's end event. Later events are not read. */
  readonly done: number;
  /** Event that reports a failure of the provider. */
  readonly error: string;
}

const NEVER = Number.POSITIVE_INFINITY;
const WORDS = 4;

interface Answer {
  readonly reported: ReportedUsage;
  readonly words: readonly string[];
}

/** Creates a script. `tag` makes its words unique; `padding` is the number of bytes added to each word. */
export const scriptOf = (wire: Wire, tag: string, reported: ReportedUsage, padding: readonly number[] = []): Script => {
  const sizes = padding.length > 0 ? padding : Array.from({ length: WORDS }, () => 0);
  const words = sizes.map((_, index) => `w${index}-${tag}`);
  return scripts[wire]({ reported, words: words.map((word, index) => `${word} ${'.'.repeat(sizes[index] ?? 0)}`) });
};

const placed = (words: readonly string[], before: number): Script['words'] =>
  words.map((text, index) => ({ word: text.split(' ')[0] ?? text, place: before + index + 1 }));

const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const named = (value: { readonly type: string }): string => `event: ${value.type}\n${data(value)}`;

const isCounted = (reported: ReportedUsage): boolean => typeof reported === 'object';

/** Source: https://platform.openai.com/docs/api-reference/chat-streaming */
const chat = ({ reported, words }: Answer): Script => {
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_794_873_600, model: 'vendor-model' };
  const choice = (delta: object, finish_reason: string | null) =>
    data({ ...head, choices: [{ index: 0, delta, finish_reason }], usage: null });
  const usage = usageIn(reported, (input, output) => ({ prompt_tokens: input, completion_tokens: output }));
  const events = [
    choice({ role: 'assistant', content: '' }, null),
    ...words.map((content) => choice({ content }, null)),
    choice({}, 'stop'),
    ...(usage ? [data({ ...head, choices: [], usage })] : []),
    'data: [DONE]\n\n',
  ];
  const finished = words.length + 2;
  return {
    events,
    words: placed(words, 1),
    finished,
    counted: isCounted(reported) ? finished + 1 : NEVER,
    done: events.length,
    error: data({ error: { message: 'It broke.', type: 'server_error', param: null, code: null } }),
  };
};

/**
 * https://platform.claude.com/docs/en/build-with-claude/streaming: message_start also has counts, but they are not
 * final.
 */
const messages = ({ reported, words }: Answer): Script => {
  const usage = usageIn(reported, (_, output) => ({ output_tokens: output }));
  const announced =
    reported === 'missing'
      ? { input_tokens: 7, output_tokens: 1 }
      : usageIn(reported, (input) => ({ input_tokens: input }));
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'vendor-model', content: [] };
  const start = { ...message, stop_reason: null, stop_sequence: null, usage: announced };
  const events = [
    named({ type: 'message_start', ...{ message: start } }),
    named({ type: 'ping' }),
    named({ type: 'content_block_start', ...{ index: 0, content_block: { type: 'text', text: '' } } }),
    ...words.map((text) =>
      named({ type: 'content_block_delta', ...{ index: 0, delta: { type: 'text_delta', text } } }),
    ),
    named({ type: 'content_block_stop', ...{ index: 0 } }),
    named({
      type: 'message_delta',
      ...{ delta: { stop_reason: 'end_turn', stop_sequence: null }, ...(usage ? { usage } : {}) },
    }),
    named({ type: 'message_stop' }),
  ];
  const finished = words.length + 5;
  return {
    events,
    words: placed(words, 3),
    finished,
    counted: isCounted(reported) ? finished : NEVER,
    done: events.length,
    error: named({ type: 'error', ...{ error: { type: 'api_error', message: 'It broke.' } } }),
  };
};

/** https://ai.google.dev/api/generate-content: each chunk has a running count, and no event ends the stream. */
const generateContent = ({ reported, words }: Answer): Script => {
  const running = { input: 7, output: 1 };
  const runningMetadata = { promptTokenCount: running.input, candidatesTokenCount: running.output };
  const usageMetadata = usageIn(reported, (input, output) => ({
    promptTokenCount: input,
    candidatesTokenCount: output,
  }));
  const chunk = (candidate: object, usage: object | undefined) =>
    data({
      candidates: [{ index: 0, ...candidate }],
      modelVersion: 'vendor-model',
      responseId: 'response-1',
      ...(usage ? { usageMetadata: usage } : {}),
    });
  const saying = (text: string) => ({ content: { role: 'model', parts: [{ text }] } });
  const events = [
    chunk({}, runningMetadata),
    ...words.map((text) => chunk(saying(text), runningMetadata)),
    chunk({ ...saying(''), finishReason: 'STOP' }, undefined),
    chunk({ finishReason: 'STOP' }, usageMetadata),
  ];
  return {
    events,
    words: placed(words, 1),
    finished: words.length + 2,
    counted: isCounted(reported) ? words.length + 3 : NEVER,
    running,
    done: NEVER,
    error: data({ error: { code: 500, message: 'It broke.', status: 'INTERNAL' } }),
  };
};

/** Source: https://developers.openai.com/api/reference/resources/responses/streaming-events */
const responses = ({ reported, words }: Answer): Script => {
  const body = { id: 'resp_1', object: 'response', created_at: 1_794_873_600, model: 'vendor-model', output: [] };
  const usage = usageIn(reported, (input, output) => ({ input_tokens: input, output_tokens: output }));
  const item = { id: 'msg_1', type: 'message', role: 'assistant', content: [] };
  const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  const part = { type: 'output_text', text: '', annotations: [] };
  const events = [
    { type: 'response.created', response: { ...body, status: 'in_progress', usage: null } },
    { type: 'response.in_progress', response: { ...body, status: 'in_progress', usage: null } },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress' } },
    { type: 'response.content_part.added', ...place, part },
    ...words.map((delta) => ({ type: 'response.output_text.delta', ...place, delta })),
    { type: 'response.output_text.done', ...place, text: '' },
    { type: 'response.content_part.done', ...place, part },
    { type: 'response.output_item.done', output_index: 0, item: { ...item, status: 'completed' } },
    { type: 'response.completed', response: { ...body, status: 'completed', usage: usage ?? null } },
  ].map((event, sequence_number) => named({ ...event, ...{ sequence_number } }));
  return {
    events,
    words: placed(words, 4),
    finished: events.length,
    counted: isCounted(reported) ? events.length : NEVER,
    done: events.length,
    error: named({ type: 'error', ...{ code: 'server_error', message: 'It broke.', param: null, sequence_number: 3 } }),
  };
};

const scripts: Readonly<Record<Wire, (answer: Answer) => Script>> = { chat, messages, generateContent, responses };

/** Builds a usage with the provider's names. Unreadable counts are words. */
const usageIn = (
  reported: ReportedUsage,
  names: (input: number, output: number) => Readonly<Record<string, number>>,
): object | undefined => {
  if (reported === 'missing') return undefined;
  if (reported !== 'unreadable') return names(reported.input, reported.output);
  return Object.fromEntries(Object.keys(names(0, 0)).map((name) => [name, 'many']));
};
