import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import type { IgnoredFields } from '../fields.ts';
import type { ResponsesBody } from './body.ts';

const typeOf = (item: JsonValue): string => {
  if (!isJsonObject(item)) return '';
  return typeof item.type === 'string' ? item.type : 'message';
};

const isAnswerMessage = (item: JsonValue): boolean =>
  typeOf(item) === 'message' && isJsonObject(item) && item.role === 'assistant';

const moved = (items: readonly JsonValue[], from: number, to: number): readonly JsonValue[] => {
  const rest = items.toSpliced(from, 1);
  return rest.toSpliced(to, 0, ...items.slice(from, from + 1));
};

const isCommentary = (item: JsonValue): boolean => isJsonObject(item) && item.phase === 'commentary';

/**
 * Moves the answer to output[0], where callers look for its text (RESP-5): the final answer, or else a message without a
 * phase, or else commentary. The provider puts reasoning and commentary before it.
 */
export const messageFirst = (output: readonly JsonValue[]): readonly JsonValue[] => {
  const isFinal = (item: JsonValue): boolean => isJsonObject(item) && item.phase === 'final_answer';
  const ranks = [isFinal, (item: JsonValue) => !isCommentary(item), () => true];
  const places = ranks.map((rank) => output.findIndex((item) => isAnswerMessage(item) && rank(item)));
  const at = places.find((place) => place >= 0) ?? 0;
  return at === 0 ? output : moved(output, at, 0);
};

const isReasoning = (item: JsonValue | undefined): boolean => item !== undefined && typeOf(item) === 'reasoning';

const callTypes: ReadonlySet<string> = new Set(['function_call', 'custom_tool_call', 'tool_search_call']);

/** Whether the model wrote the item. */
const isOfAnswer = (item: JsonValue): boolean =>
  isAnswerMessage(item) || isReasoning(item) || callTypes.has(typeOf(item));

/**
 * Reverses RESP-5 for responses that a client sends back with the message first. The provider rejects reasoning without
 * the item that followed it. So the message moves behind the last reasoning item that is followed by more reasoning or
 * by nothing. If there is none, an answer moves behind the last commentary, because it ended its response, or else the
 * message moves behind the first reasoning item. Reasoning that is then last, such as that of an incomplete response, is
 * dropped.
 */
export const reasoningFirst = (input: readonly JsonValue[]): readonly JsonValue[] => {
  const ordered: JsonValue[] = [];
  let at = 0;
  while (at < input.length) {
    let end = at;
    while (end < input.length && isOfAnswer(input[end] ?? null)) end += 1;
    ordered.push(...withoutLooseReasoning(restored(input.slice(at, end))));
    const outside = input[end];
    if (outside !== undefined) ordered.push(outside);
    at = end + 1;
  }
  return ordered;
};

const restored = (answer: readonly JsonValue[]): readonly JsonValue[] => {
  const [first, ...others] = answer;
  if (first === undefined || !isAnswerMessage(first)) return answer;
  const isAlone = (item: JsonValue, at: number): boolean =>
    isReasoning(item) && (at + 1 === others.length || isReasoning(others[at + 1]));
  const answerAt = others.findIndex((item) => isAnswerMessage(item) && !isCommentary(item));
  // RESP-5 would have moved the answer and not the commentary, so the order is the provider's.
  if (isCommentary(first) && answerAt >= 0) return answer;
  const alone = others.findLastIndex(isAlone);
  const ofResponse = isCommentary(first) ? [] : others.slice(0, answerAt < 0 ? others.length : answerAt);
  const commented = ofResponse.findLastIndex((item) => isAnswerMessage(item) && isCommentary(item));
  const after = [alone, commented, others.findIndex(isReasoning)].find((place) => place >= 0) ?? -1;
  return after < 0 ? answer : moved(answer, 0, after + 1);
};

const withoutLooseReasoning = (answer: readonly JsonValue[]): readonly JsonValue[] =>
  answer.slice(0, answer.findLastIndex((item) => !isReasoning(item)) + 1);

interface Changes {
  readonly unsent: ReadonlySet<string>;
  readonly ignored: IgnoredFields;
}

/** Valid body in the provider's form (RESP-5 to RESP-7). The same object if nothing changes. */
export const toSend = (kept: JsonObject, { tools }: ResponsesBody, { unsent, ignored }: Changes): JsonObject => {
  const isSearched = tools?.some(({ type }) => type === 'tool_search') ?? false;
  return rewritten(kept, (name, value) => {
    if (name === 'tools') return toTools(value, isSearched, ignored);
    if (unsent.has(name)) return undefined;
    if (name === 'input') return toInput(value);
    if (name === 'include') return toInclude(value, ignored);
    return name === 'reasoning' && isJsonObject(value) ? without(value, ['mode']) : value;
  });
};

