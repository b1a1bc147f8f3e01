import { createHash } from 'node:crypto';
import type { Wire } from '../../core/catalog/providers.ts';
import type { ChatBody } from './body.ts';

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
  const { messages, tools, tool_choice: choice } = body;
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? (message.tool_calls ?? []) : []));
  const results = messages.flatMap((message) => (message.role === 'tool' ? [message.tool_call_id] : []));
  const ids = replacements([...calls.map(({ id }) => id), ...results], callId);
  const declared = (tools ?? []).map((tool) => tool.function.name);
  const names = replacements([...declared, ...calls.map((call) => call.function.name)], functionName);
  if (ids.size === 0 && names.size === 0) return { body, ownNames: new Map() };
  const fittedId = (id: string): string => ids.get(id) ?? id;
  const fittedName = <Named extends { readonly name: string }>(named: Named): Named => ({
    ...named,
    name: names.get(named.name) ?? named.name,
  });
  const fittedMessage = (message: ChatBody['messages'][number]): typeof message => {
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
    while (taken.has(replacement)) replacement = replacementOf(`${identifier}${replacement}`, rule);
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
