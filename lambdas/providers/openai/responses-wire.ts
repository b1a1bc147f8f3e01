import type { JsonObject } from '../../core/json.ts';
import type { TextWire, WireCall } from '../../core/text/text-wire.ts';
import { toWireStream } from '../read-stream.ts';
import { callVendor, type WireOptions } from '../vendor-call.ts';
import { chatNames, type FieldNames, nativeNames, toResponsesError } from './errors.ts';
import { toNativeAnswer, toNeutralAnswer } from './responses-answer.ts';
import { fromConversation, toResponsesBody } from './responses-request.ts';
import { nativeReader, neutralReader } from './responses-stream.ts';
import { reasoningTokensOf } from './token-usage.ts';

/** https://github.com/vectorize-io/hindsight/issues/58 (2025-12-19), https://github.com/braintrustdata/lingua/pull/186 */
const OUTPUT_TOKENS_MIN = 16;

/**
 * Creates the wire for OpenAI's responses. It serves clients of that protocol, and chat completions with tools and
 * reasoning (CHAT-5).
 */
export const createResponsesWire = (options: WireOptions): TextWire => ({
  buildCall: (call) => {
    const { body, names } = asked(call);
    const { stream } = call.request;
    return {
      outputTokensMin: OUTPUT_TOKENS_MIN,
      send: async ({ outputTokensMax, signal }) => {
        const { response, refusalContext } = await callVendor(options, {
          provider: call.provider,
          path: '/responses',
          body: toResponsesBody(body, call, outputTokensMax),
          streamed: stream,
          signal,
          refuse: (status, refusal, context) => toResponsesError(status, refusal, context, names),
        });
        // Servers that report reasoning beside `completion_tokens` can include it in `output_tokens`, as xAI does.
        const row = reasoningTokensOf(call.provider);
        const reading = { refusalContext, names, reasoningTokens: row === 'beside' ? undefined : row };
        const isNative = call.protocol === 'responses';
        if (stream)
          return toWireStream(response, isNative ? nativeReader(reading, call.model.id) : neutralReader(reading));
        return isNative ? toNativeAnswer(response, reading, call.model.id) : toNeutralAnswer(response, reading);
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
