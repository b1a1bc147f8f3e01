import type { TextModel } from '../../core/catalog/schema.ts';
import { GatewayError, invalidRequest } from '../../core/errors/gateway-error.ts';
import { sniffImage } from '../../core/image-type.ts';
import type { PromptSize } from '../../core/text/conversation.ts';
import type { Alternatives } from '../alternatives.ts';
import type { ImageBlock, PlacedBlock } from './blocks.ts';

export interface MediaSize extends Pick<PromptSize, 'images' | 'documents'> {
  /** What stands in the body itself and is no text, in its order. */
  readonly inline: readonly string[];
}

/** CHAT-6 and GEN-11: checks every image and PDF document, and measures them for the estimate. */
export const measureMedia = (
  blocks: readonly PlacedBlock[],
  model: TextModel,
  alternatives: Alternatives,
): MediaSize => {
  const inline: string[] = [];
  const images: 'auto'[] = [];
  let documents = 0;
  for (const { block, param } of blocks) {
    if (block.type === 'image') {
      requireVision(param, 'images', model, alternatives);
      checkImage(block, param);
      images.push('auto');
    } else if (block.type === 'document' && block.source.type === 'base64') {
      // The vendor also reads each page as an image.
      requireVision(param, 'PDF documents', model, alternatives);
      documents += 1;
    } else continue;
    if (block.source.type === 'base64') inline.push(block.source.data);
  }
  return { inline, images, documents };
};

const requireVision = (param: string, what: string, model: TextModel, alternatives: Alternatives): void => {
  if (model.inputTypes.includes('image')) return;
  const others = alternatives(({ inputTypes }) => inputTypes.includes('image'));
  throw invalidRequest(param, `${param}: "${model.id}" does not take ${what}.${others}`);
};

const checkImage = ({ source }: ImageBlock, param: string): void => {
  if (source.type === 'url') {
    const isLink = /^https?:\/\//i.test(source.url) && URL.canParse(source.url);
    if (!isLink) throw invalidFormat(`${param}.source.url`, 'must be an http(s) URL.');
    return;
  }
  const { data, media_type: claimed } = source;
  const found = sniffImage(Buffer.from(data.slice(0, 24), 'base64'));
  if (!found) throw invalidFormat(`${param}.source.data`, 'must be a PNG, JPEG or WebP image in base64.');
  if (found !== claimed) throw invalidFormat(`${param}.source.media_type`, `must be "${found}", which the image is.`);
};

const invalidFormat = (param: string, message: string): GatewayError =>
  new GatewayError('invalid_image_format', `${param}: ${message}`, { param });
