import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import type { JsonObject } from '../../../../lambdas/core/json.ts';
import type { Conversation, Turn } from '../../../../lambdas/core/text/conversation.ts';
import type { Dispatch, WireCall } from '../../../../lambdas/core/text/text-wire.ts';
import { createMessagesWire, type MessagesWireOptions } from '../../../../lambdas/providers/anthropic/messages-wire.ts';
import { data, provider, text, upstream } from '../../core/catalog/sample-data.ts';
import { firstText } from '../../core/text/text-models.ts';
import { type Answer, conversationOf, playVendor } from '../played-vendor.ts';

const vendor = provider({
  id: 'anthropic',
  kind: 'anthropic',
  baseUrl: 'https://api.anthropic.com',
  credential: { variable: 'K', header: 'x-api-key' },
  headers: { 'anthropic-version': '2023-06-01' },
});

export interface CallParts {
  /** Body of a client of the same protocol. Without it the client uses another protocol. */
  readonly body?: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
  readonly conversation?: Partial<Conversation>;
  readonly stream?: boolean;
  readonly cap?: number;
  readonly model?: Readonly<Record<string, unknown>>;
}

/** Call of the model `alpha-1`, which the provider calls `claude-vendor-20260101`. */
export const messagesCall = ({
  body,
  headers,
  conversation,
  stream = false,
  cap,
  model: changes,
}: CallParts = {}): WireCall => {
  const entry = text({
    upstreams: [upstream({ provider: 'anthropic', model: 'claude-vendor-20260101', wire: 'anthropic_messages' })],
    ...changes,
  });
  const catalog = loadCatalog(data([entry], [vendor]));
  const model = firstText(catalog);
  const found = catalog.provider('anthropic');
  const [route] = model.upstreams;
  if (!found || !route) throw new Error('no provider');
  return {
    protocol: body ? 'messages' : 'chat_completions',
    request: {
      stream,
      choices: 1,
      outputTokensMax: cap,
      usesTools: false,
      effort: undefined,
      prompt: { bytes: 100, images: [] },
      promptPricing: 'one-rate',
      ignored: [],
      body: body ?? {},
      headers,
      ...(body ? {} : { toConversation: () => conversationOf(conversation) }),
    },
    model,
    upstream: route,
    provider: found,
  };
};

export const dispatch = (changes: Partial<Dispatch> = {}): Dispatch => ({
  outputTokensMax: 4_000,
  signal: new AbortController().signal,
  ...changes,
});

export interface Played extends Answer {
  readonly fetchImage?: MessagesWireOptions['fetchImage'];
}

export const optionsFor = ({ fetchImage, ...answer }: Played = {}) => {
  const { options, seen } = playVendor('https://api.anthropic.com', answer);
  const noImages = () => Promise.reject(new Error('unexpected image fetch'));
  return { options: { ...options, fetchImage: fetchImage ?? noImages }, seen };
};

export const wireTo = (played: Played = {}) => {
  const { options, seen } = optionsFor(played);
  return { wire: createMessagesWire(options), seen };
};

/** Body that the provider gets for a client of another protocol. */
export const sentFor = async (parts: CallParts = {}, changes: Partial<Dispatch> = {}): Promise<JsonObject> => {
  const { wire, seen } = wireTo({ body: '{"type":"message","content":[],"stop_reason":"end_turn"}' });
  await wire.buildCall(messagesCall(parts)).send(dispatch(changes));
  return JSON.parse(seen.requests[0]?.body ?? '');
};

export const turns = (...list: readonly Turn[]): CallParts => ({ conversation: { turns: list } });