export const SEALED = 'reasoning.encrypted_content';
export const LOGPROBS = 'message.output_text.logprobs';
/** Data that can be included. Other data comes from tools that run at the provider. */
const included: readonly JsonValue[] = [SEALED, LOGPROBS, 'message.input_image.image_url'];

const toInclude = (include: JsonValue, ignored: IgnoredFields): JsonValue | undefined => {
  if (!Array.isArray(include)) return include;
  const taken = include.filter((name) => included.includes(name));
  if (taken.length === include.length) return include;
  ignored.add(['include', 0]);
  return taken.length > 0 ? taken : undefined;
};

/** Tools for the provider. Undefined if none is left. */
const toTools = (tools: JsonValue, isSearched: boolean, ignored: IgnoredFields): JsonValue | undefined => {
  if (!Array.isArray(tools)) return tools;
  const unsent = isSearched ? ['allowed_callers'] : ['allowed_callers', ...ofSearch];
  const sent = mapped(tools, (tool, at) => {
    const list: List = (path) => ignored.add(['tools', at, ...path]);
    if (!isWebSearch(tool)) return toTool(tool, unsent, list);
    list(['web_search']);
    return undefined;
  });
  return sent.length > 0 ? sent : undefined;
};

const isWebSearch = (tool: JsonValue): boolean => isJsonObject(tool) && tool.type === 'web_search';

type List = (path: readonly PropertyKey[]) => void;

/** Members of a tool that the provider accepts only together with a tool search. */
const ofSearch: readonly string[] = ['defer_loading', 'output_schema'];

/** Copy of a tool, and of the tools inside it, without some members. */
const toTool = (tool: JsonValue, unsent: readonly string[], list: List): JsonValue => {
  if (!isJsonObject(tool)) return tool;
  for (const name of ofSearch) if (unsent.includes(name) && tool[name]) list([name]);
  return rewritten(without(tool, unsent), (name, value) =>
    name === 'tools' && Array.isArray(value)
      ? mapped(value, (inner, at) => toTool(inner, unsent, (path) => list(['tools', at, ...path])))
      : value,
  );
};

const toInput = (input: JsonValue): JsonValue => {
  if (!Array.isArray(input)) return input;
  const items = mapped(input, toItem);
  const ordered = reasoningFirst(items);
  return ordered.length === items.length && ordered.every((item, at) => item === items[at]) ? items : ordered;
};

/**
 * Item for the provider. Undefined for reasoning that is not encrypted, because it refers to an item that the provider
 * has not stored. The provider rejects text in the content of reasoning:
 * https://github.com/musistudio/claude-code-router/issues/1783 (2026-09-10)
 */
const toItem = (item: JsonValue): JsonValue | undefined => {
  if (!isJsonObject(item)) return item;
  if (item.type === 'tool_search_output') return toTool(item, ['allowed_callers'], () => undefined);
  if (item.type !== 'reasoning') return without(item, ['caller']);
  if (!item.encrypted_content) return undefined;
  return without(item, isReasoningId(item.id) ? ['content'] : ['content', 'id']);
};

/**
 * Whether the id belongs to reasoning. The provider rejects an id of another kind of item:
 * https://github.com/openai/codex/issues/33176
 */
const isReasoningId = (id: JsonValue | undefined): boolean =>
  typeof id === 'string' && id.startsWith('rs') && id.length <= 64;

const without = (object: JsonObject, names: readonly string[]): JsonObject =>
  rewritten(object, (name, member) => (names.includes(name) ? undefined : member));

/** Returns the same object if no member changes. Removes a member whose new value is undefined. */
const rewritten = (
  object: JsonObject,
  change: (name: string, member: JsonValue) => JsonValue | undefined,
): JsonObject => {
  const before = Object.entries(object);
  const after = before.flatMap(([name, member]): [string, JsonValue][] => {
    const changed = member === undefined ? undefined : change(name, member);
    return changed === undefined ? [] : [[name, changed]];
  });
  const isSame = after.length === before.length && after.every(([, member], at) => member === before[at]?.[1]);
  return isSame ? object : Object.fromEntries(after);
};

/** Returns the same list if no member changes. Removes a member whose new value is undefined. */
const mapped = (
  list: readonly JsonValue[],
  change: (member: JsonValue, at: number) => JsonValue | undefined,
): readonly JsonValue[] => {
  const changed = list.map(change);
  return changed.every((member, at) => member === list[at])
    ? list
    : changed.filter((member): member is JsonValue => member !== undefined);
};
