import type { Answer, Frame, WireRequest } from '../wire.ts';
import { callOf } from './call.ts';
import { errorBody } from './error.ts';
import { type Reply, toChunks } from './reply.ts';

/** Streams events or the elements of a list. Events end with CRLF, and no end marker follows the last one. */
export function streamAnswer(reply: Reply, framing: 'sse' | 'array', usageAlone: boolean): Answer {
  const chunks = toChunks(reply, usageAlone);
  const hasUsage = reply.counts !== undefined;
  if (framing === 'sse')
    return { kind: 'stream', contentType: 'text/event-stream', frames: toEvents(chunks, hasUsage) };
  return { kind: 'stream', contentType: 'application/json; charset=UTF-8', frames: toElements(chunks, hasUsage) };
}

/**
 * Error in a stream that has started: an event, an element, or with `bare` plain JSON after the events. Sources:
 * https://github.com/diegosouzapw/OmniRoute/pull/4182, https://github.com/theopenco/llmgateway/pull/3616 (bare)
 */
export function errorElement(request: WireRequest, bare: boolean): string {
  const error = errorBody(503);
  if (callOf(request).framing === 'array') return `,\r\n${JSON.stringify(error)}]`;
  return bare ? JSON.stringify(error, null, 2) : `data: ${JSON.stringify(error)}\r\n\r\n`;
}

/** The last event has the final usage, and marks the end if there is no usage. */
function* toEvents(chunks: Iterable<object>, hasUsage: boolean): Generator<Frame> {
  for (const { chunk, isLast } of withLast(chunks)) {
    const mark = hasUsage ? 'usage' : 'end';
    yield { text: `data: ${JSON.stringify(chunk)}\r\n\r\n`, mark: isLast ? mark : undefined };
  }
}

function* toElements(chunks: Iterable<object>, hasUsage: boolean): Generator<Frame> {
  let separator = '[';
  for (const { chunk, isLast } of withLast(chunks)) {
    yield { text: `${separator}${JSON.stringify(chunk)}\n`, mark: isLast && hasUsage ? 'usage' : undefined };
    separator = ',\r\n';
  }
  yield { text: ']', mark: 'end' };
}

function* withLast(chunks: Iterable<object>): Generator<{ readonly chunk: object; readonly isLast: boolean }> {
  let held: object | undefined;
  for (const chunk of chunks) {
    if (held !== undefined) yield { chunk: held, isLast: false };
    held = chunk;
  }
  if (held !== undefined) yield { chunk: held, isLast: true };
}
