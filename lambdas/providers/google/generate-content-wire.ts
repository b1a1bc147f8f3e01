import { GatewayError } from '../../core/errors/gateway-error.ts';
import type { JsonObject } from '../../core/json.ts';
import type { TextProtocol } from '../../core/text/conversation.ts';
import type { Dispatch, PreparedCall, TextWire, WireAnswer, WireCall, WireStream } from '../../core/text/text-wire.ts';
import type { ImageFetch } from '../image-fetch.ts';
import { gatherImages } from '../image-fetch.ts';
import { readStream } from '../read-stream.ts';
import { callVendor, type WireOptions } from '../vendor-call.ts';
import { readAnswer } from './answer.ts';
import { parseRefusal, toGoogleError } from './errors.ts';
import { fromConversation } from './from-conversation.ts';
import type { LinkImage } from './linked-content.ts';
import type { ImageSlot } from './media.ts';
import { generatePath, toNativeBody } from './request.ts';
import { nativeReader, neutralReader } from './stream.ts';

export interface GenerateContentOptions extends WireOptions {
  readonly fetchImage: ImageFetch;
  /** For models that draw: how chat gets at their images (CHAT-12). */
  readonly linkImage?: LinkImage;
}

/** Google's generateContent, for clients that speak it themselves and for chat. */
export const createGenerateContentWire = (options: GenerateContentOptions): TextWire => ({
  prepare: (call) => {
    const target = targetOf(call);
    if (call.protocol === 'generate_content') {
      const { body } = call.request;
      return { send: (dispatch) => send(options, target, body, dispatch) };
    }
    return prepareTranslated(options, call, target);
  },
});

/** What is left of a call while its answer comes: not the request's body. */
interface Target extends Pick<WireCall, 'protocol' | 'provider'> {
  readonly path: string;
  readonly streamed: boolean;
  readonly choices: number;
}

const targetOf = ({ protocol, provider, upstream, request: { stream, choices } }: WireCall): Target => ({
  protocol,
  provider,
  path: generatePath(upstream.model, stream),
  streamed: stream,
  choices,
});

const prepareTranslated = (options: GenerateContentOptions, call: WireCall, target: Target): PreparedCall => {
  const conversation = call.request.toConversation?.();
  if (!conversation) throw new Error(`the wire of Google cannot serve ${call.protocol}`);
  refuseMoreAnswers(target.choices, call.model.id);
  const { body, slots } = fromConversation(conversation, call.model.id, options.linkImage !== undefined);
  return {
    ...(slots.length > 0 ? { gather: () => fillSlots(slots, options.fetchImage) } : {}),
    send: (dispatch) => send(options, target, body, dispatch),
  };
};

const fillSlots = async (slots: readonly ImageSlot[], fetchImage: ImageFetch): Promise<void> => {
  const images = await gatherImages(
    slots.map(({ image }) => image),
    fetchImage,
  );
  for (const { image, fill } of slots) {
    const fetched = images.get(image.url);
    if (fetched) fill(fetched);
  }
};

const refuseMoreAnswers = (choices: number, modelId: string): void => {
  if (choices === 1) return;
  const message = `n: "${modelId}" gives one answer at a time. Send n: 1.`;
  throw new GatewayError('unprocessable_entity', message, { param: 'n' });
};

const send = async (
  options: GenerateContentOptions,
  { protocol, provider, path, streamed, choices }: Target,
  body: JsonObject,
  { outputTokensMax, signal }: Dispatch,
): Promise<WireAnswer | WireStream> => {
  const { response, told } = await callVendor(options, {
    provider,
    path,
    body: toNativeBody(body, outputTokensMax),
    streamed,
    signal,
    refuse: refuseIn(protocol),
  });
  const inBand = { told, protocol, linkImage: options.linkImage };
  if (!streamed) return readAnswer(response, inBand);
  const reader = protocol === 'generate_content' ? nativeReader(choices, inBand) : neutralReader(inBand);
  return { kind: 'stream', events: readStream(response.body, reader), close: response.discard };
};

type Refuse = Parameters<typeof callVendor>[1]['refuse'];

const refuseIn =
  (protocol: TextProtocol): Refuse =>
  (status, body, told) =>
    toGoogleError(status, parseRefusal(body), told, protocol);
