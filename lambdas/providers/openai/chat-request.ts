import type { Provider } from '../../core/catalog/schema.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import type { WireCall } from '../../core/text/text-wire.ts';

/**
 * The client's body but for three fields (BILL-6): the vendor's name of the model, the cap the hold was computed from, in the
 * field this vendor reads, and usage on streams.
 * https://platform.openai.com/docs/api-reference/chat/create
 */
export const toChatBody = ({ request, upstream, provider, outputTokensMax }: WireCall): JsonObject => {
  const { max_tokens, max_completion_tokens, stream_options: options, ...body } = request.body;
  return {
    ...body,
    model: upstream.model,
    [capField(provider)]: outputTokensMax,
    ...(request.stream ? { stream_options: { ...(isJsonObject(options) ? options : {}), include_usage: true } } : {}),
  };
};

const capField = (provider: Provider): string =>
  'outputCapField' in provider ? provider.outputCapField : 'max_tokens';
