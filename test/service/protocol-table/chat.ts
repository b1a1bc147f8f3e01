import OpenAI from 'openai';
import type { ChatCompletionCreateParamsNonStreaming, ChatCompletionMessage } from 'openai/resources/chat/completions';
import type { TestGateway } from '../../support/gateway.ts';
import { usageIn } from '../../support/protocol-usage.ts';
import {
  type ProtocolClient,
  parsedCall,
  personSchema,
  pixelUrl,
  type Question,
  type Reply,
  resultFor,
  weather,
} from './client.ts';

type Body = Omit<ChatCompletionCreateParamsNonStreaming, 'model' | 'stream'>;

const tools = [{ type: 'function' as const, function: { name: weather.name, parameters: weather.schema } }];

/** Source: https://platform.openai.com/docs/api-reference/chat */
export const chatClient = ({ url, apiKey }: TestGateway): ProtocolClient => {
  const { completions } = new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 }).chat;

  const ask = async ({ model, streamed }: Question, body: Body) => {
    const completion = streamed
      ? await completions.stream({ model, ...body }).finalChatCompletion()
      : await completions.create({ model, ...body });
    const [choice] = completion.choices;
    if (!choice || completion.choices.length > 1) throw new Error(`${completion.choices.length} choices`);
    const reply: Reply = {
      model: completion.model,
      text: choice.message.content ?? '',
      calls: callsOf(choice.message).map((call) => parsedCall(call.function)),
      finish: choice.finish_reason,
      usage: usageIn.chat(completion.usage),
    };
    return { reply, message: choice.message };
  };
  const replyTo = async (question: Question, body: Body): Promise<Reply> => (await ask(question, body)).reply;
  const saying = ({ prompt }: Question) => ({ role: 'user' as const, content: prompt });

  return {
    finishes: { done: 'stop', calling: 'tool_calls' },
    text: (question) => replyTo(question, { messages: [saying(question)] }),
    image: (question) => {
      const image = { type: 'image_url' as const, image_url: { url: pixelUrl } };
      const content = [{ type: 'text' as const, text: question.prompt }, image];
      return replyTo(question, { messages: [{ role: 'user', content }] });
    },
    schema: (question) => {
      const format = { name: 'person', strict: true, schema: personSchema };
      const response_format = { type: 'json_schema' as const, json_schema: format };
      return replyTo(question, { messages: [saying(question)], response_format });
    },
    tools: async (question) => {
      const asked = await ask(question, { messages: [saying(question)], tools });
      const results = callsOf(asked.message).map((call) => ({
        role: 'tool' as const,
        tool_call_id: call.id,
        content: resultFor(JSON.parse(call.function.arguments)),
      }));
      const messages = [saying(question), asked.message, ...results];
      return [asked.reply, await replyTo(question, { messages, tools })];
    },
  };
};

const callsOf = ({ tool_calls: calls = [] }: ChatCompletionMessage) => calls.filter((call) => call.type === 'function');
