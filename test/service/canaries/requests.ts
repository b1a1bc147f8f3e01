import { wavOf } from '../../support/audio-samples.ts';
import { GEMINI, VERSION } from '../../support/hostile-routes.ts';
import {
  chatBody,
  contentsOf,
  dataUri,
  generateBody,
  type Json,
  type Mark,
  messagesBody,
  pictureFile,
  promptOfMessages,
  responsesBody,
} from './bodies.ts';
import type { Ending } from './kit.ts';

/** Place of the API key: a header, with the text before the key, or the query. */
export type KeyPlace = 'authorization' | 'x-api-key' | 'x-provider-api-key' | 'x-goog-api-key' | '?key=';

export interface CanaryRequest {
  readonly name: string;
  readonly path: string;
  readonly keyIn: KeyPlace;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent with an idempotency key, so its response is stored. */
  readonly keyed?: true;
  /** Requests a stream. */
  readonly streamed?: true;
  /** Endings to test. Default: every ending. */
  readonly only?: readonly Ending[];
  /** Builds the body. `ask` instructs the simulated provider and is part of the prompt. */
  body(mark: Mark, ask: string): Json | FormData;
}

const form = (fields: Readonly<Record<string, string | File>>): FormData => {
  const made = new FormData();
  for (const [name, value] of Object.entries(fields)) made.append(name, value);
  return made;
};

const post = (
  name: string,
  path: string,
  body: CanaryRequest['body'],
  more: Partial<CanaryRequest> = {},
): CanaryRequest => ({
  ...{ name, path, body, keyIn: 'authorization' },
  ...more,
});

const [versionName = '', version = ''] = VERSION.split(': ');
const asMessages = { keyIn: 'x-api-key', headers: { [versionName]: version } } as const;
const streaming =
  (body: (mark: Mark, ask: string) => Json): CanaryRequest['body'] =>
  (mark, ask) => ({ ...body(mark, ask), stream: true });
const google = (action: string): string => `/v1beta/models/${GEMINI}:${action}`;
const imagePrompt =
  (model: string, more: (mark: Mark) => Json = () => ({})): CanaryRequest['body'] =>
  (mark, ask) => ({ model, prompt: `${mark('prompt')} ${ask}`, ...more(mark) });
const videoBody: CanaryRequest['body'] = (mark, ask) => ({
  ...{ model: 'seedance-1-5-pro', prompt: `${mark('prompt')} [[takes 1]] ${ask}` },
  webhook_url: `https://webhook.invalid/${mark('webhook_url')}`,
});

/** Requests with a canary in every place that a client can fill, on every route with a body and an API key. */
export const canaryRequests: readonly CanaryRequest[] = [
  post('chat', '/v1/chat/completions', chatBody),
  post('streamed chat', '/v1/chat/completions', streaming(chatBody), { streamed: true }),
  post('keyed chat', '/v1/chat/completions', chatBody, { keyed: true }),
  // The response is large enough to be stored as an object (IDEM-7).
  post(
    'keyed chat with a large answer',
    '/v1/chat/completions',
    (mark) => ({
      ...{ model: 'gpt-4.1-mini', max_tokens: 60 },
      messages: [{ role: 'user', content: `${mark('user message')} [[say back]]` }],
    }),
    { keyed: true, only: ['good'] },
  ),
  post('responses', '/v1/responses', responsesBody),
  post('keyed responses', '/v1/responses', responsesBody, { keyed: true }),
  post('streamed responses', '/v1/responses', streaming(responsesBody), { streamed: true }),
  post('messages', '/v1/messages', messagesBody, asMessages),
  post('streamed messages', '/v1/messages', streaming(messagesBody), { ...asMessages, streamed: true }),
  post('count_tokens', '/v1/messages/count_tokens', promptOfMessages, asMessages),
  post('generateContent', google('generateContent'), generateBody, { keyIn: '?key=' }),
  post('streamGenerateContent', google('streamGenerateContent?alt=sse'), generateBody, {
    ...{ keyIn: 'x-goog-api-key', streamed: true },
  }),
  post('countTokens', google('countTokens'), contentsOf, { keyIn: 'x-provider-api-key' }),
  post('embeddings', '/v1/embeddings', (mark, ask) => ({
    ...{ model: 'text-embedding-3-small', input: [`${mark('input')} ${ask}`], user: mark('user') },
  })),
  post('moderations', '/v1/moderations', (mark, ask) => ({
    ...{ model: 'omni-moderation-latest', input: [`${mark('input')} ${ask}`] },
  })),
  post(
    'images',
    '/v1/images/generations',
    imagePrompt('gpt-image-2-prompt', (mark) => ({ user: mark('user') })),
  ),
  post('keyed images', '/v1/images/generations', imagePrompt('seedream-4-5'), { keyed: true }),
  post(
    'images by a job',
    '/v1/images/generations',
    imagePrompt('flux-2-pro', (mark) => ({ input_image: dataUri(mark('input_image')) })),
  ),
  post('edits', '/v1/images/edits', (mark, ask) =>
    form({
      ...{ model: 'gpt-image-2', prompt: `${mark('prompt')} ${ask}`, user: mark('user') },
      image: pictureFile(mark('image'), mark('name of the image')),
      mask: pictureFile(mark('mask'), mark('name of the mask')),
    }),
  ),
  post('speech', '/v1/audio/speech', (mark, ask) => ({
    ...{ model: 'tts-1', voice: 'nova', input: `${mark('input')} ${ask}` },
  })),
  post('transcriptions', '/v1/audio/transcriptions', (mark, ask) =>
    form({
      ...{ model: 'gpt-transcribe', prompt: `${mark('prompt')} ${ask}` },
      file: new File([Uint8Array.from(wavOf(1))], `${mark('name of the file')}.wav`),
    }),
  ),
  post('videos', '/v1/videos', videoBody),
  post('keyed videos', '/v1/videos', videoBody, { keyed: true }),
  post('videos by form', '/v1/videos', (mark, ask) =>
    form({
      ...{ model: 'seedance-1-5-pro', prompt: `${mark('prompt')} [[takes 1]] ${ask}`, size: '1280x720' },
      input_reference: pictureFile(mark('input_reference'), mark('name of the reference'), [1_280, 720]),
    }),
  ),
];
