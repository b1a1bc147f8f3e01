import type { Frame } from '../wire.ts';
import type { AnswerBlock } from './answer-blocks.ts';
import type { Usage } from './usage.ts';

export type Ending = {
  readonly ending: object;
  /** Result of context editing, if the request has `context_management`. */
  readonly edits: object | undefined;
};

/** https://platform.claude.com/docs/en/build-with-claude/streaming; `usage` is undefined if the scenario omits it. */
export function* streamFrames(
  message: object,
  { ending, edits }: Ending,
  blocks: readonly AnswerBlock[],
  usage: Usage | undefined,
): Generator<Frame> {
  const opening = usage === undefined ? {} : { usage: toOpeningUsage(usage) };
  const unended = { content: [], stop_reason: null, stop_sequence: null, stop_details: null };
  yield frame('message_start', { message: { ...message, ...unended, ...opening } });
  if (blocks.length === 0) yield frame('ping', {});
  for (const [index, { start, deltas }] of blocks.entries()) {
    yield frame('content_block_start', { index, content_block: start });
    if (index === 0) yield frame('ping', {});
    for (const delta of deltas) yield frame('content_block_delta', { index, delta });
    yield frame('content_block_stop', { index });
  }
  const closing = usage === undefined ? {} : { usage: toClosingUsage(usage) };
  yield frame('message_delta', { delta: { ...ending, container: null }, ...edits, ...closing }, 'usage');
  yield frame('message_stop', {}, 'end');
}

/** Usage at the start of the output. */
function toOpeningUsage({ output_tokens_details: _, ...usage }: Usage) {
  return { ...usage, output_tokens: Math.min(1, usage.output_tokens), output_tokens_details: null };
}

/** Cumulative usage, without the split of cache writes. */
function toClosingUsage(usage: Usage) {
  const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens } = usage;
  const { output_tokens, output_tokens_details, server_tool_use } = usage;
  return {
    input_tokens,
    cache_creation_input_tokens,
    cache_read_input_tokens,
    output_tokens,
    output_tokens_details,
    server_tool_use,
  };
}

function frame(type: string, fields: object, mark?: Frame['mark']): Frame {
  return { text: `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`, mark };
}
