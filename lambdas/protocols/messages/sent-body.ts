import type { TextModel } from '../../core/catalog/schema.ts';
import { invalidRequest } from '../../core/errors/gateway-error.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import type { Alternatives } from '../alternatives.ts';
import type { IgnoredFields } from '../fields.ts';
import { hasAtMost, type OptionalField, withoutUnsupported } from '../optional-fields.ts';
import type { PromptBody } from './body.ts';
import { refuseThinking, thinkingByName, thinksByName } from './thinking.ts';

const contextManagement = 'context-management-2025-06-27';
const taskBudgets = 'task-budgets-2026-03-13';
const displayUpdates = 'thinking-display-updates-2026-08-18';
const bindingControls = 'thinking-binding-controls-2026-08-01';
const clearAt = 'mid-conversation-system-clear-at-2026-08-21';
const toolChanges = 'mid-conversation-tool-changes-2026-07-01';
/** Beta values, each of which lets a system message set the effort of a turn. Claude Code sends the second value. */
const turnConfig: readonly string[] = ['mid-conversation-output-config-2026-07-01', 'per-turn-control-2026-07-01'];

/**
 * Values of `anthropic-beta` that change no price. Other values could, for example by a larger context, a faster mode
 * or a tool that runs at the provider.
 */
const forwarded: ReadonlySet<string> = new Set([
  contextManagement,
  taskBudgets,
  displayUpdates,
  bindingControls,
  clearAt,
  toolChanges,
  ...turnConfig,
  'claude-code-20250219',
  'effort-2025-11-24',
  'extended-cache-ttl-2025-04-11',
  'fine-grained-tool-streaming-2025-05-14',
  'interleaved-thinking-2025-05-14',
  'mid-conversation-system-2026-04-07',
  'model-context-window-exceeded-2025-08-26',
  'pdfs-2024-09-25',
  'prompt-caching-2024-07-31',
  'structured-outputs-2025-11-13',
  'structured-outputs-2025-12-15',
  'thinking-token-count-2026-05-13',
  'token-counting-2024-11-01',
  'token-efficient-tools-2025-02-19',
]);

export const BETA_HEADER = 'anthropic-beta';

/** Returns the values of the client's header that can be sent. Lists the others as ignored. */
export const readBetas = (header: string | undefined, ignored: IgnoredFields): readonly string[] => {
  const named = new Set((header ?? '').split(',').map((value) => value.trim()));
  named.delete('');
  for (const value of named) if (!forwarded.has(value)) ignored.add([BETA_HEADER, value]);
  return [...named].filter((value) => forwarded.has(value));
};

export const allowsTurnConfig = (named: readonly string[]): boolean =>
  named.some((value) => turnConfig.includes(value));

/** Header that a change of tools inside a conversation needs. Undefined if the client sent it. */
export const missingToolChanges = (named: readonly string[]): string | undefined =>
  named.includes(toolChanges) ? undefined : `${BETA_HEADER}: ${toolChanges}`;

/**
 * Header with the values that the client sent and the values that the fields of its body need. Undefined if there are
 * none.
 */
export const betaHeaders = (
  named: readonly string[],
  body: PromptBody,
): Readonly<Record<string, string>> | undefined => {
  const values = [...new Set([...named, ...neededBy(body)])];
  return values.length > 0 ? { [BETA_HEADER]: values.join(',') } : undefined;
};

const neededBy = ({ context_management, output_config, thinking, messages }: PromptBody): readonly string[] => [
  ...(context_management ? [contextManagement] : []),
  ...(output_config?.task_budget ? [taskBudgets] : []),
  ...(thinking && 'display' in thinking && thinking.display === 'updates' ? [displayUpdates] : []),
  ...(thinking && 'block_binding' in thinking && thinking.block_binding ? [bindingControls] : []),
  ...(messages.some((message) => message.role === 'system' && message.clear_at) ? [clearAt] : []),
];

/** The provider accepts no sampling fields together with thinking that the gateway adds (MSG-3). */
const isSampled = (body: PromptBody, model: TextModel): boolean => !thinksByName(body, model);

/** Fields that not every model accepts (CHAT-16), in this format. */
const optional: readonly OptionalField<PromptBody>[] = [
  {
    field: 'temperature',
    capability: 'sampling',
    isTaken: isSampled,
    otherwise: 'list',
    isDefault: ({ temperature }) => temperature === 1,
  },
  {
    field: 'top_p',
    capability: 'sampling',
    isTaken: isSampled,
    otherwise: 'list',
    isDefault: (body) => body.top_p === 1,
  },
  { field: 'top_k', capability: 'sampling', isTaken: isSampled, otherwise: 'list' },
  {
    field: 'stop_sequences',
    capability: 'stop',
    otherwise: 'refuse',
    isDefault: (body) => body.stop_sequences?.length === 0,
  },
  { field: 'tools', capability: 'tools', otherwise: 'refuse', isDefault: ({ tools }) => tools?.length === 0 },
  { field: 'stream', capability: 'streaming', otherwise: 'refuse', isDefault: ({ stream }) => stream === false },
];

/**
 * Rejects what the catalog entry does not support, and lists hints as ignored. Returns the names of the fields that
 * must not be sent.
 */
export const applyConstraints = (
  body: PromptBody,
  model: TextModel,
  alternatives: Alternatives,
  ignored: IgnoredFields,
): Set<string> => {
  const unsent = withoutUnsupported(optional, body, { model, alternatives, ignored });
  refuseToolChoice(body, model, alternatives);
  refuseThinking(body, model, alternatives);
  refuseFormat(body, model, alternatives);
  return unsent;
};

