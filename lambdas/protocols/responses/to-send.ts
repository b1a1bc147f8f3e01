import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import type { IgnoredFields } from '../ignored-fields.ts';
import type { ResponsesBody } from './body.ts';
import { reasoningFirst } from './item-order.ts';

interface Changes {
  readonly unsent: ReadonlySet<string>;
  readonly ignored: IgnoredFields;
}

/** The valid body as the provider takes it (RESP-5 to RESP-7). The same object if nothing changes. */
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
/** Other data comes from tools that run at the provider. */
const included: readonly JsonValue[] = [SEALED, LOGPROBS, 'message.input_image.image_url'];

const toInclude = (include: JsonValue, ignored: IgnoredFields): JsonValue | undefined => {
  if (!Array.isArray(include)) return include;
  const taken = include.filter((name) => included.includes(name));
  if (taken.length === include.length) return include;
  ignored.add(['include', 0]);
  return taken.length > 0 ? taken : undefined;
};

/** Undefined if no tool is left. */
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

/** Members of a tool that the provider takes only beside a search of tools. */
const ofSearch: readonly string[] = ['defer_loading', 'output_schema'];

/** A tool, and those inside it, without some members. */
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

/** Undefined for reasoning that is not sealed: it refers to an item that the provider has not stored. */
const toItem = (item: JsonValue): JsonValue | undefined => {
  if (!isJsonObject(item)) return item;
  if (item.type === 'tool_search_output') return toTool(item, ['allowed_callers'], () => undefined);
  if (item.type !== 'reasoning') return without(item, ['caller']);
  if (!item.encrypted_content) return undefined;
  return isReasoningId(item.id) ? item : without(item, ['id']);
};

/** The provider refuses an id of another kind of item: https://github.com/openai/codex/issues/33176 */
const isReasoningId = (id: JsonValue | undefined): boolean =>
  typeof id === 'string' && id.startsWith('rs') && id.length <= 64;

const without = (object: JsonObject, names: readonly string[]): JsonObject =>
  rewritten(object, (name, member) => (names.includes(name) ? undefined : member));

/** The same object if no member changes. A member of undefined is removed. */
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

/** The same list if no member changes. A member of undefined is removed. */
const mapped = (
  list: readonly JsonValue[],
  change: (member: JsonValue, at: number) => JsonValue | undefined,
): readonly JsonValue[] => {
  const changed = list.map(change);
  return changed.every((member, at) => member === list[at])
    ? list
    : changed.filter((member): member is JsonValue => member !== undefined);
};
