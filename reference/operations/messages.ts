import { countBody, messagesBody } from '../../lambdas/protocols/messages/body.ts';
import { messageEvent } from '../answers/chunks.ts';
import { message, messageTokens } from '../answers/text.ts';
import { ofModels, ofPrompts } from '../error-codes.ts';
import { type Body, type Operation, streamOf } from '../operation.ts';
import { anthropicBeta, anthropicVersion, providerVersion } from '../parameters.ts';
import { receipt } from '../response-headers.ts';

const promptFields: Record<keyof typeof countBody.shape, string> = {
  model:
    'The id of a model with the protocol `messages`. The suffix `-thinking` turns thinking on, where the model lists it.',
  messages: 'The conversation, at least one message.',
  system: 'What stands above the conversation.',
  tools:
    'Tools of your own, and those that the vendor defines and you run: bash, text editor and memory. Those that run at the vendor are not served.',
  tool_choice: 'Whether and which tool is used.',
  thinking:
    '`adaptive` on the newest models, `enabled` with a budget below `max_tokens` on older ones. A kind that the model lacks is refused.',
  output_config:
    'How much the model thinks: `effort`, `high` if left out. The schema of the answer. And `task_budget`, a budget that the model is shown.',
  output_format: 'The old name of `output_config.format`.',
  context_management:
    'What the vendor clears from a long prompt: results of tools, thinking. Summaries are not served.',
  cache_control: 'Keeps the prompt in the vendor’s cache, for five minutes or an hour. It passes unchanged.',
  speed: 'The faster mode is dearer and not served.',
};

const fields: Record<keyof typeof messagesBody.shape, string> = {
  ...promptFields,
  max_tokens: 'The most tokens of the answer, thinking included. 0 fills the cache and answers nothing.',
  stop_sequences: 'Where the answer stops.',
  temperature: 'How much chance there is in the answer.',
  top_p: 'Nucleus sampling.',
  top_k: 'How many tokens are chosen from.',
  stream: 'With true the answer comes as server-sent events.',
  service_tier: 'Other tiers have other prices and are not served.',
  metadata: '`user_id` is your own name for your end user. It stands in the receipt.',
};

const question = { model: 'claude-haiku-4-5', messages: [{ role: 'user', content: 'Why is the evening sky red?' }] };

const messagesRequest: Body = {
  name: 'MessagesRequest',
  schema: messagesBody,
  fields,
  description: 'Other fields are ignored, and named in `X-Service-Ignored-Parameters`.',
  examples: {
    plain: { summary: 'A question', value: { ...question, max_tokens: 200 } },
    stream: { summary: 'The same as a stream', value: { ...question, max_tokens: 200, stream: true } },
    cache: {
      summary: 'A long prompt that is kept for an hour',
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
  description: 'The fields of the prompt. Those of the answer, such as `max_tokens`, are ignored.',
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
    summary: 'Answer a conversation in the messages format',
    description:
      'Answers and events pass as the vendor wrote them. Prompt caching is priced here and nowhere else. An error inside a stream is `event: error`, and no `message_stop` follows.',
    parameters: [providerVersion, anthropicVersion, anthropicBeta],
    json: messagesRequest,
    answers: {
      '200': {
        description: 'The whole answer, or its stream. A stream has no headers of cost.',
        headers: receipt,
        content: {
          'application/json': { schema: message },
          'text/event-stream': streamOf(messageEvent, events),
        },
      },
    },
    codes: [...ofPrompts, 'invalid_messages', 'idempotency_not_supported'],
  },
  countMessageTokens: {
    tag: 'Messages',
    summary: 'Count the tokens of a prompt',
    description: 'Free of charge, whatever the balance is.',
    parameters: [providerVersion, anthropicVersion, anthropicBeta],
    json: countRequest,
    answers: {
      '200': {
        description: 'How many tokens the prompt has.',
        content: { 'application/json': { schema: messageTokens } },
      },
    },
    codes: [...ofModels, ...ofPrompts, 'invalid_messages', 'idempotency_not_supported'],
  },
};
