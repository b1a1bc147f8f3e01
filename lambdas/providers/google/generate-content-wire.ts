import { GatewayError } from '../../core/errors/gateway-error.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import type { TextProtocol } from '../../core/text/conversation.ts';
import type { CountCall } from '../../core/text/count-tokens.ts';
import type {
  Dispatch,
  FetchedImages,
  PreparedCall,
  TextWire,
  WireAnswer,
  WireCall,
  WireStream,
} from '../../core/text/text-wire.ts';
import { gatherImages } from '../gather-images.ts';
import type { ImageFetch } from '../image-fetch.ts';
import { readJson } from '../read-json.ts';
import { toWireStream } from '../read-stream.ts';
import { unreadable } from '../refusals.ts';
import { callVendor, type WireOptions } from '../vendor-call.ts';
import { parseRefusal, toGoogleError, toInBandError } from './errors.ts';
import { fromConversation, generatePath, type ImageSlot, nestsMedia, toNativeBody } from './request.ts';
import { type LinkImage, readAnswer } from './response.ts';
import { nativeReader, neutralReader } from './stream.ts';

interface GenerateContentOptions extends WireOptions {
  readonly fetchImage: ImageFetch;
  /** Links the images of an image model in a chat completion (CHAT-12). */
  readonly linkImage?: LinkImage;
}

/** Creates the wire for Google's generateContent. It serves clients of that protocol and chat completions. */
export const createGenerateContentWire = (options: GenerateContentOptions): TextWire => ({
  buildCall: (call) => {
    const target = targetOf(call);
    if (call.protocol === 'generate_content') {
      const { body } = call.request;
      return { send: (dispatch) => send(options, target, body, dispatch) };
    }
    return prepareTranslated(options, call, target);
  },
});

/** Parts of a call that are still needed while the response arrives. The request body is not. */
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
  if (!conversation) throw new Error(`the Google wire cannot serve ${call.protocol}`);
  refuseMoreAnswers(target.choices, call.model.id);
  const { body, slots } = fromConversation(conversation, call.model, {
    draws: options.linkImage !== undefined,
    nestsMedia: nestsMedia(call.upstream.model),
  });
  return {
    ...(slots.length > 0 ? { gather: (fetched: FetchedImages) => fillSlots(slots, options.fetchImage, fetched) } : {}),
    send: (dispatch) => send(options, target, body, dispatch),
  };
};

const fillSlots = async (
  slots: readonly ImageSlot[],
  fetchImage: ImageFetch,
  fetched: FetchedImages,
): Promise<void> => {
  await gatherImages(
    slots.map(({ image }) => image),
    fetchImage,
    fetched,
  );
  for (const { image, fill } of slots) {
    const found = fetched.byUrl.get(image.url);
    if (found) fill(found);
  }
};

const refuseMoreAnswers = (choices: number, modelId: string): void => {
  if (choices === 1) return;
  const message = `n: "${modelId}" returns one choice per request. Send n: 1.`;
  throw new GatewayError('unprocessable_entity', message, { param: 'n' });
};

const send = async (
  options: GenerateContentOptions,
  { protocol, provider, path, streamed, choices }: Target,
  body: JsonObject,
  { outputTokensMax, signal }: Dispatch,
): Promise<WireAnswer | WireStream> => {
  const { response, refusalContext } = await callVendor(options, {
    provider,
    path,
    body: toNativeBody(body, outputTokensMax),
    streamed,
    signal,
    refuse: refuseIn(protocol),
  });
  const inBand = { refusalContext, protocol, linkImage: options.linkImage };
  if (!streamed) return readAnswer(response, inBand);
  const reader = protocol === 'generate_content' ? nativeReader(choices, inBand) : neutralReader(inBand);
  return toWireStream(response, reader);
};

type Refuse = Parameters<typeof callVendor>[1]['refuse'];

const refuseIn =
  (protocol: TextProtocol): Refuse =>
  (status, body, refusalContext) =>
    toGoogleError(status, parseRefusal(body), refusalContext, protocol);

const PROTOCOL = 'generate_content';

/** https://ai.google.dev/api/tokens, free (BILL-17). Returns the provider's body. */
export const createContentTokenCounter =
  (options: WireOptions) =>
  async ({ provider, upstream, body, signal }: CountCall): Promise<JsonObject> => {
    const { response, refusalContext } = await callVendor(options, {
      provider,
      path: `/v1beta/models/${upstream.model}:countTokens`,
      body: withOurModel(body, upstream.model),
      streamed: false,
      isFree: true,
      signal,
      refuse: (status, refusal, context) => toGoogleError(status, parseRefusal(refusal), context, PROTOCOL),
    });
    const counted = await readJson(response);
    if (!isJsonObject(counted)) throw unreadable();
    if (isJsonObject(counted.error)) throw toInBandError(counted, refusalContext, PROTOCOL);
    return counted;
  };

/**
 * Replaces the model in `generateContentRequest`, which repeats the model of the path, with the provider's name of the
 * model.
 */
const withOurModel = (body: JsonObject, model: string): JsonObject => {
  const { generateContentRequest: request } = body;
  return isJsonObject(request) ? { ...body, generateContentRequest: { ...request, model: `models/${model}` } } : body;
};
