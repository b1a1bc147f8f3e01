import Anthropic from '@anthropic-ai/sdk';
import { ApiError } from '@google/genai';
import OpenAI from 'openai';
import * as z from 'zod';
import { errorShapes } from '../../support/error-shapes.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { sdkFor } from '../../support/gateway-chat.ts';
import { googleFor } from '../../support/google-client.ts';
import { anthropicFor } from '../../support/messages-client.ts';
import { CAP, chatBody, contentsBody, messagesBody, responsesBody } from './bodies.ts';

export interface Said {
  readonly text: string;
  readonly calls: readonly { readonly id: string | undefined; readonly city: unknown }[];
  readonly ended: string | null | undefined;
  /** Input and output tokens, as the client receives them. */
  readonly usage: readonly [number | undefined, number | undefined];
}

interface Sending {
  readonly path: string;
  readonly body: object;
}

/** A path through the gateway: from a client protocol to a provider of the same or another protocol. */
export interface Face {
  readonly name: string;
  readonly model: string;
  /** Finish reasons for a complete output, for pending tool calls, and for a reached token cap. */
  readonly ends: { readonly done: string; readonly calling: string; readonly capped: string };
  ask(gateway: TestGateway, answered: boolean, streamed: boolean): Promise<Said>;
  /** Exact request that must reach the provider. */
  sends(answered: boolean, streamed: boolean): Sending;
}

const cityIn = (json: string): unknown => z.object({ city: z.string() }).parse(JSON.parse(json)).city;
const streaming = (streamed: boolean) => (streamed ? { stream: true } : {});

