import { createHash } from 'node:crypto';
import type { Wire } from '../../core/catalog/providers.ts';
import type { ChatBody, ChatMessage } from './body.ts';

/** Identifiers that a provider accepts. */
interface Rule {
  readonly pattern: RegExp;
  readonly charactersMax: number;
}

interface Rules {
  readonly callId: Rule;
  readonly functionName: Rule;
}

const anything = /^/;

/**
 * - OpenAI: function names https://developers.openai.com/api/reference/resources/chat; names in calls
 *   https://github.com/mcp-use/mcp-use/issues/90 (2025-06); ids of at most 40 characters on chat
 *   https://github.com/anomalyco/opencode/issues/12653 (2026-02-08) and 64 on responses
 *   https://github.com/decolua/9router/issues/393 (2026-03-23).
 * - Claude: ids https://github.com/maximhq/bifrost/issues/5097; names of at most 64 characters, also in calls,
 *   https://github.com/anomalyco/opencode/pull/48750 (2026-09-13). The API reference allows 128.
 * - Gemini: names https://github.com/kaitranntt/ccs/issues/25 (2025-11-30). The types of @google/genai 3.1.0 allow 128.
 */
const openaiName: Rule = { pattern: /^[a-zA-Z0-9_-]+$/, charactersMax: 64 };

const rules: Readonly<Partial<Record<Wire, Rules>>> = {
  openai_chat: { callId: { pattern: anything, charactersMax: 40 }, functionName: openaiName },
  openai_responses: { callId: { pattern: anything, charactersMax: 64 }, functionName: openaiName },
  anthropic_messages: { callId: openaiName, functionName: openaiName },
};

const gemini: Rules = {
  callId: { pattern: anything, charactersMax: Number.POSITIVE_INFINITY },
  functionName: { pattern: /^[a-zA-Z_][a-zA-Z0-9_.-]*$/, charactersMax: 64 },
};

interface Fitted {
  /** The same object if every identifier fits. */
  readonly body: ChatBody;
  /** Names of the client by the names that the provider gets instead, for calls in the response. */
  readonly ownNames: ReadonlyMap<string, string>;
}

/**
 * Replaces call ids and function names that the provider rejects, such as those in a history of another gateway
 * (CHAT-5). Two identifiers of a request never become the same one. A replacement depends only on the identifier, so
 * that the cached start of the prompt does not change.
 */
export const fitIdentifiers = (body: ChatBody, wire: Wire): Fitted => {
  const { callId, functionName } = rules[wire] ?? gemini;
  const { tools, tool_choice: choice } = body;
  const messages = withUniqueCalls(body.messages, callId);
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? (message.tool_calls ?? []) : []));
  const results = messages.flatMap((message) => (message.role === 'tool' ? [message.tool_call_id] : []));
  const ids = replacements([...calls.map(({ id }) => id), ...results], callId);
  const declared = (tools ?? []).map((tool) => tool.function.name);
  const names = replacements([...declared, ...calls.map((call) => call.function.name)], functionName);
  if (messages === body.messages && ids.size === 0 && names.size === 0) return { body, ownNames: new Map() };
  const fittedId = (id: string): string => ids.get(id) ?? id;
  const fittedName = <Named extends { readonly name: string }>(named: Named): Named => ({
    ...named,
    name: names.get(named.name) ?? named.name,
  });
  const fittedMessage = (message: ChatMessage): ChatMessage => {
    if (message.role === 'tool') return { ...message, tool_call_id: fittedId(message.tool_call_id) };
    if (message.role !== 'assistant' || !message.tool_calls) return message;
    const toolCalls = message.tool_calls.map((call) => ({
      ...call,
      id: fittedId(call.id),
      function: fittedName(call.function),
    }));
    return { ...message, tool_calls: toolCalls };
  };
  return {
    body: {
      ...body,
      messages: messages.map(fittedMessage),
      ...(tools && { tools: tools.map((tool) => ({ ...tool, function: fittedName(tool.function) })) }),
      ...(typeof choice === 'object' &&
        choice && { tool_choice: { ...choice, function: fittedName(choice.function) } }),
    },
    ownNames: new Map([...names].map(([own, fitted]) => [fitted, own])),
  };
};

/**
 * Replaces the id of a call that repeats an earlier one, and the id in its result, because Claude requires unique ids
 * (https://github.com/NVIDIA-NeMo/Switchyard/issues/502, 2026-09-02). The first call keeps its id. Within
 * a turn, results belong to the calls with their id in order. Returns the same messages if no id repeats.
 */
const withUniqueCalls = (messages: ChatBody['messages'], rule: Rule): ChatBody['messages'] => {
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? (message.tool_calls ?? []) : []));
  const taken = new Set(calls.map(({ id }) => id));
  if (taken.size === calls.length) return messages;
  const uses = new Map<string, number>();
  let latest = new Map<string, { readonly ids: string[]; answered: number }>();
  const uniqueId = (id: string): string => {
    const earlier = uses.get(id) ?? 0;
    uses.set(id, earlier + 1);
    let unique = earlier === 0 ? id : replacementOf(`${id} ${earlier}`, rule);
    while (earlier > 0 && taken.has(unique)) unique = replacementOf(`${id}${unique}`, rule);
    taken.add(unique);
    const same = latest.get(id) ?? { ids: [], answered: 0 };
    same.ids.push(unique);
    latest.set(id, same);
    return unique;
  };
  return messages.map((message, at) => {
    if (message.role === 'tool') {
      const same = latest.get(message.tool_call_id);
      // A further result of a call keeps the id of the last one, so that the provider's rule names it.
      const found = same && (same.ids[same.answered++] ?? same.ids.at(-1));
      return found === undefined ? message : { ...message, tool_call_id: found };
    }
    if (message.role !== 'assistant' || !message.tool_calls) return message;
    if (messages[at - 1]?.role !== 'assistant') latest = new Map();
    return { ...message, tool_calls: message.tool_calls.map((call) => ({ ...call, id: uniqueId(call.id) })) };
  });
};

/** Returns the replacement of each identifier that the rule rejects. */
const replacements = (identifiers: readonly string[], rule: Rule): ReadonlyMap<string, string> => {
  const isFit = (identifier: string): boolean =>
    identifier.length <= rule.charactersMax && rule.pattern.test(identifier);
  const unfit = new Set(identifiers.filter((identifier) => !isFit(identifier)));
  const found = new Map<string, string>();
  if (unfit.size === 0) return found;
  const taken = new Set(identifiers);
  for (const identifier of unfit) {
    let replacement = replacementOf(identifier, rule);
    // Not of the identifier again, which can be long and meet many that the client chose.
    while (taken.has(replacement)) replacement = replacementOf(replacement, rule);
    taken.add(replacement);
    found.set(identifier, replacement);
  }
  return found;
};

const HASH_CHARACTERS = 16;

/** Readable start and a hash. Every provider accepts its characters. */
const replacementOf = (identifier: string, { charactersMax }: Rule): string => {
  // UTF-8 would make all halves of surrogate pairs equal.
  const bytes = Buffer.from(identifier, 'utf16le');
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, HASH_CHARACTERS);
  const words = identifier.slice(0, Math.min(charactersMax, 64) - HASH_CHARACTERS - 2).replace(/[^a-zA-Z0-9_-]/g, '_');
  return `${/^[a-zA-Z_]/.test(words) ? '' : '_'}${words}_${hash}`;
};
