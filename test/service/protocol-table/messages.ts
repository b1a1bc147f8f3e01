import Anthropic from '@anthropic-ai/sdk';
import type { MessageCreateParamsNonStreaming, MessageParam } from '@anthropic-ai/sdk/resources/messages';
import type { TestGateway } from '../../support/gateway.ts';
import { usageIn } from '../../support/protocol-usage.ts';
import { type ProtocolClient, personSchema, pixel, type Question, type Reply, resultFor, weather } from './client.ts';

type Body = Partial<Omit<MessageCreateParamsNonStreaming, 'model' | 'stream' | 'messages'>>;

const tools = [{ name: weather.name, input_schema: weather.schema }];

/** Source: https://platform.claude.com/docs/en/api/messages */
export const messagesClient = ({ url, apiKey }: TestGateway): ProtocolClient => {
  const { messages: api } = new Anthropic({ baseURL: url, apiKey, maxRetries: 0 });

  const ask = async ({ model, streamed }: Question, messages: MessageParam[], rest: Body = {}) => {
    const body = { model, max_tokens: 4_000, messages, ...rest };
    const message = streamed ? await api.stream(body).finalMessage() : await api.create(body);
    const calls = message.content.filter((block) => block.type === 'tool_use');
    const reply: Reply = {
      model: message.model,
      text: message.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
      calls: calls.map(({ name, input }) => ({ name, arguments: input })),
      finish: message.stop_reason,
      usage: usageIn.messages(message.usage),
    };
    return { reply, calls, content: message.content };
  };
  const replyTo = async (...question: Parameters<typeof ask>): Promise<Reply> => (await ask(...question)).reply;
  const saying = ({ prompt, cacheFor }: Question): MessageParam => ({
    role: 'user',
    content: cacheFor ? [{ type: 'text', text: prompt, cache_control: { type: 'ephemeral', ttl: cacheFor } }] : prompt,
  });

  return {
    finishes: { done: 'end_turn', calling: 'tool_use' },
    text: (question) => replyTo(question, [saying(question)]),
    image: (question) => {
      const source = { type: 'base64' as const, media_type: pixel.mediaType, data: pixel.data };
      const image = { type: 'image' as const, source };
      return replyTo(question, [{ role: 'user', content: [{ type: 'text', text: question.prompt }, image] }]);
    },
    schema: (question) => {
      const format = { type: 'json_schema' as const, schema: personSchema };
      return replyTo(question, [saying(question)], { output_config: { format } });
    },
    tools: async (question) => {
      const asked = await ask(question, [saying(question)], { tools });
      const results = asked.calls.map(({ id, input }) => ({
        type: 'tool_result' as const,
        tool_use_id: id,
        content: resultFor(input),
      }));
      const messages: MessageParam[] = [
        saying(question),
        { role: 'assistant', content: asked.content },
        { role: 'user', content: results },
      ];
      return [asked.reply, await replyTo(question, messages, { tools })];
    },
  };
};
