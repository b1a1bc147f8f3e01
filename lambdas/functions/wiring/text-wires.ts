import type { Wire, WireFor } from '../../core/catalog/providers.ts';
import { newMediaLink } from '../../core/images/media.ts';
import type { InputWire } from '../../core/inputs/paid-input.ts';
import type { TextWire } from '../../core/text/text-wire.ts';
import { createMessagesWire } from '../../providers/anthropic/messages-wire.ts';
import { createGenerateContentWire } from '../../providers/google/generate-content-wire.ts';
import type { LinkImage } from '../../providers/google/response.ts';
import { createChatWire } from '../../providers/openai/chat-wire.ts';
import { createEmbeddingWire, createModerationWire } from '../../providers/openai/input-wire.ts';
import { createResponsesWire } from '../../providers/openai/responses-wire.ts';
import type { WireOptions } from '../../providers/vendor-call.ts';
import type { FunctionDependencies } from './dependencies.ts';
import { toMediaDependencies } from './paid-call.ts';
import { byName } from './wire-options.ts';

/**
 * Returns text wires by name, including the image wire that also handles text. The code does not compile if a text wire
 * of the catalog has no row here.
 */
export const toTextWires = (deps: FunctionDependencies, options: WireOptions): ReadonlyMap<Wire, TextWire> => {
  const { fetchImage } = deps;
  return byName<TextWire>({
    openai_chat: createChatWire(options),
    openai_responses: createResponsesWire(options),
    anthropic_messages: createMessagesWire({ ...options, fetchImage }),
    gemini_generate_content: createGenerateContentWire({ ...options, fetchImage }),
    gemini_generate_content_image: createGenerateContentWire({
      ...options,
      fetchImage,
      linkImage: toLinkImage(deps),
    }),
  } satisfies Record<WireFor<'text'> | 'gemini_generate_content_image', TextWire>);
};

/** Returns the link immediately, so that a stream can continue; the image is stored later. */
const toLinkImage = (deps: FunctionDependencies): LinkImage => {
  const media = toMediaDependencies(deps);
  return (bytes, mediaType) => {
    const { name, url } = newMediaLink(media, deps.clock.now());
    return { url, store: () => media.media.put(name, bytes, mediaType) };
  };
};

export const toInputWires = (options: WireOptions): ReadonlyMap<Wire, InputWire> =>
  byName<InputWire>({
    openai_embeddings: createEmbeddingWire(options),
    openai_moderations: createModerationWire(options),
  } satisfies Record<WireFor<'embedding' | 'moderation'>, InputWire>);
