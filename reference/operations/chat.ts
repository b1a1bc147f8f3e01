import { chatBody } from '../../lambdas/protocols/chat-completions/body.ts';
import { chatChunk } from '../answers/chunks.ts';
import { chatCompletion } from '../answers/text.ts';
import { ofKeyedRequests, ofPrompts } from '../error-codes.ts';
import { type Body, type Operation, streamOf } from '../operation.ts';
import { fallbackModel, idempotencyKey } from '../parameters.ts';
import { receipt, reserve } from '../response-headers.ts';
import { chatExamples } from './chat-examples.ts';

const fields: Record<keyof typeof chatBody.shape, string> = {
  model: 'The id of a model.',
  messages:
    'The conversation, at least one message. `developer` counts as `system`. `content` of null stands only beside `tool_calls` or a refusal. An image is an http(s) URL or a base64 data URI of a PNG, JPEG or WebP; a video, for models that take one, a base64 data URI of at most 20,000,000 characters or a link to a video platform. What is wrong here is `invalid_messages`.',
  temperature: 'How much chance there is in the answer; 1 if left out.',
  top_p: 'Nucleus sampling; 1 if left out.',
  max_tokens: 'The most tokens of the answer, reasoning included. Without it the model’s own default is held for.',
  max_completion_tokens: 'The same under its newer name. Both with different values are refused.',
  n: 'How many answers. Above 1 it is 422 for models that give one at a time.',
  stop: 'Where the answer stops.',
  presence_penalty: 'Against topics that were there already.',
  frequency_penalty: 'Against words that were there already.',
  stream: 'With true the answer comes as server-sent events.',
  stream_options: 'Ignored without a stream. A stream always tells its usage.',
  tools: 'Functions that the model may call. `parameters` is a JSON schema.',
  tool_choice: 'Whether and which function is called. A demand needs `tools` beside it.',
  response_format: 'The format of the answer. Models without JSON schemas refuse one.',
  seed: 'For answers that can be had again, on models that have it.',
  user: 'Your own name for your end user. It stands in the receipt.',
  reasoning_effort:
    'How much the model thinks. The vendor refuses a step that the model lacks. For Claude it becomes `output_config.effort`, with `none` and `minimal` as `low`. Models without it ignore it.',
  output_config: 'How much Claude thinks. Other models ignore it. Not beside `reasoning_effort`.',
  metadata: 'Forwarded to the vendor.',
  logit_bias: 'Makes tokens, by their number, more or less likely.',
  logprobs: 'Whether to tell the probability of each token.',
  top_logprobs: 'How many alternatives to tell for each token.',
  parallel_tool_calls: 'Whether several functions may be called at once.',
  prompt_cache_key: 'Groups requests whose prompts begin alike.',
  prompt_cache_options: 'Ignored.',
  prompt_cache_retention: 'Longer retention is paid at the vendor and not served.',
  safety_identifier: 'A hash of your end user, for the vendor.',
  verbosity: 'How much the answer says.',
  modalities: 'Text only.',
  service_tier: 'Other tiers have other prices and are not served.',
  store: 'Nothing is kept.',
};

const chatRequest: Body = {
  name: 'ChatRequest',
  schema: chatBody,
  fields,
  open: true,
  description:
    'Null is the same as an absent field. A hint that the model does not support is ignored and listed in `X-Service-Ignored-Parameters`, and so is an unknown field. What the caller relies on, such as `stop` or `logprobs`, is refused by name.',
  examples: chatExamples,
};

const events = `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1795000000,"model":"gpt-4.1-mini","choices":[{"index":0,"delta":{"role":"assistant","content":"Good "},"logprobs":null,"finish_reason":null}]}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1795000000,"model":"gpt-4.1-mini","choices":[{"index":0,"delta":{"content":"evening."},"logprobs":null,"finish_reason":null}]}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1795000000,"model":"gpt-4.1-mini","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":12,"completion_tokens":3,"total_tokens":15,"prompt_tokens_details":{"cached_tokens":0},"cost":0.0000096,"cost_usd":"0.0000096"}}

data: [DONE]

`;

export const chatOperations: Record<'chatCompletions', Operation> = {
  chatCompletions: {
    tag: 'Chat',
    summary: 'Answer a conversation',
    description:
      'Every model for text is served here, whichever vendor it is from; image models of two families answer with a link in `message.content`. With `stream` the answer comes as events: each but the last passes on as soon as it is there, the last holds the finish reason, the usage and the cost, and `data: [DONE]` follows. An error inside a stream is one event with an error object and no `[DONE]`.',
    parameters: [idempotencyKey, fallbackModel],
    json: chatRequest,
    answers: {
      '200': {
        description:
          'The whole answer, or its stream. A stream has its cost in `usage.cost` and `usage.cost_usd` of the last chunk instead of in a header.',
        headers: [...receipt, 'X-Service-Max-Tokens', ...reserve, 'Idempotent-Replayed'],
        content: {
          'application/json': { schema: chatCompletion },
          'text/event-stream': streamOf(chatChunk, events),
        },
      },
    },
    codes: [...ofPrompts, ...ofKeyedRequests, 'invalid_messages', 'idempotency_not_supported', 'unprocessable_entity'],
  },
};
