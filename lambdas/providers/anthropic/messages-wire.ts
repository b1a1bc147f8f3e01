import type { JsonObject } from '../../core/json.ts';
import type { Dispatch, PreparedCall, TextWire, WireCall, WireStream } from '../../core/text/text-wire.ts';
import type { ImageFetch } from '../image-fetch.ts';
import { gatherImages } from '../image-fetch.ts';
import { readStream, type StreamReader } from '../read-stream.ts';
import { callVendor, type VendorAnswer, type WireOptions } from '../vendor-call.ts';
import { parseRefusal, toAnthropicError } from './errors.ts';
import { translate } from './from-conversation.ts';
import { fetchedSource } from './images.ts';
import { toNativeAnswer, toNeutralAnswer } from './messages-answer.ts';
import { toMessagesBody } from './messages-request.ts';
import { nativeReader } from './messages-stream.ts';
import { neutralReader } from './neutral-stream.ts';
import { ownParam, type ToParam } from './vendor-path.ts';

export interface MessagesWireOptions extends WireOptions {
  /** For images at addresses that the vendor does not open. */
  readonly fetchImage: ImageFetch;
}

/** Anthropic's Messages API, for clients that speak it and for those that do not. */
export const createMessagesWire = (options: MessagesWireOptions): TextWire => ({
  prepare: (call) => (call.protocol === 'messages' ? prepareNative(options, call) : prepareTranslated(options, call)),
});

const prepareNative = (options: WireOptions, call: WireCall): PreparedCall => ({
  send: async (dispatch) => {
    const face = { modelId: call.model.id, toParam: ownParam };
    const body = toMessagesBody(call, dispatch.outputTokensMax);
    const { response, told } = await post(options, call, { body, toParam: ownParam, dispatch });
    if (!call.request.stream) return toNativeAnswer(response, { ...face, told });
    return toStream(response, nativeReader({ modelId: face.modelId, told }));
  },
});

const prepareTranslated = (options: MessagesWireOptions, call: WireCall): PreparedCall => {
  const conversation = call.request.toConversation?.();
  if (!conversation) throw new Error(`a request of protocol ${call.protocol} without a conversation`);
  const { remoteImages, toParam, toBody } = translate(conversation, call);
  let sources: ReadonlyMap<string, JsonObject> = new Map();
  return {
    ...(remoteImages.length > 0 && {
      gather: async () => {
        const images = await gatherImages(remoteImages, options.fetchImage);
        sources = new Map([...images].map(([url, image]) => [url, fetchedSource(image)]));
      },
    }),
    send: async (dispatch) => {
      const body = toBody(dispatch.outputTokensMax, sources);
      const { response, told } = await post(options, call, { body, toParam, dispatch });
      if (!call.request.stream) return toNeutralAnswer(response, { told, toParam });
      return toStream(response, neutralReader({ told, toParam }));
    },
  };
};

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
    refuse: (status, refused, told) => toAnthropicError(status, parseRefusal(refused, toParam), told),
  });

const toStream = ({ body, discard }: VendorAnswer['response'], reader: StreamReader): WireStream => ({
  kind: 'stream',
  events: readStream(body, reader),
  close: discard,
});
