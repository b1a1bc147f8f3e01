import { responsesBody } from '../../lambdas/protocols/responses/body.ts';
import { responseEvent } from '../answers/chunks.ts';
import { response } from '../answers/text.ts';
import { ofKeyedRequests, ofPrompts } from '../error-codes.ts';
import { type Body, type Operation, streamOf } from '../operation.ts';
import { fallbackModel, idempotencyKey } from '../parameters.ts';
import { receipt, reserve } from '../response-headers.ts';

const fields: Record<keyof typeof responsesBody.shape, string> = {
  model: 'The id of a model with the protocol `responses`.',
  input: 'A text, or the items of a conversation. A message may leave its `type` out.',
  instructions: 'What stands above the conversation.',
  tools:
    'Tools that the client runs: functions, custom tools, namespaces of both and a search of tools. A web search of cached pages is left out, a live one refused.',
  reasoning: 'How much the model thinks; the steps are those of the model, today `medium`, `high` and `xhigh`.',
  temperature: 'How much chance there is in the answer.',
  max_output_tokens: 'The most tokens of the answer, reasoning included.',
  tool_choice: 'Whether and which tool is called. A demand needs `tools` beside it.',
  parallel_tool_calls: 'Whether several functions may be called at once.',
  stream: 'With true the answer comes as server-sent events.',
  top_p: 'Nucleus sampling.',
  top_logprobs: 'How many alternatives for each token are in the response, on models with log probabilities.',
  text: 'What the answer is written in, and how much it says.',
  include:
    'More data for the response. Sealed reasoning is always there. Data of tools that run at the provider is ignored.',
  metadata: 'Forwarded to the vendor.',
  user: 'Your own name for your end user, in the receipt as well. One of more than 256 characters is ignored.',
  safety_identifier: 'A hash of your end user, for the vendor.',
  prompt_cache_key: 'Groups requests whose prompts begin alike.',
  prompt_cache_retention: 'Longer retention is paid at the vendor and not served.',
  prompt_cache_options: 'Only the default is in effect: `mode` of `implicit`. Other options are ignored.',
  truncation: 'Whether the vendor may leave out the beginning of what is too long.',
  stream_options: 'How the events are padded.',
  service_tier: 'Other tiers have other prices and are not served.',
};

const responsesRequest: Body = {
  name: 'ResponsesRequest',
  schema: responsesBody,
  fields,
  open: true,
  description:
    'Null is the same as leaving a field out. Unknown fields are ignored and listed in `X-Service-Ignored-Parameters`. `store` and `background` of true, `previous_response_id` and `conversation` are `unsupported_parameter`, since nothing is kept.',
  examples: {
    plain: {
      summary: 'A question',
      value: { model: 'gpt-5.4-pro', input: 'Why is the evening sky red?', max_output_tokens: 500 },
    },
    stream: {
      summary: 'The same as a stream, with effort',
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
    summary: 'Answer an input',
    description:
      'Only models whose protocols name `responses` are served here. Events have the vendor’s names, order and data, and end with `response.completed` or `response.incomplete`; a failure is `event: error` and then `response.failed`, with no other end.',
    parameters: [idempotencyKey, fallbackModel],
    json: responsesRequest,
    answers: {
      '200': {
        description: 'The whole answer, or its stream. A stream has no headers of cost.',
        headers: [...receipt, 'X-Service-Max-Tokens', ...reserve, 'Idempotent-Replayed'],
        content: {
          'application/json': { schema: response },
          'text/event-stream': streamOf(responseEvent, events),
        },
      },
    },
    codes: [...ofPrompts, ...ofKeyedRequests, 'unsupported_parameter', 'idempotency_not_supported'],
  },
};