const toChat = (model: string, answered: boolean, streamed: boolean): Sending => ({
  path: '/v1/chat/completions',
  body: {
    ...chatBody(model, answered),
    store: false,
    ...(streamed ? { stream: true, stream_options: { include_usage: true } } : {}),
  },
});
const toResponses = (model: string, answered: boolean, streamed: boolean): Sending => ({
  path: '/v1/responses',
  body: {
    ...responsesBody(model, answered),
    store: false,
    ...streaming(streamed),
  },
});
/** Nothing is stored, so reasoning must be requested in the form that a client can send back. */
const toResponsesNatively: typeof toResponses = (...asked) => {
  const { path, body } = toResponses(...asked);
  return { path, body: { ...body, include: ['reasoning.encrypted_content'] } };
};
const toMessages = (model: string, answered: boolean, streamed: boolean): Sending => ({
  path: '/v1/messages',
  body: { ...messagesBody(model, answered), ...streaming(streamed) },
});
const toGemini = (model: string, answered: boolean, streamed: boolean): Sending => ({
  path: `/v1beta/models/${model}:${streamed ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  body: contentsBody(answered),
});

type ToVendor = (model: string, answered: boolean, streamed: boolean) => Sending;

const chatFace = (rest: Pick<Face, 'name' | 'model'>, toVendor: ToVendor, extra = {}): Face => ({
  ...rest,
  ends: { done: 'stop', calling: 'tool_calls', capped: 'length' },
  sends: (answered, streamed) => toVendor(rest.model, answered, streamed),
  ask: async (gateway, answered, streamed) => {
    const { completions } = sdkFor(gateway).chat;
    const body = { ...chatBody(rest.model, answered), ...extra };
    const answer = streamed ? await completions.stream(body).finalChatCompletion() : await completions.create(body);
    const { message, finish_reason } = answer.choices[0]!;
    return {
      text: message.content ?? '',
      calls: (message.tool_calls ?? []).map((call) => ({
        id: call.id,
        city: call.type === 'function' ? cityIn(call.function.arguments) : undefined,
      })),
      ended: finish_reason,
      usage: [answer.usage?.prompt_tokens, answer.usage?.completion_tokens],
    };
  },
});

const responses: Face = {
  name: 'responses',
  model: 'gpt-5.4-pro',
  ends: { done: 'completed', calling: 'completed', capped: 'incomplete' },
  sends: (answered, streamed) => toResponsesNatively(responses.model, answered, streamed),
  ask: async (gateway, answered, streamed) => {
    const client = sdkFor(gateway).responses;
    const body = responsesBody(responses.model, answered);
    const answer = streamed ? await client.stream(body).finalResponse() : await client.create(body);
    return {
      text: answer.output_text,
      calls: answer.output.flatMap((item) =>
        item.type === 'function_call' ? [{ id: item.call_id, city: cityIn(item.arguments) }] : [],
      ),
      ended: answer.status,
      usage: [answer.usage?.input_tokens, answer.usage?.output_tokens],
    };
  },
};

const messages: Face = {
  name: 'messages',
  model: 'claude-sonnet-5',
  ends: { done: 'end_turn', calling: 'tool_use', capped: 'max_tokens' },
  sends: (answered, streamed) => toMessages(messages.model, answered, streamed),
  ask: async (gateway, answered, streamed) => {
    const client = anthropicFor(gateway).messages;
    const body = messagesBody(messages.model, answered);
    const answer = streamed ? await client.stream(body).finalMessage() : await client.create(body);
    return {
      text: answer.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
      calls: answer.content.flatMap((block) =>
        block.type === 'tool_use' ? [{ id: block.id, city: cityIn(JSON.stringify(block.input)) }] : [],
      ),
      ended: answer.stop_reason,
      usage: [answer.usage.input_tokens, answer.usage.output_tokens],
    };
  },
};

const generateContent: Face = {
  name: 'generateContent',
  model: 'gemini-3.8-flash',
  ends: { done: 'STOP', calling: 'STOP', capped: 'MAX_TOKENS' },
  sends: (answered, streamed) => toGemini(generateContent.model, answered, streamed),
  ask: async (gateway, answered, streamed) => {
    const { models } = googleFor(gateway);
    const { contents, systemInstruction, tools } = contentsBody(answered);
    const config = { systemInstruction, tools, maxOutputTokens: CAP };
    const request = { model: generateContent.model, contents, config };
    const chunks = streamed
      ? await Array.fromAsync(await models.generateContentStream(request))
      : [await models.generateContent(request)];
    const usage = chunks.at(-1)?.usageMetadata;
    return {
      text: chunks
        .flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? [])
        .map(({ text, thought }) => (thought ? '' : (text ?? '')))
        .join(''),
      calls: chunks
        .flatMap(({ functionCalls = [] }) => functionCalls)
        .map(({ id, args }) => ({ id, city: args?.city })),
      ended: chunks.at(-1)?.candidates?.[0]?.finishReason,
      usage: [usage?.promptTokenCount, usage?.candidatesTokenCount],
    };
  },
};

export const faces: readonly Face[] = [
  chatFace({ name: 'chat', model: 'gpt-4.1-mini' }, toChat),
  chatFace({ name: 'chat onto responses', model: 'gpt-6.2-sol' }, toResponses, {
    reasoning_effort: 'high',
  }),
  chatFace({ name: 'chat onto messages', model: 'claude-sonnet-5' }, toMessages),
  chatFace({ name: 'chat onto generateContent', model: 'gemini-3.8-flash' }, toGemini),
  responses,
  messages,
  generateContent,
];

/** Returns the status, if any, and the gateway's error code from the error of an official client. */
export async function failureOf(pending: Promise<unknown>): Promise<readonly [number | undefined, unknown]> {
  const thrown: unknown = await pending.then(
    (answer) => new Error(`expected a failure: ${JSON.stringify(answer)}`),
    (error: unknown) => error,
  );
  if (thrown instanceof OpenAI.APIError) return [thrown.status, thrown.code];
  if (thrown instanceof Anthropic.APIError) return [thrown.status, errorShapes.messages.parse(thrown.error).code];
  if (thrown instanceof ApiError)
    return [thrown.status, errorShapes.generate_content.parse(JSON.parse(thrown.message)).code];
  throw thrown;
}
