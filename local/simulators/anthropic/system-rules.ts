import type { VendorRefusal } from '../wire.ts';
import { anthropicError } from './error.ts';
import type { ModelFacts } from './model-facts.ts';
import type { CountRequest, Message } from './request.ts';

/**
 * Checks system messages inside the conversation:
 * https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages
 * Sources of the messages: https://github.com/anthropics/claude-code/issues/61412, and LiteLLM for a system message at
 * the start.
 */
export function refuseSystemMessages({ messages }: CountRequest, facts: ModelFacts): VendorRefusal | undefined {
  for (const [at, message] of messages.entries()) {
    if (message.role !== 'system') {
      const field = (['output_config', 'clear_at'] as const).find((name) => message[name] != null);
      if (field === undefined) continue;
      return anthropicError(400, `messages.${at}.${field}: Extra inputs are not permitted`);
    }
    if (!facts.systemMessages) return anthropicError(400, "role 'system' is not supported on this model");
    if (at > 0 || isDirective(message)) continue;
    const words =
      "use the top-level 'system' parameter for the initial system prompt; the directive-only form " +
      '(content: [] with output_config) is accepted at any position';
    return anthropicError(400, `messages.0: ${words}`);
  }
  return undefined;
}

/** A system message that only changes the effort from there on. */
export function isDirective({ role, content, output_config: config }: Message): boolean {
  return role === 'system' && content.length === 0 && config?.effort != null;
}
