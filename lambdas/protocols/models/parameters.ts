import type { Model, TextModel } from '../../core/catalog/schema.ts';
import { textModelOf } from '../../core/catalog/text-model.ts';
import { takesField } from '../chat-fields.ts';

/** Fields of chat completions in OpenRouter's `supported_parameters`, but for those of `formats`. */
const fields = [
  'frequency_penalty',
  'logit_bias',
  'logprobs',
  'max_completion_tokens',
  'max_tokens',
  'parallel_tool_calls',
  'presence_penalty',
  'reasoning_effort',
  'seed',
  'stop',
  'temperature',
  'tools',
  'top_logprobs',
  'top_p',
  'verbosity',
];

/** What a field of the list depends on beside the model's vendor. */
const formats: Readonly<Record<string, (model: TextModel) => boolean>> = {
  response_format: ({ capabilities: { jsonObject, jsonSchema } }) => jsonObject || jsonSchema,
  structured_outputs: ({ capabilities }) => capabilities.jsonSchema,
  tool_choice: ({ capabilities }) => capabilities.tools,
};

/** Sorted. Empty for a model that chat completions do not serve. */
export const supportedParametersOf = (model: Model): readonly string[] => {
  const callable = textModelOf(model);
  if (!callable?.protocols.includes('chat_completions')) return [];
  const taken = fields.filter((field) => takesField(field, callable));
  const formatted = Object.entries(formats).flatMap(([name, takes]) => (takes(callable) ? [name] : []));
  return [...taken, ...formatted].sort();
};
