import type { TextModel } from '../../core/catalog/schema.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import type { Alternatives } from '../alternatives.ts';
import type { IgnoredFields } from '../ignored-fields.ts';
import { hasAtMost } from '../prompt.ts';
import { allowsTurnConfig } from './betas.ts';
import type { PromptBody } from './body.ts';
import { applyConstraints, hasEffort } from './constraints.ts';
import { thinkingByName } from './thinking.ts';

const USER_CHARACTERS_MAX = 256;

/** The fields of a body that the gateway knows. */
export interface Kept {
  /** Without what is ignored. */
  readonly fields: JsonObject;
  readonly body: PromptBody;
  /** Values of `anthropic-beta` that may be sent. */
  readonly betas: readonly string[];
  readonly ignored: IgnoredFields;
}

/** CHAT-15: a longer name is neither sent nor kept. Claude Code puts JSON there. */
export const withoutLongUser = (fields: JsonObject, ignored: IgnoredFields): JsonObject => {
  const { metadata } = fields;
  if (!isJsonObject(metadata) || typeof metadata.user_id !== 'string') return fields;
  const { user_id: user, ...others } = metadata;
  if (hasAtMost(user, USER_CHARACTERS_MAX)) return fields;
  ignored.add(['metadata', 'user_id']);
  return { ...fields, metadata: others };
};

/** MSG-4: where nothing is asked for, `high` is what a client of this format gets. */
export const effortOf = ({ output_config: config }: PromptBody, model: TextModel): string | undefined =>
  hasEffort(model) ? (config?.effort ?? 'high') : undefined;

/**
 * The client's fields in the vendor's terms for one model: thinking by the model's name, the effort, the present name of the
 * format (BILL-6). Throws the 400 for what the model does not take, and lists what it ignores.
 */
export const sentBody = (
  { fields, body, betas, ignored }: Kept,
  model: TextModel,
  alternatives: Alternatives,
): JsonObject => {
  const unsent = applyConstraints(body, model, alternatives, ignored);
  // The standard speed is the default, and some models take no `speed` at all.
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

/** Without a beta for it, the effort of a turn is not sent, and neither is a message that says nothing else. */
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
