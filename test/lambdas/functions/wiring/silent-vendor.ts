import { readFileSync } from 'node:fs';
import { message } from '../../../fixtures/anthropic/message.ts';
import { generatedContent } from '../../../fixtures/google/generated-content.ts';
import { chatCompletion } from '../../../fixtures/openai/chat-completion.ts';
import { imagesResponse } from '../../../fixtures/openai/images.ts';
import { responsesAnswer } from '../../../fixtures/openai/responses-answer.ts';
import { png } from '../../../support/image-service.ts';
import { formOf } from '../../http/forms.ts';

export interface Customer {
  readonly path: string;
  readonly query?: string;
  readonly body?: object;
  readonly form?: readonly (readonly [string, string | File])[];
  /** Format of a failure after the response has started. */
  readonly ends: 'json' | 'bytes' | 'event' | 'array';
  /** Bytes that the gateway sends while the provider is silent. */
  readonly keepAlive?: string;
  readonly vendor: string | Uint8Array;
}

const fixture = (name: string): string => readFileSync(new URL(`../../../fixtures/${name}`, import.meta.url), 'utf8');

const said = [{ role: 'user', content: 'Hello' }];
const asked = { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] };
const picture = png(1_024, 1_024).toString('base64');
const drawing = {
  candidates: [
    {
      content: { role: 'model', parts: [{ inlineData: { mimeType: 'image/png', data: picture } }] },
      finishReason: 'STOP',
      index: 0,
    },
  ],
  usageMetadata: {
    promptTokenCount: 10,
    candidatesTokenCount: 1_290,
    totalTokenCount: 1_300,
    candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1_290 }],
  },
  modelVersion: 'm',
};
const images = JSON.stringify({ ...imagesResponse, data: [{ b64_json: picture }] });
const sound = (): File => new File(['ID3'], 'a.mp3');

const comment = ': keep-alive\n\n';
const ping = 'event: ping\ndata: {"type": "ping"}\n\n';

const chat = { path: '/v1/chat/completions', body: { model: 'gpt-4.1-mini', messages: said } };
const responses = { path: '/v1/responses', body: { model: 'gpt-5.2-pro', input: 'Hello' } };
const messages = {
  path: '/v1/messages',
  body: { model: 'claude-haiku-4-5', max_tokens: 1_000, messages: said },
};
const gemini = '/v1beta/models/gemini-3.8-flash';
const transcriptions = {
  path: '/v1/audio/transcriptions',
  vendor: '{"text":"Hi","usage":{"type":"duration","seconds":3}}',
};
const streamed = <Asked extends { readonly body: object }>(request: Asked): Asked => ({
  ...request,
  body: { ...request.body, stream: true },
});

/** One request per form of a paid response, with the provider's response. */
export const customers = {
  chat: { ...chat, ends: 'json', vendor: JSON.stringify(chatCompletion) },
  'chat stream': { ...streamed(chat), ends: 'event', keepAlive: comment, vendor: fixture('openai/chat-stream.sse') },
  'image on chat': {
    path: '/v1/chat/completions',
    body: { model: 'gemini-nano-banana-2.1', messages: said, stream: true },
    ends: 'event',
    keepAlive: comment,
    vendor: `data: ${JSON.stringify(drawing)}\n\n`,
  },
  responses: { ...responses, ends: 'json', vendor: JSON.stringify(responsesAnswer) },
  'responses stream': {
    ...streamed(responses),
    ends: 'event',
    keepAlive: comment,
    vendor: fixture('openai/responses-stream.sse'),
  },
  messages: { ...messages, ends: 'json', vendor: JSON.stringify(message) },
  'messages stream': { ...streamed(messages), ends: 'event', keepAlive: ping, vendor: fixture('anthropic/basic.sse') },
  generateContent: {
    path: `${gemini}:generateContent`,
    body: asked,
    ends: 'json',
    vendor: JSON.stringify(generatedContent),
  },
  'streamGenerateContent sse': {
    path: `${gemini}:streamGenerateContent`,
    query: 'sse',
    body: asked,
    ends: 'event',
    keepAlive: comment,
    vendor: fixture('google/text.sse'),
  },
  'streamGenerateContent array': {
    path: `${gemini}:streamGenerateContent`,
    body: asked,
    ends: 'array',
    keepAlive: ' ',
    vendor: fixture('google/text.sse'),
  },
  embeddings: {
    path: '/v1/embeddings',
    body: { model: 'text-embedding-3-small', input: 'Hello' },
    ends: 'json',
    vendor:
      '{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.5]}],"model":"m","usage":{"prompt_tokens":2,"total_tokens":2}}',
  },
  moderations: {
    path: '/v1/moderations',
    body: { model: 'omni-moderation-latest', input: 'Hello' },
    ends: 'json',
    vendor: '{"id":"m","model":"m","results":[{"flagged":false,"categories":{},"category_scores":{}}]}',
  },
  images: {
    path: '/v1/images/generations',
    body: { model: 'gpt-image-2', prompt: 'A boat', response_format: 'b64_json' },
    ends: 'json',
    vendor: images,
  },
  edits: {
    path: '/v1/images/edits',
    form: [
      ['model', 'gpt-image-2'],
      ['prompt', 'A boat'],
      ['response_format', 'b64_json'],
      ['image', new File([Uint8Array.from(png(1_024, 1_024))], 'a.png', { type: 'image/png' })],
    ],
    ends: 'json',
    vendor: images,
  },
  transcription: {
    ...transcriptions,
    form: [
      ['model', 'gpt-transcribe'],
      ['file', sound()],
    ],
    ends: 'json',
  },
  'transcription as text': {
    ...transcriptions,
    form: [
      ['model', 'gpt-transcribe'],
      ['response_format', 'text'],
      ['file', sound()],
    ],
    ends: 'bytes',
  },
  speech: {
    path: '/v1/audio/speech',
    body: { model: 'tts-1', input: 'Hello', voice: 'alloy' },
    ends: 'bytes',
    vendor: Buffer.from('ID3 sound'),
  },
} as const satisfies Record<string, Customer>;

export type CustomerName = keyof typeof customers;

export const customerNames = (ends: readonly Customer['ends'][]): readonly CustomerName[] => {
  const names: CustomerName[] = [];
  let name: CustomerName;
  for (name in customers) if (ends.includes(customers[name].ends)) names.push(name);
  return names;
};

/** Bytes and type of the request. */
export const toSent = async ({ body, form }: Customer): Promise<{ bytes: Uint8Array; contentType: string }> =>
  form ? formOf(...form) : { bytes: Buffer.from(JSON.stringify(body)), contentType: 'application/json' };
