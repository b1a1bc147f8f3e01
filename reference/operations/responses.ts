import { responsesBody } from '../../lambdas/protocols/responses/body.ts';
import { responseEvent } from '../answers/chunks.ts';
import { response } from '../answers/text.ts';
import { ofKeyedRequests, ofPrompts } from '../error-codes.ts';
import { type Body, type Operation, streamOf } from '../operation.ts';
import { fallbackModel, fallbackModels, idempotencyKey } from '../parameters.ts';
import { receipt, reserve } from '../response-headers.ts';

const fields: Record<keyof typeof responsesBody.shape, string> = {
  model: 'Id of a model with the protocol `responses`.',
  input: 'A text, or the items of a conversation. `type` is optional in a message.',
  instructions: 'Instructions that precede the conversation.',
  tools:
    'Tools that the client runs: functions, custom tools, namespaces of both, and a tool search. A web search of cached pages is ignored; a live web search is rejected.',
  reasoning: 'Amount of reasoning. The levels depend on the model, such as `medium`, `high` and `xhigh`.',
  temperature: 'Randomness of the output.',
  max_output_tokens: 'Maximum number of output tokens, including reasoning.',
  tool_choice: 'Whether the model calls a tool, and which one. Requiring a call needs `tools`.',
  parallel_tool_calls: 'Whether the model can call several functions in parallel.',
  stream: 'If true, the response is a stream of server-sent events.',
  top_p: 'Nucleus sampling.',
  top_logprobs: 'Number of alternatives per token in the response, on models with log probabilities.',
  text: 'Format and length of the output.',
  include:
    'Additional data of the response. Encrypted reasoning is always included. Data of tools that run at the provider is ignored.',
  metadata: 'Forwarded to the provider.',
  user: 'Your name for the end user. The receipt includes it. A value of more than 256 characters is ignored.',
  safety_identifier: 'Hash of your end user, for the provider.',
  prompt_cache_key: 'Groups requests whose prompts start alike.',
  prompt_cache_retention: 'Longer retention is charged by the provider and not supported.',
  prompt_cache_options: 'Only the default applies: `mode` of `implicit`. Other options are ignored.',
  truncation: 'Whether the provider can drop the start of an input that is too long.',
  stream_options: 'Whether the provider pads the events to hide their lengths (include_obfuscation).',
  service_tier: 'Other tiers have other prices and are not supported.',
};

const responsesRequest: Body = {
  name: 'ResponsesRequest',
  schema: responsesBody,
  fields,
  open: true,
  description:
    'Null counts as absent. Unknown fields are ignored and listed in `X-Service-Ignored-Parameters`. `store` and `background` of true, `previous_response_id` and `conversation` are `unsupported_parameter`, because the gateway stores nothing.',
  examples: {
    plain: {
      summary: 'A question',
      value: { model: 'gpt-5.4-pro', input: 'Why is the evening sky red?', max_output_tokens: 500 },
    },
    stream: {
      summary: 'A stream with reasoning effort',
      value: {
        model: 'gpt-5.4-pro',
        input: [{ role: 'user', content: 'Why is the evening sky red?' }],
        reasoning: { effort: 'medium' },
        max_output_tokens: 500,
        stream: true,
      },
    },
  },
};

const events = `event: response.created
data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","output":[]}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"Blue light is scattered away."}

event: response.completed
data: {"type":"response.completed","sequence_number":8,"response":{"id":"resp_1","object":"response","status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Blue light is scattered away."}]}],"usage":{"input_tokens":12,"output_tokens":6,"total_tokens":18}}}

`;

export const responsesOperations: Record<'responses', Operation> = {
  responses: {
    tag: 'Responses',
    summary: 'Create a response',
    description:
      "Supports models that list the protocol `responses`. Events have the provider's names, order and data, and end with `response.completed` or `response.incomplete`. A failure is `event: error`, then `response.failed`, without another end.",
    parameters: [idempotencyKey, fallbackModel, fallbackModels],
    json: responsesRequest,
    answers: {
      '200': {
        description: 'The response, or its stream. A stream has no cost headers.',
        headers: [...receipt, 'X-Service-Max-Tokens', ...reserve, 'Idempotent-Replayed'],
        content: {
          'application/json': { schema: response },
          'text/event-stream': streamOf({ event: responseEvent, example: events }),
        },
      },
    },
    codes: [...ofPrompts, ...ofKeyedRequests, 'unsupported_parameter', 'idempotency_not_supported'],
  },
};
