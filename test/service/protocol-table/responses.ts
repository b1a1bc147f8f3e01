import OpenAI from 'openai';
import type {
  Response,
  ResponseCreateParamsNonStreaming,
  ResponseInputItem,
  ResponseOutputItem,
} from 'openai/resources/responses/responses';
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

type Body = Omit<ResponseCreateParamsNonStreaming, 'model' | 'stream' | 'input'>;

const withTool: Body = {
  tools: [{ type: 'function', name: weather.name, parameters: weather.schema, strict: false }],
  // Reasoning must be in the response, because nothing is stored (RESP-4).
  include: ['reasoning.encrypted_content'],
};

/** Source: https://platform.openai.com/docs/api-reference/responses */
export const responsesClient = ({ url, apiKey }: TestGateway): ProtocolClient => {
  const { responses } = new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });

  const ask = async ({ model, streamed }: Question, input: ResponseInputItem[], body: Body = {}) => {
    const response: Response = streamed
      ? await responses.stream({ model, input, ...body }).finalResponse()
      : await responses.create({ model, input, ...body });
    const calls = response.output.filter((item) => item.type === 'function_call');
    const reply: Reply = {
      model: response.model,
      text: response.output_text,
      calls: calls.map(parsedCall),
      finish: response.status,
      usage: usageIn.responses(response.usage),
    };
    return { reply, calls, items: response.output.filter(canComeBack) };
  };
  const replyTo = async (...question: Parameters<typeof ask>): Promise<Reply> => (await ask(...question)).reply;
  const saying = ({ prompt }: Question) => ({ role: 'user' as const, content: prompt });

  return {
    finishes: { done: 'completed', calling: 'completed' },
    text: (question) => replyTo(question, [saying(question)]),
    image: (question) => {
      const image = { type: 'input_image' as const, image_url: pixelUrl, detail: 'auto' as const };
      const content = [{ type: 'input_text' as const, text: question.prompt }, image];
      return replyTo(question, [{ role: 'user', content }]);
    },
    schema: (question) => {
      const format = { type: 'json_schema' as const, name: 'person', strict: true, schema: personSchema };
      return replyTo(question, [saying(question)], { text: { format } });
    },
    tools: async (question) => {
      const asked = await ask(question, [saying(question)], withTool);
      const results = asked.calls.map((call) => ({
        type: 'function_call_output' as const,
        call_id: call.call_id,
        output: resultFor(JSON.parse(call.arguments)),
      }));
      return [asked.reply, await replyTo(question, [saying(question), ...asked.items, ...results], withTool)];
    },
  };
};

/** The SDK's types for output and input differ in items that no model of this test has. */
const canComeBack = (item: ResponseOutputItem) =>
  item.type === 'message' || item.type === 'reasoning' || item.type === 'function_call';
