import type { Wire } from '../../core/catalog/providers.ts';
import type { TextModel } from '../../core/catalog/schema.ts';
import { GatewayError, invalidRequest } from '../../core/errors/gateway-error.ts';
import type { Alternatives } from '../alternatives.ts';
import type { ChatBody } from './body.ts';

const present = (body: ChatBody, field: keyof ChatBody): boolean => body[field] !== undefined && body[field] !== null;

/** Throws the 400 or 422 for what the caller relies on and the model lacks. */
export const checkAgainst = (body: ChatBody, wire: Wire, model: TextModel, alternatives: Alternatives): void => {
  refuseForcedTool(body, model);
  refuseFormat(body, wire, model, alternatives);

  if ((body.n ?? 1) > 1 && !model.capabilities.multipleChoices) {
    const others = alternatives(({ capabilities }) => capabilities.multipleChoices);
    const message = `n: "${model.id}" gives one answer at a time. Send n: 1.${others}`;
    throw new GatewayError('unprocessable_entity', message, { param: 'n' });
  }
};

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;

const refuseForcedTool = ({ tool_choice: choice }: ChatBody, model: TextModel): void => {
  const forced = choice === 'required' || isObject(choice);
  if (!forced || model.capabilities.forcedToolChoice) return;
  throw invalidRequest('tool_choice', `tool_choice: "${model.id}" takes only "auto" and "none".`);
};

/** CHAT-8. Claude is asked for JSON by an instruction. */
const refuseFormat = (
  { response_format: format }: ChatBody,
  wire: Wire,
  model: TextModel,
  alternatives: Alternatives,
): void => {
  const { jsonObject, jsonSchema } = model.capabilities;
  if (format?.type === 'json_schema' && !jsonSchema) {
    const others = alternatives(({ capabilities }) => capabilities.jsonSchema);
    throw invalidRequest('response_format', `response_format: json_schema is not supported with this model.${others}`);
  }
  if (format?.type === 'json_object' && !jsonObject && wire !== 'anthropic_messages') {
    const others = alternatives(({ capabilities }) => capabilities.jsonObject);
    throw invalidRequest('response_format', `response_format: json_object is not supported with this model.${others}`);
  }
};

/** CHAT-9. */
export const refuseTwoEfforts = (body: ChatBody): void => {
  if (!present(body, 'reasoning_effort') || !body.output_config?.effort) return;
  throw invalidRequest('reasoning_effort', 'reasoning_effort: send either this or output_config.effort, not both.');
};
