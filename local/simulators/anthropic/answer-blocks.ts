import type { Composed, ComposedCall } from '../compose.ts';
import { isRecord } from '../json-sample.ts';
import { splitTokens } from '../tokens.ts';
import { signatureOf } from './signature.ts';

/** Block of a response, complete and as streamed deltas. */
export type AnswerBlock = {
  readonly whole: object;
  readonly start: object;
  readonly deltas: readonly object[];
};

/**
 * Returns the blocks: thinking first, then text or tool calls. A response that is blocked at the start has no block.
 */
export function toAnswerBlocks(
  composed: Composed,
  shown: 'omitted' | 'summarized' | undefined,
  wholeInput = false,
): readonly AnswerBlock[] {
  const { content, toolCalls, reasoningTokens } = composed;
  if (composed.ending === 'blocked' && content.length === 0) return [];
  const thinks = shown !== undefined && reasoningTokens > 0;
  return [
    ...(thinks ? [toThinkingBlock(shown === 'omitted' ? '' : summary)] : []),
    ...(content.length > 0 ? [toTextBlock(content)] : []),
    ...toolCalls.map((call) => toToolUseBlock(call, wholeInput)),
  ];
}

const summary = 'The request is simple; a simulated answer will do.';

function toThinkingBlock(thinking: string): AnswerBlock {
  const signature = signatureOf(thinking);
  const pieces = splitTokens(thinking).map((piece) => ({ type: 'thinking_delta', thinking: piece }));
  return {
    whole: { type: 'thinking', thinking, signature },
    start: { type: 'thinking', thinking: '', signature: '' },
    deltas: [...pieces, { type: 'signature_delta', signature }],
  };
}

function toTextBlock(pieces: readonly string[]): AnswerBlock {
  return {
    whole: { type: 'text', text: pieces.join('') },
    start: { type: 'text', text: '' },
    deltas: pieces.map((text) => ({ type: 'text_delta', text })),
  };
}

/**
 * The first fragment is empty, as at the provider. Compatible servers send the input whole:
 * https://github.com/Yeachan-Heo/gajae-code/pull/1895 (2026-07-09)
 */
function toToolUseBlock({ name, argumentPieces }: ComposedCall, wholeInput: boolean): AnswerBlock {
  const id = `toolu_${crypto.randomUUID().replaceAll('-', '').slice(0, 24)}`;
  const head = { type: 'tool_use', id, name, caller: { type: 'direct' } };
  const whole = { ...head, input: toInput(argumentPieces.join('')) };
  if (wholeInput) return { whole, start: whole, deltas: [] };
  return {
    whole,
    start: { ...head, input: {} },
    deltas: ['', ...argumentPieces].map((partial_json) => ({ type: 'input_json_delta', partial_json })),
  };
}

/** Arguments that the token limit cut are empty. */
function toInput(json: string): object {
  try {
    const input: unknown = JSON.parse(json);
    return isRecord(input) ? input : {};
  } catch {
    return {};
  }
}
