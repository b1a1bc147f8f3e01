import type { JsonObject } from '../../core/json.ts';
import type { TextWire, WireAnswer, WireCall, WireStream } from '../../core/text/text-wire.ts';
import { callVendor, type VendorAnswer, type WireOptions } from '../vendor-call.ts';
import { chatNames, type FieldNames, nativeNames, toResponsesError } from './errors.ts';
import { toNativeAnswer, toNeutralAnswer } from './responses-answer.ts';
import { fromConversation, toResponsesBody } from './responses-request.ts';
import { readNativeResponses, readNeutralResponses } from './responses-stream.ts';

/**
 * Creates the wire for OpenAI's responses. It serves clients of that protocol, and chat completions with tools and
 * reasoning (CHAT-5).
 */
export const createResponsesWire = (options: WireOptions): TextWire => ({
  buildCall: (call) => {
    const { body, names } = asked(call);
    const { stream } = call.request;
    return {
      send: async ({ outputTokensMax, signal }) => {
        const answer = await callVendor(options, {
          provider: call.provider,
          path: '/responses',
          body: toResponsesBody(body, call, outputTokensMax),
          streamed: stream,
          signal,
          refuse: (status, refusal, refusalContext) => toResponsesError(status, refusal, refusalContext, names),
        });
        const modelId = call.protocol === 'responses' ? call.model.id : undefined;
        return stream ? toStream(answer, names, modelId) : toAnswer(answer, names, modelId);
      },
    };
  },
});

interface Asked {
  readonly body: JsonObject;
  readonly names: FieldNames;
}

const asked = (call: WireCall): Asked => {
  const { protocol, request } = call;
  if (protocol === 'responses') return { body: request.body, names: nativeNames };
  const conversation = request.toConversation?.();
  if (!conversation) throw new Error(`${protocol} cannot be converted to responses`);
  const { body, turnOf } = fromConversation(conversation, call);
  return { body, names: chatNames(turnOf) };
};

/** `modelId` is the id to show if the client uses this protocol, undefined otherwise. */
const toStream = (
  { response, refusalContext }: VendorAnswer,
  names: FieldNames,
  modelId: string | undefined,
): WireStream => ({
  kind: 'stream',
  events:
    modelId === undefined
      ? readNeutralResponses(response.body, { refusalContext, names })
      : readNativeResponses(response.body, { refusalContext, names }, modelId),
  close: response.discard,
});

const toAnswer = (
  { response, refusalContext }: VendorAnswer,
  names: FieldNames,
  modelId: string | undefined,
): Promise<WireAnswer> =>
  modelId === undefined
    ? toNeutralAnswer(response, { refusalContext, names })
    : toNativeAnswer(response, { refusalContext, names }, modelId);
