import {
  type Content,
  type GenerateContentConfig,
  type GenerateContentParameters,
  type GenerateContentResponse,
  GoogleGenAI,
} from '@google/genai';
import type { TestGateway } from '../../support/gateway.ts';
import { usageIn } from '../../support/protocol-usage.ts';
import { type ProtocolClient, personSchema, pixel, type Question, type Reply, resultFor, weather } from './client.ts';

const withTool: GenerateContentConfig = {
  tools: [{ functionDeclarations: [{ name: weather.name, parametersJsonSchema: weather.schema }] }],
};

/** Source: https://ai.google.dev/api/generate-content */
export const contentClient = ({ url, apiKey }: TestGateway): ProtocolClient => {
  const { models } = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: url } });

  /** Treats a plain response as a stream of one chunk. */
  const send = async (streamed: boolean, body: GenerateContentParameters): Promise<GenerateContentResponse[]> =>
    streamed ? Array.fromAsync(await models.generateContentStream(body)) : [await models.generateContent(body)];

  const ask = async ({ model, streamed }: Question, contents: Content[], config: GenerateContentConfig = {}) => {
    const chunks = await send(streamed, { model, contents, config });
    const candidates = chunks.flatMap((chunk) => chunk.candidates ?? []);
    const parts = candidates.flatMap(({ content }) => content?.parts ?? []);
    const calls = parts.flatMap(({ functionCall }) => functionCall ?? []);
    const last = chunks.at(-1);
    const reply: Reply = {
      model: last?.modelVersion ?? '',
      text: parts.map(({ text = '', thought }) => (thought ? '' : text)).join(''),
      calls: calls.map(({ name = '', args }) => ({ name, arguments: args })),
      finish: candidates.findLast(({ finishReason }) => finishReason !== undefined)?.finishReason,
      usage: usageIn.generateContent(last?.usageMetadata),
    };
    return { reply, calls, parts };
  };
  const replyTo = async (...question: Parameters<typeof ask>): Promise<Reply> => (await ask(...question)).reply;
  const saying = ({ prompt }: Question): Content => ({ role: 'user', parts: [{ text: prompt }] });

  return {
    finishes: { done: 'STOP', calling: 'STOP' },
    text: (question) => replyTo(question, [saying(question)]),
    image: (question) => {
      const image = { inlineData: { mimeType: pixel.mediaType, data: pixel.data } };
      return replyTo(question, [{ role: 'user', parts: [{ text: question.prompt }, image] }]);
    },
    schema: (question) =>
      replyTo(question, [saying(question)], {
        responseMimeType: 'application/json',
        responseJsonSchema: personSchema,
      }),
    tools: async (question) => {
      const asked = await ask(question, [saying(question)], withTool);
      const results = asked.calls.map(({ id, name, args }) => ({
        functionResponse: { id, name, response: { output: resultFor(args) } },
      }));
      const contents = [saying(question), { role: 'model', parts: asked.parts }, { role: 'user', parts: results }];
      return [asked.reply, await replyTo(question, contents, withTool)];
    },
  };
};
