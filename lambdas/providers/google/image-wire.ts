import { type GatewayError, invalidRequest } from '../../core/errors/gateway-error.ts';
import {
  type DrawnImage,
  type ImageAsk,
  type ImageCall,
  type ImageReference,
  ImagesWithheld,
  type ImageWire,
} from '../../core/images/image-wire.ts';
import type { JsonObject } from '../../core/json.ts';
import { readJson } from '../read-json.ts';
import { filtered } from '../refusals.ts';
import { callVendor, type WireOptions } from '../vendor-call.ts';
import { noImageDrawn, parseRefusal, toGoogleError } from './errors.ts';
import { drawnModalities, generatePath } from './request.ts';
import {
  blocked,
  decodeBytes,
  finishReasonOf,
  type Generated,
  imageDataOf,
  isFilter,
  partsOf,
  toDrawnUsage,
  toGenerated,
} from './response.ts';

const ASKED = 'images';

/**
 * https://ai.google.dev/gemini-api/docs/image-generation: generates images from a prompt, with or without reference
 * images.
 */
export const createGeminiImageWire = (options: WireOptions): ImageWire => ({
  check: ({ references }) => {
    for (const reference of references) bytesOf(reference);
  },
  draw: async (call) => {
    const { provider, upstream, signal, n } = call;
    const { response, refusalContext } = await callVendor(options, {
      provider,
      path: generatePath(upstream.model, false),
      body: toBody(call),
      streamed: false,
      signal,
      refuse: (status, body, context) => toGoogleError(status, parseRefusal(body), context, ASKED),
    });
    const generated = toGenerated(await readJson(response), { refusalContext, protocol: ASKED });
    const drawn = imagesIn(generated);
    if (drawn.length === 0) throw withoutImage(generated);
    // The last images are the final ones. All are returned, because the provider's usage covers all.
    const images = [...drawn.slice(-n), ...drawn.slice(0, -n)];
    return { images, usage: toDrawnUsage(generated.usageMetadata, true) };
  },
});

/** https://ai.google.dev/api/generate-content#ImageConfig. A model with a single size gets no size. */
const toBody = ({ prompt, references, size, model, outputTokensMax }: ImageCall): JsonObject => {
  const { aspectRatio, tier = undefined } = size.kind === 'tier' ? size : { aspectRatio: undefined };
  const imageSize = model.image.size.mode === 'forbidden' ? undefined : tier;
  const imageConfig = { ...(aspectRatio && { aspectRatio }), ...(imageSize && { imageSize }) };
  return {
    contents: [{ role: 'user', parts: [...references.map(toPart), { text: prompt }] }],
    generationConfig: {
      responseModalities: drawnModalities,
      ...(outputTokensMax !== undefined && { maxOutputTokens: outputTokensMax }),
      ...(Object.keys(imageConfig).length > 0 && { imageConfig }),
    },
  };
};

const toPart = (reference: ImageReference): JsonObject => {
  const { mediaType, bytes } = bytesOf(reference);
  return { inlineData: { mimeType: mediaType, data: Buffer.from(bytes).toString('base64') } };
};

const bytesOf = (reference: ImageAsk['references'][number]) => {
  if (reference.kind === 'file') return reference.file;
  throw invalidRequest(reference.param, `${reference.param}: must be a file. The provider does not open links.`);
};

const imagesIn = ({ candidates }: Generated): readonly DrawnImage[] =>
  candidates
    .flatMap(partsOf)
    .flatMap((part) => imageDataOf(part) ?? [])
    .map((data) => ({ read: async () => decodeBytes(data) }));

/**
 * Error for a response without an image: it was blocked, or the model returned only text. Without usage, the provider
 * rejected the prompt and generated nothing.
 */
const withoutImage = (generated: Generated): GatewayError => {
  const isBlocked = generated.candidates.some((candidate) => isFilter(finishReasonOf(candidate) ?? ''));
  const error = blocked(generated) || isBlocked ? filtered() : noImageDrawn();
  const usage = toDrawnUsage(generated.usageMetadata, false);
  return usage ? new ImagesWithheld(error, usage) : error;
};
