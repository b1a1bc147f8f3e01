import type { GatewayError } from '../../core/errors/gateway-error.ts';
import type { ImageAsk } from '../../core/images/image-wire.ts';
import type { Refusal, RefusalContext } from '../refusals.ts';
import { isFiltered, parseRefusal, toInBandError, toOpenaiError } from './errors.ts';

const PROMPT = 'prompt';

export const toImageError = (status: number, body: unknown, told: RefusalContext, ask: ImageAsk): GatewayError =>
  toOpenaiError(status, inClientsTerms(parseRefusal(body), ask), told, PROMPT);

/** An error under a status of success. */
export const toInBandImageError = (body: unknown, told: RefusalContext, ask: ImageAsk): GatewayError => {
  const refusal = inClientsTerms(parseRefusal(body), ask);
  return isFiltered(refusal) ? toOpenaiError(400, refusal, told, PROMPT) : toInBandError(refusal, told, PROMPT);
};

/** Refusals that name no param: https://github.com/lofcz/LLMTornado/issues/105 has the first. */
const paramsByCode: Readonly<Record<string, string>> = {
  invalid_image_file: 'image',
  invalid_mask_image_format: 'mask',
};

/**
 * Everything that is the user's fault has the type `image_generation_user_error` here, a wrong size, too: it says nothing of an image
 * that was sent. One that cannot be read is named by its number, or as `image[0]`.
 */
const inClientsTerms = (refusal: Refusal, { references }: ImageAsk): Refusal => {
  const param = refusal.param || paramsByCode[refusal.code];
  const isReference = param !== undefined && /^image(?:\[\d*\])?$/.test(param);
  return {
    ...refusal,
    type: refusal.type.replace('image_generation_user_error', 'invalid_request_error'),
    code: refusal.code.replace('unsupported_file_mimetype', 'invalid_image_file'),
    param: isReference ? (references[referenceIn(refusal)]?.param ?? 'image') : param,
  };
};

const referenceIn = ({ param = '', message }: Refusal): number => {
  const index = /\d+/.exec(param)?.[0];
  if (index !== undefined) return Number(index);
  const number = /for image (\d+)/.exec(message)?.[1];
  return number === undefined ? 0 : Number(number) - 1;
};
