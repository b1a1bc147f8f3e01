import type { ComposedCall } from '../compose.ts';
import type { Frame } from '../wire.ts';
import type { Choice } from './chat-choice.ts';
import { toLogprobs, toToolCallId } from './chat-fields.ts';
import type { ChatRequest } from './chat-request.ts';

/** Members of every chunk of a response. */
export type ChatHead = {
  readonly id: string;
  readonly created: number;
  readonly model: string;
  readonly service_tier: string;
  readonly system_fingerprint: string;
};

/** Yields the chunks of all choices, each finish after its last piece, then the usage if requested, then `[DONE]`. */
export function* streamFrames(
  head: ChatHead,
  choices: readonly Choice[],
  request: ChatRequest,
  usage: unknown,
): Generator<Frame> {
  const includeUsage = request.stream_options?.include_usage === true;
  // With include_usage every chunk has the field, null until the last one; without it none has.
  const usageField = includeUsage ? { usage: null } : {};
  const frame = (fields: object, mark?: Frame['mark']): Frame => ({
    text: `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...fields })}\n\n`,
    mark,
  });
  for (const { index, delta, piece, finishReason } of interleave(choices)) {
    const logprobs = piece === undefined ? null : (toLogprobs([piece], request) ?? null);
    yield frame({ choices: [{ index, delta, logprobs, finish_reason: finishReason ?? null }], ...usageField });
  }
  if (includeUsage && usage !== undefined) yield frame({ choices: [], usage }, 'usage');
  yield { text: 'data: [DONE]\n\n', mark: 'end' };
}

type Step = {
  readonly index: number;
  readonly delta: object;
  /** Text of a content delta. */
  readonly piece?: string;
  readonly finishReason?: Choice['finishReason'];
};

/** Several choices advance side by side, one delta each in turn, as the provider sends them. */
function* interleave(choices: readonly Choice[]): Generator<Step> {
  let running = choices.map((choice, index) => ({ index, steps: choiceSteps(choice) }));
  while (running.length > 0) {
    const still: typeof running = [];
    for (const lane of running) {
      const next = lane.steps.next();
      if (next.done) continue;
      yield { index: lane.index, ...next.value };
      still.push(lane);
    }
    running = still;
  }
}

function* choiceSteps(choice: Choice): Generator<Omit<Step, 'index'>> {
  const { content, refused, toolCalls, finishReason } = choice;
  const [onlyCall, ...others] = toolCalls;
  if (onlyCall === undefined) {
    yield { delta: { role: 'assistant', content: '', refusal: null } };
    for (const piece of content) yield refused ? { delta: { refusal: piece } } : { delta: { content: piece }, piece };
  } else if (others.length === 0) {
    yield* toolCallSteps(onlyCall, 0, { role: 'assistant', content: null });
  } else {
    yield { delta: { role: 'assistant', content: null } };
    for (const [index, call] of toolCalls.entries()) yield* toolCallSteps(call, index, {});
  }
  yield { delta: {}, finishReason };
}

/** Name and id come once, with empty arguments. The fragments after them have only the index. */
function* toolCallSteps(call: ComposedCall, index: number, opening: object): Generator<Omit<Step, 'index'>> {
  const start = { index, id: toToolCallId(), type: 'function', function: { name: call.name, arguments: '' } };
  yield { delta: { ...opening, tool_calls: [start] } };
  for (const piece of call.argumentPieces) {
    yield { delta: { tool_calls: [{ index, function: { arguments: piece } }] } };
  }
}
