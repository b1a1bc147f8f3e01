import type { VendorRefusal } from '../wire.ts';
import { openaiError } from './error.ts';
import { stemOf } from './responses-ids.ts';
import type { InputItem, ReasoningInput } from './responses-items.ts';
import { itemsOf, type ResponsesRequest } from './responses-request.ts';

/** Checks a conversation that is sent back: the order of items, and that every call and output has its counterpart. */
export function refuseItemOrder(request: ResponsesRequest): VendorRefusal | undefined {
  const items = itemsOf(request);
  return (
    refuseLostReasoning(items, request.store === false) ??
    refuseReasoningText(items) ??
    refuseLooseReasoning(items) ??
    refuseLooseToolItems(items)
  );
}

/**
 * Rejects reasoning with a text in its content. Sources: https://github.com/musistudio/claude-code-router/issues/1783
 * (2026-09-10), https://github.com/querymt/querymt/issues/976 (2026-09-22)
 */
function refuseReasoningText(items: readonly InputItem[]): VendorRefusal | undefined {
  for (const [at, item] of items.entries()) {
    const length = isReasoning(item) ? (item.content?.length ?? 0) : 0;
    if (length === 0) continue;
    const param = `input[${at}].content`;
    const problem = `Expected an array with maximum length 0, but got an array with length ${length} instead.`;
    const message = `Invalid '${param}': array too long. ${problem}`;
    return openaiError(400, message, { param, code: 'array_above_max_length' });
  }
  return undefined;
}

/**
 * Rejects reasoning without encrypted content if `store` is false, because the provider has not stored it:
 * https://github.com/vercel/ai/issues/7543
 */
function refuseLostReasoning(items: readonly InputItem[], storeless: boolean): VendorRefusal | undefined {
  if (!storeless) return undefined;
  const lost = items.filter(isReasoning).find(({ encrypted_content: content }) => content == null || content === '');
  if (lost === undefined) return undefined;
  const message =
    `Item with id '${lost.id ?? ''}' not found. Items are not persisted when \`store\` is set to false. ` +
    'Try again with `store` set to true, or remove this item from your input.';
  return openaiError(404, message, { param: 'input' });
}

/**
 * Rejects reasoning unless the next item of another type is a message or call of the same response, no matter which. An
 * item without an id counts as part of the same response. https://github.com/continuedev/continue/issues/8933
 */
function refuseLooseReasoning(items: readonly InputItem[]): VendorRefusal | undefined {
  const loose = items.filter(isReasoning).find((reasoning) => {
    const next = items.slice(items.indexOf(reasoning) + 1).find((item) => !isReasoning(item));
    return next === undefined || !isMadeWith(reasoning, next);
  });
  if (loose === undefined) return undefined;
  const message = `Item '${loose.id}' of type 'reasoning' was provided without its required following item.`;
  return openaiError(400, message, { param: 'input' });
}

function isMadeWith(reasoning: ReasoningInput, item: InputItem): boolean {
  if ('role' in item ? item.role !== 'assistant' : !Object.hasOwn(callNames, item.type)) return false;
  return item.id == null || reasoning.id == null || stemOf(item.id) === stemOf(reasoning.id);
}

const callNames = {
  function_call: 'function call',
  custom_tool_call: 'custom tool call',
  tool_search_call: 'tool search call',
} as const;

/**
 * A result must follow its call, and every call needs a result: https://github.com/continuedev/continue/issues/10092
 */
function refuseLooseToolItems(items: readonly InputItem[]): VendorRefusal | undefined {
  const open = new Map<string, string>();
  const called = new Set<string>();
  for (const item of items) {
    if (!('call_id' in item) || item.call_id == null) continue;
    if (isCall(item)) {
      open.set(item.call_id, callNames[item.type]);
      called.add(item.call_id);
      continue;
    }
    open.delete(item.call_id);
    if (called.has(item.call_id)) continue;
    const name = item.type.replaceAll('_', ' ');
    return openaiError(400, `No tool call found for ${name} with call_id ${item.call_id}.`, { param: 'input' });
  }
  // Calls of custom tools need an output too: https://github.com/diegosouzapw/OmniRoute/issues/8946
  const [unanswered] = open;
  if (unanswered === undefined) return undefined;
  return openaiError(400, `No tool output found for ${unanswered[1]} ${unanswered[0]}.`, { param: 'input' });
}

function isCall(item: InputItem): item is Extract<InputItem, { type: keyof typeof callNames }> {
  return Object.hasOwn(callNames, item.type ?? 'message');
}

function isReasoning(item: InputItem): item is ReasoningInput {
  return item.type === 'reasoning';
}
