import type { Frame } from '../wire.ts';
import {
  type CallOutput,
  type MessageOutput,
  type OutputItem,
  type ReasoningOutput,
  toBegun,
  toFinished,
  toPart,
  toSummaryPart,
} from './responses-output.ts';

type Event = { readonly type: string } & Readonly<Record<string, unknown>>;

/** The response at its start and its end, and the event that reports the end. */
export type Course = {
  readonly begun: object;
  readonly ended: object;
  readonly ending: 'response.completed' | 'response.incomplete' | 'response.failed';
};

/** Events that are sent before the failure. */
const eventsBeforeFailure = 8;

/** Source: https://developers.openai.com/api/reference/resources/responses/streaming-events */
export function* streamFrames(
  items: readonly OutputItem[],
  { begun, ended, ending }: Course,
  obfuscated: boolean,
): Generator<Frame> {
  let sequence = 0;
  const frame = (event: Event, mark?: Frame['mark']): Frame => {
    const padded =
      obfuscated && typeof event.delta === 'string' ? { ...event, obfuscation: padding(event.delta) } : event;
    return { text: eventFrame({ ...padded, sequence_number: sequence++ }), mark };
  };
  yield frame({ type: 'response.created', response: begun });
  yield frame({ type: 'response.in_progress', response: begun });
  for (const event of outputEvents(items)) {
    if (ending === 'response.failed' && sequence === eventsBeforeFailure) break;
    yield frame(event);
  }
  yield frame({ type: ending, response: ended }, 'usage');
}

export function eventFrame(event: Event): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** The provider pads its deltas to a few lengths, so that their sizes do not reveal the text. */
function padding(delta: string): string {
  return 'simulated-padding'.slice(0, 16 - (delta.length % 16));
}

function* outputEvents(items: readonly OutputItem[]): Generator<Event> {
  for (const [index, item] of items.entries()) {
    yield { type: 'response.output_item.added', output_index: index, item: toBegun(item) };
    yield* itemEvents(item, { item_id: item.id, output_index: index });
    yield { type: 'response.output_item.done', output_index: index, item: toFinished(item) };
  }
}

type Place = { readonly item_id: string; readonly output_index: number };

function itemEvents(item: OutputItem, place: Place): Generator<Event> {
  switch (item.type) {
    case 'reasoning':
      return summaryEvents(item, place);
    case 'message':
      return messageEvents(item, place);
    case 'function_call':
      return callEvents(item, place);
    case 'custom_tool_call':
      return customCallEvents(item, place);
  }
}

function* summaryEvents({ summary }: ReasoningOutput, at: Place): Generator<Event> {
  if (summary.length === 0) return;
  const place = { ...at, summary_index: 0 };
  const part = toSummaryPart(summary);
  yield { type: 'response.reasoning_summary_part.added', ...place, part: toSummaryPart([]) };
  for (const delta of summary) yield { type: 'response.reasoning_summary_text.delta', ...place, delta };
  yield { type: 'response.reasoning_summary_text.done', ...place, text: part.text };
  yield { type: 'response.reasoning_summary_part.done', ...place, part };
}

function* messageEvents(item: MessageOutput, at: Place): Generator<Event> {
  const place = { ...at, content_index: 0 };
  const text = item.pieces.join('');
  yield { type: 'response.content_part.added', ...place, part: toPart(item, []) };
  for (const delta of item.pieces) {
    yield item.refused
      ? { type: 'response.refusal.delta', ...place, delta }
      : { type: 'response.output_text.delta', ...place, delta, logprobs: [] };
  }
  yield item.refused
    ? { type: 'response.refusal.done', ...place, refusal: text }
    : { type: 'response.output_text.done', ...place, text, logprobs: [] };
  yield { type: 'response.content_part.done', ...place, part: toPart(item, item.pieces) };
}

function* callEvents({ pieces, name }: CallOutput, place: Place): Generator<Event> {
  for (const delta of pieces) yield { type: 'response.function_call_arguments.delta', ...place, delta };
  yield { type: 'response.function_call_arguments.done', ...place, name, arguments: pieces.join('') };
}

function* customCallEvents({ pieces }: CallOutput, place: Place): Generator<Event> {
  for (const delta of pieces) yield { type: 'response.custom_tool_call_input.delta', ...place, delta };
  yield { type: 'response.custom_tool_call_input.done', ...place, input: pieces.join('') };
}
