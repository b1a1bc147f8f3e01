import { chatBody } from '../../lambdas/protocols/chat-completions/body.ts';
import { chatChunk } from '../answers/chunks.ts';
import { chatCompletion } from '../answers/text.ts';
import { ofKeyedRequests, ofPrompts } from '../error-codes.ts';
import { errorSchemas } from '../error-schemas.ts';
import { type Body, type Operation, streamOf } from '../operation.ts';
import { fallbackModel, fallbackModels, idempotencyKey } from '../parameters.ts';
import { receipt, reserve } from '../response-headers.ts';
import { chatExamples } from './chat-examples.ts';

const fields: Record<keyof typeof chatBody.shape, string> = {
  model: 'Id of a model.',
  messages:
    'The conversation: at least one message. `developer` is treated as `system`. `content` may be null only with `tool_calls` or a refusal. Images are http(s) URLs or base64 data URIs of PNG, JPEG or WebP. Videos, for models that support them, are base64 data URIs of at most 20,000,000 characters or links to a video platform. Errors have the code `invalid_messages`.',
  temperature: 'Randomness of the output. Default: 1.',
  top_p: 'Nucleus sampling. Default: 1.',
  max_tokens:
    "Maximum number of output tokens, including reasoning. Without it, the hold covers the model's own default.",
  max_completion_tokens: 'Newer name of `max_tokens`. Different values in both are rejected.',
  n: 'Number of choices. A value above 1 is 422 for models that create one choice per request.',
  stop: 'Sequences at which the output stops.',
  presence_penalty: 'Penalty for topics that already occurred.',
  frequency_penalty: 'Penalty for words that already occurred.',
  stream: 'If true, the response is a stream of server-sent events.',
  stream_options:
    'Ignored without `stream`. A stream always includes its usage; with `include_usage` of true, in a last chunk of its own without choices.',
  tools: 'Functions that the model can call. `parameters` is a JSON schema.',
  tool_choice: 'Whether the model calls a function, and which one. Requiring a call needs `tools`.',
  response_format: 'Format of the output. Models without JSON schema support reject a schema.',
  seed: 'Makes outputs reproducible, on models that support it.',
  user: 'Your name for the end user. The receipt includes it.',
  reasoning_effort:
    'Amount of reasoning. OpenAI rejects a level that the model does not have. Claude and Gemini get the nearest level, and the field is listed as ignored. Models without reasoning ignore it.',
  output_config: 'Amount of thinking of Claude. Other models ignore it. Do not combine it with `reasoning_effort`.',
  metadata: 'Forwarded to the provider.',
  logit_bias: 'Changes the likelihood of tokens, by token number.',
  logprobs: 'Whether the response includes the log probability of each token. Claude and Gemini ignore it.',
  top_logprobs: 'Number of alternatives per token in the response.',
  parallel_tool_calls: 'Whether the model can call several functions in parallel.',
  prompt_cache_key: 'Groups requests whose prompts start alike.',
  prompt_cache_options: 'Ignored.',
  prompt_cache_retention: 'Longer retention is charged by the provider and not supported.',
  safety_identifier: 'Hash that identifies your end user to the provider.',
  verbosity: 'Length of the output.',
  modalities: 'Text only.',
  service_tier: 'Other tiers have other prices and are not supported.',
  store: 'Must be false: the gateway stores nothing.',
};

const chatRequest: Body = {
  name: 'ChatRequest',
  schema: chatBody,
  fields,
  open: true,
  description:
    'Null counts as absent. Unknown fields, and optional fields that the model does not support, are ignored and listed in `X-Service-Ignored-Parameters`. Fields that change the result, such as `stop`, get errors that name them.',
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
    summary: 'Create a chat completion',
    description:
      'Supports every text model of every provider. Image models of two families return a link in `message.content`. With `stream`, the response is a stream of events. Chunks are forwarded as they arrive. The last chunk has the finish reason, the usage and the cost; `data: [DONE]` follows. With `stream_options.include_usage` of true, the usage and the cost are in a further chunk with `choices: []`. An error within a stream is one event with an error object, without `[DONE]`.',
    parameters: [idempotencyKey, fallbackModel, fallbackModels],
    json: chatRequest,
    answers: {
      '200': {
        description:
          'The completion, or its stream. A stream has its cost in `usage.cost` and `usage.cost_usd` of the last chunk instead of in a header.',
        headers: [...receipt, 'X-Service-Max-Tokens', ...reserve, 'Idempotent-Replayed'],
        content: {
          'application/json': { schema: chatCompletion },
          'text/event-stream': streamOf({
            event: chatChunk,
            error: errorSchemas.plain,
            end: '[DONE]',
            example: events,
          }),
        },
      },
    },
    codes: [...ofPrompts, ...ofKeyedRequests, 'invalid_messages', 'idempotency_not_supported', 'unprocessable_entity'],
  },
};
