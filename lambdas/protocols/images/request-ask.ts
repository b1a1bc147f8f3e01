import type { ImageModel } from '../../core/catalog/schema.ts';
import { GatewayError, invalidRequest } from '../../core/errors/gateway-error.ts';
import { type ChosenSize, chooseSize } from '../../core/images/choose-size.ts';
import type { ImageAsk, ImageFile, ImageQuality, ImageReference } from '../../core/images/image-wire.ts';
import type { JsonObject } from '../../core/json.ts';
import { hasAtMost } from '../prompt.ts';
import type { SharedFields } from './request-schema.ts';

/** A request whose fields have the right types, before it is known what the model takes of them. */
export interface Sent {
  readonly sent: SharedFields;
  readonly edges: { readonly width: number | undefined; readonly height: number | undefined };
  readonly aspectRatio: string | undefined;
  readonly sequential: string | undefined;
  readonly references: readonly ImageReference[];
  readonly mask: ImageFile | undefined;
  readonly extras: JsonObject;
}

/** Checks a request against the model's entry (IMG-2 to IMG-5, IMG-7). */
export const toAsk = (model: ImageModel, request: Sent): ImageAsk => {
  const { sent, edges, aspectRatio, sequential, references, mask, extras } = request;
  refuseLongPrompt(sent.prompt, model);
  refuseSequential(sequential, model);
  const n = countOf(sent.n ?? 1, model);
  const size = chooseSize(model, {
    size: sent.size ?? undefined,
    ...edges,
    aspectRatio,
    hasReferences: references.length > 0,
  });
  const quality = qualityOf(sent.quality ?? undefined, size, model);
  return { prompt: sent.prompt, n, size, quality, references, mask, extras, endUser: sent.user ?? undefined };
};

const refuseLongPrompt = (prompt: string, { id, image }: ImageModel): void => {
  const { promptCharactersMax } = image;
  if (hasAtMost(prompt, promptCharactersMax)) return;
  throw invalidRequest('prompt', `prompt: must have at most ${promptCharactersMax} characters with "${id}".`);
};

/** Seedream's series of images: how many there would be is not known before they are paid for. */
const refuseSequential = (sent: string | undefined, { id, capabilities }: ImageModel): void => {
  if (sent === undefined) return;
  const param = 'sequential_image_generation';
  const { sequential } = capabilities;
  if (sequential.length === 0) throw invalidRequest(param, `${param}: not supported with "${id}". Leave it out.`);
  if (sequential.some((value) => value === sent)) return;
  const allowed = sequential.map((value) => `"${value}"`).join(', ');
  throw invalidRequest(param, `${param}: must be ${allowed} with "${id}".`);
};

const countOf = (n: number, { id, image }: ImageModel): number => {
  if (n <= image.nMax) return n;
  if (image.nMax > 1) throw invalidRequest('n', `n: must be at most ${image.nMax} with "${id}".`);
  const message = `n: "${id}" makes 1 image per request. Send n requests.`;
  throw new GatewayError('unprocessable_entity', message, { param: 'n' });
};

/** IMG-3. Where the client has no choice the entry makes it: by the step of the size, or once for all. */
const qualityOf = (sent: string | undefined, size: ChosenSize, model: ImageModel): ImageQuality | undefined => {
  const { id, capabilities, image } = model;
  if (capabilities.quality.length === 0) {
    if (sent === undefined) return ownQuality(image.size, size);
    const reason = image.size.mode === 'enum_by_tier' ? 'It follows from size. ' : '';
    throw invalidRequest('quality', `quality: not supported with "${id}". ${reason}Leave it out.`);
  }
  if (sent === undefined || sent === 'auto') return undefined;
  const quality = capabilities.quality.find((value) => value === sent);
  if (quality) return quality;
  const allowed = ['auto', ...capabilities.quality].map((value) => `"${value}"`).join(', ');
  throw invalidRequest('quality', `quality: must be one of ${allowed} with "${id}".`);
};

const ownQuality = (rule: ImageModel['image']['size'], size: ChosenSize): ImageQuality | undefined => {
  if (rule.mode === 'ignored') return rule.upstreamQuality;
  if (rule.mode !== 'enum_by_tier' || size.kind === 'vendor' || size.tier === undefined) return undefined;
  return rule.qualityByTier[size.tier];
};
