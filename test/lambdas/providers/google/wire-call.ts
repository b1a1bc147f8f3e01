import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import type { Provider, TextModel } from '../../../../lambdas/core/catalog/schema.ts';
import type { JsonObject } from '../../../../lambdas/core/json.ts';
import type { Conversation } from '../../../../lambdas/core/text/conversation.ts';
import type { Dispatch, WireAnswer, WireCall, WireStream } from '../../../../lambdas/core/text/text-wire.ts';
import { createGenerateContentWire } from '../../../../lambdas/providers/google/generate-content-wire.ts';
import type { ImageFetch } from '../../../../lambdas/providers/image-fetch.ts';
import type { UpstreamRequest } from '../../../../lambdas/providers/upstream-http.ts';
import { data, provider, text, upstream } from '../../core/catalog/sample-data.ts';
import { firstText, upstreamOf } from '../../core/text/text-models.ts';
import { type Answer, playVendor } from '../played-vendor.ts';

export { conversationOf } from '../played-vendor.ts';

const google = provider({
  id: 'google',
  kind: 'google',
  baseUrl: 'https://vendor.test',
  credential: { variable: 'GEMINI_API_KEY', header: 'X-Goog-Api-Key' },
});

const entry = text({
  protocols: ['generate_content', 'chat_completions'],
  upstreams: [upstream({ provider: 'google', model: 'vendor-name', wire: 'gemini_generate_content' })],
});

const catalog = loadCatalog(data([entry], [google, provider({ id: 'spare' })]));
const model: TextModel = firstText(catalog);
const [found] = catalog.providers;
if (!found) throw new Error('no provider');
export const googleProvider: Provider = found;
export const googleUpstream = upstreamOf(model);

interface FunctionDependencies {
  readonly stream?: boolean;
  readonly choices?: number;
  readonly body?: JsonObject;
  /** Set for a call in chat's protocol. */
  readonly conversation?: Conversation;
}

export const nativeBody: JsonObject = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] };

/** Call of the model `alpha-1`, which its provider calls `vendor-name`. */
export const wireCall = ({
  stream = false,
  choices = 1,
  body = nativeBody,
  conversation,
}: FunctionDependencies = {}): WireCall => ({
  protocol: conversation ? 'chat_completions' : 'generate_content',
  request: {
    stream,
    choices,
    outputTokensMax: undefined,
    usesTools: false,
    effort: undefined,
    prompt: { bytes: 100, images: [] },
    promptPricing: 'one-rate',
    ignored: [],
    body,
    ...(conversation ? { toConversation: () => conversation } : {}),
  },
  model,
  upstream: googleUpstream,
  provider: googleProvider,
});

export const dispatch = (changes: Partial<Dispatch> = {}): Dispatch => ({
  outputTokensMax: 321,
  signal: new AbortController().signal,
  ...changes,
});

export interface Played extends Answer {
  readonly fetchImage?: ImageFetch;
}

const noImages: ImageFetch = () => Promise.reject(new Error('unexpected image fetch'));

export const playedOptions = (played: Played) => playVendor('https://vendor.test', played);

export const wireTo = (played: Played) => {
  const { options, seen } = playedOptions(played);
  return { wire: createGenerateContentWire({ ...options, fetchImage: played.fetchImage ?? noImages }), seen };
};

export const sentBody = ({ requests }: { readonly requests: readonly UpstreamRequest[] }): unknown =>
  JSON.parse(requests[0]?.body ?? 'null');

export const answerOf = (sent: WireAnswer | WireStream): WireAnswer => {
  if (sent.kind !== 'answer') throw new Error('expected a complete response');
  return sent;
};
