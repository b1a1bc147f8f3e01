import { responsesBody } from '../../../lambdas/protocols/responses/body.ts';
import { response } from '../answers/text.ts';
import { ofKeyedRequests, ofPrompts } from '../error-codes.ts';
import type { Body, Operation } from '../operation.ts';
import { fallbackModel, idempotencyKey } from '../parameters.ts';
import { receipt, reserve } from '../response-headers.ts';

const notKept = 'Nothing is kept: any other value is `unsupported_parameter`.';

const fields: Record<keyof typeof responsesBody.shape, string> = {
  model: 'The id of a model with the protocol `responses`.',
  input: 'A text, or the items of a conversation. A message may leave its `type` out.',
  instructions: 'What stands above the conversation.',
  tools: 'Functions that the model may call. `parameters` is a JSON schema.',
  reasoning: 'How much the model thinks; the steps are those of the model, today `medium`, `high` and `xhigh`.',
  temperature: 'How much chance there is in the answer.',
  max_output_tokens: 'The most tokens of the answer, reasoning included.',
  tool_choice: 'Whether and which function is called. A demand needs `tools` beside it.',
  parallel_tool_calls: 'Whether several functions may be called at once.',
  stream: 'With true the answer comes as server-sent events.',
  top_p: 'Nucleus sampling.',
  text: 'What the answer is written in, and how much it says.',
  include: 'What else is to stand in the answer. Sealed reasoning is always there.',
  metadata: 'Forwarded to the vendor.',
  user: 'Your own name for your end user. It stands in the receipt.',
  safety_identifier: 'A hash of your end user, for the vendor.',
  prompt_cache_key: 'Groups requests whose prompts begin alike.',
  prompt_cache_retention: 'Longer retention is paid at the vendor and not served.',
  truncation: 'Whether the vendor may leave out the beginning of what is too long.',
  stream_options: 'How the events are padded.',
  service_tier: 'Other tiers have other prices and are not served.',
  store: notKept,
  background: notKept,
  previous_response_id: notKept,
  conversation: notKept,
};

const responsesRequest: Body = {
  name: 'ResponsesRequest',
  schema: responsesBody,
  fields,
  open: true,
  description: 'Null is the same as leaving a field out. Any field that is not here is refused by name.',
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
      'Only models whose protocols name `responses` are served here. Events have the vendor’s names, order and data, and end with `response.completed` or `response.incomplete`; an error is `event: error` and the last one.',
    parameters: [idempotencyKey, fallbackModel],
    json: responsesRequest,
    answers: {
      '200': {
        description: 'The whole answer, or its stream. A stream has no headers of cost.',
        headers: [...receipt, 'X-Service-Max-Tokens', ...reserve, 'Idempotent-Replayed'],
        content: {
          'application/json': { schema: response },
          'text/event-stream': { schema: { type: 'string' }, example: events },
        },
      },
    },
    codes: [...ofPrompts, ...ofKeyedRequests, 'unsupported_parameter', 'idempotency_not_supported'],
  },
};
