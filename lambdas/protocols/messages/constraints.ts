import type { TextModel } from '../../core/catalog/schema.ts';
import { invalidRequest } from '../../core/errors/gateway-error.ts';
import type { Alternatives } from '../alternatives.ts';
import type { IgnoredFields } from '../ignored-fields.ts';
import { type OptionalField, withoutUnsupported } from '../optional-fields.ts';
import type { PromptBody } from './body.ts';
import { refuseThinking } from './thinking.ts';

/** CHAT-16 in the terms of this format. */
const optional: readonly OptionalField<PromptBody>[] = [
  {
    field: 'temperature',
    capability: 'sampling',
    otherwise: 'list',
    isDefault: ({ temperature }) => temperature === 1,
  },
  { field: 'top_p', capability: 'sampling', otherwise: 'list', isDefault: (body) => body.top_p === 1 },
  { field: 'top_k', capability: 'sampling', otherwise: 'list' },
  {
    field: 'stop_sequences',
    capability: 'stop',
    otherwise: 'refuse',
    isDefault: (body) => body.stop_sequences?.length === 0,
  },
  { field: 'tools', capability: 'tools', otherwise: 'refuse', isDefault: ({ tools }) => tools?.length === 0 },
  { field: 'stream', capability: 'streaming', otherwise: 'refuse', isDefault: ({ stream }) => stream === false },
];

/** Refuses what the entry does not support, and lists hints. Returns the names of fields that are not to be sent. */
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
  if (!tools?.length) throw invalidRequest('tool_choice', 'tool_choice: needs tools beside it.');
  if (choice.type === 'auto' || choice.type === 'none' || model.capabilities.forcedToolChoice) return;
  const others = alternatives(({ capabilities }) => capabilities.forcedToolChoice);
  throw invalidRequest('tool_choice', `tool_choice: "${model.id}" takes only "auto" and "none".${others}`);
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

/** MSG-4: the steps are not compared with the entry's; a step that a model lacks is the vendor's to refuse. */
export const hasEffort = ({ reasoning }: TextModel): boolean => reasoning?.field === 'output_config.effort';
