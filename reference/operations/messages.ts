import { countBody, messagesBody } from '../../lambdas/protocols/messages/body.ts';
import { messageEvent } from '../answers/chunks.ts';
import { message, messageTokens } from '../answers/text.ts';
import { ofModels, ofPrompts } from '../error-codes.ts';
import { type Body, type Operation, streamOf } from '../operation.ts';
import { anthropicBeta, anthropicVersion, providerVersion } from '../parameters.ts';
import { receipt } from '../response-headers.ts';

const promptFields: Record<keyof typeof countBody.shape, string> = {
  model: 'Id of a model with the protocol `messages`. The suffix `-thinking` turns on thinking, if the model lists it.',
  messages: 'The conversation: at least one message.',
  system: 'Instructions that precede the conversation.',
  tools:
    'Your own tools, and tools that the provider defines and the client runs: bash, text editor and memory. Tools that run at the provider are not supported.',
  tool_choice: 'Whether the model uses a tool, and which one.',
  thinking:
    '`adaptive` on the newest models, `enabled` with a budget below `max_tokens` on older ones. The gateway rejects a type that the model does not have.',
  output_config:
    '`effort` is the amount of thinking; its default is `high`. `format` is the schema of the output. `task_budget` is a budget that the model is shown.',
  output_format: 'Old name of `output_config.format`.',
  context_management:
    'Parts of a long prompt that the provider removes: tool results, thinking. Summaries are not supported.',
  cache_control: "Stores the prompt in the provider's cache for five minutes or an hour. Forwarded unchanged.",
  speed: 'The faster mode costs more and is not supported.',
};

const fields: Record<keyof typeof messagesBody.shape, string> = {
  ...promptFields,
  max_tokens: 'Maximum number of output tokens, including thinking. 0 fills the cache without output.',
  stop_sequences: 'Sequences at which the output stops.',
  temperature: 'Randomness of the output.',
  top_p: 'Nucleus sampling.',
  top_k: 'Number of most likely tokens to choose from.',
  stream: 'If true, the response is a stream of server-sent events.',
  service_tier: 'Other tiers have other prices and are not supported.',
  metadata: '`user_id` is your name for the end user. The receipt includes it.',
};

const question = { model: 'claude-haiku-4-5', messages: [{ role: 'user', content: 'Why is the evening sky red?' }] };

const messagesRequest: Body = {
  name: 'MessagesRequest',
  schema: messagesBody,
  fields,
  description: 'Other fields are ignored and listed in `X-Service-Ignored-Parameters`.',
  examples: {
    plain: { summary: 'A question', value: { ...question, max_tokens: 200 } },
    stream: { summary: 'The same question as a stream', value: { ...question, max_tokens: 200, stream: true } },
    cache: {
      summary: 'A long prompt, cached for an hour',
      value: {
        ...question,
        system: [{ type: 'text', text: 'You are an astronomer.', cache_control: { type: 'ephemeral', ttl: '1h' } }],
        max_tokens: 200,
      },
    },
  },
};

const countRequest: Body = {
  name: 'CountMessagesRequest',
  schema: countBody,
  fields: promptFields,
  description: 'Fields of the prompt. Output fields, such as `max_tokens`, are ignored.',
  examples: { plain: { summary: 'A question', value: question } },
};

const events = `event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-haiku-4-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":14,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Blue light is scattered away."}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":9}}

event: message_stop
data: {"type":"message_stop"}

`;

export const messagesOperations: Record<'messages' | 'countMessageTokens', Operation> = {
  messages: {
    tag: 'Messages',
    summary: 'Create a message',
    description:
      "Returns the provider's response and events unchanged. Only this protocol offers prices for prompt caching. An error within a stream is `event: error`, without `message_stop`.",
    parameters: [providerVersion, anthropicVersion, anthropicBeta],
    json: messagesRequest,
    answers: {
      '200': {
        description: 'The message, or its stream. A stream has no cost headers.',
        headers: receipt,
        content: {
          'application/json': { schema: message },
          'text/event-stream': streamOf({ event: messageEvent, example: events }),
        },
      },
    },
    codes: [...ofPrompts, 'invalid_messages', 'idempotency_not_supported'],
  },
  countMessageTokens: {
    tag: 'Messages',
    summary: 'Count the tokens of a prompt',
    description: 'Free of charge, at any balance.',
    parameters: [providerVersion, anthropicVersion, anthropicBeta],
    json: countRequest,
    answers: {
      '200': {
        description: 'Number of tokens of the prompt.',
        content: { 'application/json': { schema: messageTokens } },
      },
    },
    codes: [...ofModels, ...ofPrompts, 'invalid_messages', 'idempotency_not_supported'],
  },
};
