import type { SpeechWire, TranscriptionWire } from '../../core/audio/audio-wire.ts';
import type { Wire, WireFor } from '../../core/catalog/providers.ts';
import { GatewayError } from '../../core/errors/gateway-error.ts';
import type { ImageWire } from '../../core/images/image-wire.ts';
import { newMediaLink } from '../../core/images/media.ts';
import type { InputWire } from '../../core/inputs/paid-input.ts';
import type { TextWire } from '../../core/text/text-wire.ts';
import type { VideoWire } from '../../core/videos/video-wire.ts';
import { createMessagesWire } from '../../providers/anthropic/messages-wire.ts';
import { createBflWire } from '../../providers/bfl/images-wire.ts';
import { createArkImageWire } from '../../providers/byteplus/images-wire.ts';
import { createArkVideoWire } from '../../providers/byteplus/video-wire.ts';
import type { ProviderAccess } from '../../providers/credential-choice.ts';
import { createGenerateContentWire } from '../../providers/google/generate-content-wire.ts';
import { createGeminiImageWire } from '../../providers/google/image-wire.ts';
import type { LinkImage } from '../../providers/google/response.ts';
import { createSpeechWire, createTranscriptionWire } from '../../providers/openai/audio-wire.ts';
import { createChatWire } from '../../providers/openai/chat-wire.ts';
import { createOpenaiImageWire } from '../../providers/openai/images-wire.ts';
import { createEmbeddingWire, createModerationWire } from '../../providers/openai/input-wire.ts';
import { createResponsesWire } from '../../providers/openai/responses-wire.ts';
import { createOpenaiVideoWire } from '../../providers/openai/videos-wire.ts';
import type { WireOptions } from '../../providers/vendor-call.ts';
import type { FunctionDependencies, VideoFunctionDependencies } from './dependencies.ts';
import { toMediaDependencies } from './paid-call.ts';

const byName = <Implementation>(wires: Readonly<Partial<Record<Wire, Implementation>>>) =>
  new Map(Object.entries(wires) as [Wire, Implementation][]);

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

export const toImageWires = (options: WireOptions): ReadonlyMap<Wire, ImageWire> =>
  byName<ImageWire>({
    openai_images: createOpenaiImageWire(options),
    gemini_generate_content_image: createGeminiImageWire(options),
    ark_images: createArkImageWire(options),
    bfl_async: createBflWire(options),
  } satisfies Record<WireFor<'image'>, ImageWire>);

/** Two protocols share one wire name; the kind of the model decides which applies. */
export const toAudioWires = (options: WireOptions) => ({
  transcription: byName<TranscriptionWire>({
    openai_audio: createTranscriptionWire(options),
  } satisfies Record<WireFor<'transcription'>, TranscriptionWire>),
  speech: byName<SpeechWire>({
    openai_audio: createSpeechWire(options),
  } satisfies Record<WireFor<'speech'>, SpeechWire>),
});

export const toVideoWires = (options: WireOptions): ReadonlyMap<Wire, VideoWire> =>
  byName<VideoWire>({
    ark_video_tasks: createArkVideoWire(options),
    openai_videos: createOpenaiVideoWire(options),
  } satisfies Record<WireFor<'video'>, VideoWire>);

export const toWireOptions = (deps: VideoFunctionDependencies): WireOptions => ({
  http: deps.upstreamHttp,
  access: (providerId, credentialId) => accessOf(deps, providerId, credentialId),
  notice: (notice, provider) => deps.reporting.notice(notice, { provider }),
  now: () => deps.clock.now(),
  random: deps.random,
});

const accessOf = (
  { vendorAccess }: VideoFunctionDependencies,
  providerId: string,
  credentialId: string | undefined,
): ProviderAccess => {
  const access = vendorAccess(providerId, credentialId);
  if (!access) throw new GatewayError('model_unavailable', `The provider ${providerId} has no key. Set its key.`);
  return access;
};