const refuseToolChoice = (
  { tools, tool_choice: choice }: PromptBody,
  model: TextModel,
  alternatives: Alternatives,
): void => {
  if (!choice) return;
  if (!tools?.length) throw invalidRequest('tool_choice', 'tool_choice: needs tools. Send both.');
  if (choice.type === 'auto' || choice.type === 'none' || model.capabilities.forcedToolChoice) return;
  const others = alternatives(({ capabilities }) => capabilities.forcedToolChoice);
  throw invalidRequest('tool_choice', `tool_choice: "${model.id}" accepts only "auto" and "none".${others}`);
};

const refuseFormat = (
  { output_config: config, output_format: old }: PromptBody,
  model: TextModel,
  alternatives: Alternatives,
): void => {
  if (model.capabilities.jsonSchema || !(config?.format ?? old)) return;
  const param = config?.format ? 'output_config.format' : 'output_format';
  const others = alternatives(({ capabilities }) => capabilities.jsonSchema);
  throw invalidRequest(param, `${param}: json_schema is not supported with this model.${others}`);
};

/**
 * Whether the model has an effort setting. The gateway does not compare the value with the levels of the catalog entry,
 * because the provider rejects a level that a model lacks (MSG-4).
 */
export const hasEffort = ({ reasoning }: TextModel): boolean => reasoning?.field === 'output_config.effort';

const USER_CHARACTERS_MAX = 256;

/** Fields of a body that the gateway knows. */
export interface Kept {
  /** Fields without the ignored ones. */
  readonly fields: JsonObject;
  readonly body: PromptBody;
  /** Values of `anthropic-beta` that can be sent. */
  readonly betas: readonly string[];
  readonly ignored: IgnoredFields;
}

/** CHAT-15: a longer name is neither sent nor stored. Claude Code sends JSON in this field. */
export const withoutLongUser = (fields: JsonObject, ignored: IgnoredFields): JsonObject => {
  const { metadata } = fields;
  if (!isJsonObject(metadata) || typeof metadata.user_id !== 'string') return fields;
  const { user_id: user, ...others } = metadata;
  if (hasAtMost(user, USER_CHARACTERS_MAX)) return fields;
  ignored.add(['metadata', 'user_id']);
  return { ...fields, metadata: others };
};

/** MSG-4: a client of this format gets `high` if it sends no effort. */
export const effortOf = ({ output_config: config }: PromptBody, model: TextModel): string | undefined =>
  hasEffort(model) ? (config?.effort ?? 'high') : undefined;

/**
 * Converts the client's fields to the provider's body for one model: adds the thinking that the model's name turns on
 * and the effort, and renames `output_format` to its current name (BILL-6). Throws the 400 for a field that the model
 * does not accept, and lists the fields that it ignores.
 */
export const sentBody = (
  { fields, body, betas, ignored }: Kept,
  model: TextModel,
  alternatives: Alternatives,
): JsonObject => {
  const unsent = applyConstraints(body, model, alternatives, ignored);
  // Clients without instructions send an empty text, which the provider rejects.
  if (body.system === '') unsent.add('system');
  // The standard speed is the default, and some models reject `speed`.
  for (const name of ['speed', 'output_format', 'output_config']) unsent.add(name);
  const kept = Object.fromEntries(Object.entries(fields).filter(([name]) => !unsent.has(name)));
  const thinking = thinkingByName(body, model);
  const config = configFor(fields, body, model, ignored);
  return {
    ...kept,
    ...messagesFor(fields, betas),
    ...(thinking && { thinking }),
    ...(config && { output_config: config }),
  };
};

const configFor = (
  { output_config, output_format: format }: JsonObject,
  body: PromptBody,
  model: TextModel,
  ignored: IgnoredFields,
): JsonObject | undefined => {
  const config = isJsonObject(output_config) ? output_config : {};
  const { effort: asked, ...others } = config;
  const wanted = effortOf(body, model);
  if (asked !== undefined && wanted === undefined) ignored.add(['output_config', 'effort']);
  const effort = asked === undefined && wanted === model.reasoning?.default ? undefined : wanted;
  const isChanged = effort !== asked || format !== undefined;
  const sent = isChanged ? { ...others, ...(format && { format }), ...(effort && { effort }) } : config;
  return Object.keys(sent).length > 0 ? sent : undefined;
};

/**
 * Removes the effort of a turn unless the client sent a beta value that allows it. Drops a message that has no other
 * content.
 */
const messagesFor = ({ messages }: JsonObject, betas: readonly string[]): JsonObject => {
  if (allowsTurnConfig(betas) || !Array.isArray(messages) || !messages.some(setsTurn)) return {};
  return {
    messages: messages.flatMap((message: JsonValue): readonly JsonValue[] =>
      setsTurn(message) ? withoutTurn(message) : [message],
    ),
  };
};

const setsTurn = (message: JsonValue): message is JsonObject =>
  isJsonObject(message) && message.role === 'system' && message.output_config !== undefined;

const withoutTurn = ({ output_config: _, ...message }: JsonObject): readonly JsonObject[] => {
  const { content } = message;
  const isEmpty = content === undefined || content === '' || (Array.isArray(content) && content.length === 0);
  return isEmpty ? [] : [message];
};
