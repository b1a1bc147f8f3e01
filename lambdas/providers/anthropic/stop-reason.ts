import type { FinishReason } from '../../core/text/text-wire.ts';

const reasons: ReadonlyMap<string, FinishReason> = new Map([
  ['tool_use', 'tool_calls'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
]);

/**
 * https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons. `end_turn`, `stop_sequence`, `pause_turn` and what the
 * vendor may add are a stop; `refusal` never comes here (CHAT-14).
 */
export const toFinishReason = (stopReason: string): FinishReason => reasons.get(stopReason) ?? 'stop';
