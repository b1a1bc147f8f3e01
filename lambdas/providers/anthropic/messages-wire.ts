import * as z from 'zod';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import type { CountCall } from '../../core/text/count-tokens.ts';
import type { Dispatch, FetchedImages, PreparedCall, TextWire, WireCall } from '../../core/text/text-wire.ts';
import { gatherImages } from '../gather-images.ts';
import type { ImageFetch } from '../image-fetch.ts';
import { readJson } from '../read-json.ts';
import { toWireStream } from '../read-stream.ts';
import { unreadable } from '../refusals.ts';
import { callVendor, type VendorAnswer, type WireOptions } from '../vendor-call.ts';
import { ownParam, type ToParam, toAnthropicError } from './errors.ts';
import { fetchedSource, translate } from './request.ts';
import { toNativeAnswer, toNeutralAnswer } from './response.ts';
import { nativeReader, neutralReader } from './stream.ts';

export interface MessagesWireOptions extends WireOptions {
  /** Fetches images at URLs that the provider does not open. */
  readonly fetchImage: ImageFetch;
}

/** Creates the wire for Anthropic's Messages API. It serves clients of that protocol and of others. */
export const createMessagesWire = (options: MessagesWireOptions): TextWire => ({
  buildCall: (call) => (call.protocol === 'messages' ? prepareNative(options, call) : prepareTranslated(options, call)),
});

const prepareNative = (options: WireOptions, call: WireCall): PreparedCall => ({
  outputTokensMin: aboveBudget(call.request.body),
  send: async (dispatch) => {
    const face = { modelId: call.model.id, toParam: ownParam };
    const body = toMessagesBody(call, dispatch.outputTokensMax);
    const { response, refusalContext } = await post(options, call, { body, toParam: ownParam, dispatch });
    if (!call.request.stream) return toNativeAnswer(response, { ...face, refusalContext });
    return toWireStream(response, nativeReader({ modelId: face.modelId, refusalContext }));
  },
});

const prepareTranslated = (options: MessagesWireOptions, call: WireCall): PreparedCall => {
  const conversation = call.request.toConversation?.();
  if (!conversation) throw new Error(`a request of protocol ${call.protocol} without a conversation`);
  const { remoteImages, toParam, outputTokensMin, toBody } = translate(conversation, call);
  let sources: ReadonlyMap<string, JsonObject> = new Map();
  return {
    outputTokensMin,
    ...(remoteImages.length > 0 && {
      gather: async (fetched: FetchedImages) => {
        await gatherImages(remoteImages, options.fetchImage, fetched);
        sources = new Map([...fetched.byUrl].map(([url, image]) => [url, fetchedSource(image)]));
      },
    }),
    send: async (dispatch) => {
      const body = toBody(dispatch.outputTokensMax, sources);
      const { response, refusalContext } = await post(options, call, { body, toParam, dispatch });
      if (!call.request.stream) return toNeutralAnswer(response, { refusalContext, toParam });
      return toWireStream(response, neutralReader({ refusalContext, toParam }));
    },
  };
};

/** The provider requires an output limit above the budget for thinking. Only one that the gateway added can be above. */
const aboveBudget = ({ thinking }: JsonObject): number | undefined =>
  isJsonObject(thinking) && typeof thinking.budget_tokens === 'number' ? thinking.budget_tokens + 1 : undefined;

interface Sent {
  readonly body: JsonObject;
  readonly toParam: ToParam;
  readonly dispatch: Dispatch;
}

const post = (options: WireOptions, call: WireCall, { body, toParam, dispatch }: Sent): Promise<VendorAnswer> =>
  callVendor(options, {
    provider: call.provider,
    path: '/v1/messages',
    body,
    headers: call.request.headers,
    streamed: call.request.stream,
    signal: dispatch.signal,
    refuse: (status, refused, refusalContext) => toAnthropicError(status, refused, refusalContext, toParam),
  });

/**
 * Client's body, with the provider's name of the model and with the cap of the hold (BILL-6).
 * https://platform.claude.com/docs/en/api/messages/create
 */
const toMessagesBody = (
  { request, upstream }: Pick<WireCall, 'request' | 'upstream'>,
  outputTokensMax: number,
): JsonObject => ({ ...request.body, model: upstream.model, max_tokens: outputTokensMax });

const tokens = z.int().nonnegative();

const counted = z.object({
  input_tokens: tokens,
  /** Present for a request with `context_management`. */
  context_management: z.object({ original_input_tokens: tokens }).optional().catch(undefined),
});

/**
 * https://platform.claude.com/docs/en/api/messages/count_tokens; free (BILL-17). Throws the same errors as a paid call.
 */
export const createMessageTokenCounter =
  (options: WireOptions) =>
  async ({ provider, upstream, body, headers, signal }: CountCall): Promise<JsonObject> => {
    const { response } = await callVendor(options, {
      provider,
      path: '/v1/messages/count_tokens',
      body: { ...body, model: upstream.model },
      headers,
      streamed: false,
      isFree: true,
      signal,
      refuse: (status, refused, refusalContext) => toAnthropicError(status, refused, refusalContext, ownParam),
    });
    const { data } = counted.safeParse(await readJson(response));
    if (!data) throw unreadable();
    return data;
  };
