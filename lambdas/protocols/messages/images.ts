import type { TextModel } from '../../core/catalog/schema.ts';
import { GatewayError, invalidRequest } from '../../core/errors/gateway-error.ts';
import { sniffImage } from '../../core/images/image-type.ts';
import type { Alternatives } from '../alternatives.ts';
import type { Content, ImageBlock, Message } from './blocks.ts';

interface PlacedImage {
  readonly image: ImageBlock;
  readonly param: string;
}

const imagesIn = (content: Content, param: string): readonly PlacedImage[] =>
  typeof content === 'string'
    ? []
    : content.flatMap((block, index) => {
        if (block.type === 'image') return [{ image: block, param: `${param}[${index}]` }];
        return block.type === 'tool_result' ? imagesIn(block.content ?? [], `${param}[${index}].content`) : [];
      });

/** Every image of a conversation, in tool results, too, with where it stands. */
export const imagesOf = (messages: readonly Message[]): readonly PlacedImage[] =>
  messages.flatMap(({ content }, index) => imagesIn(content, `messages[${index}].content`));

/** CHAT-6 and GEN-11: checks every image. */
export const checkImages = (images: readonly PlacedImage[], model: TextModel, alternatives: Alternatives): void => {
  const [first] = images;
  if (first && !model.inputTypes.includes('image')) {
    const others = alternatives(({ inputTypes }) => inputTypes.includes('image'));
    throw invalidRequest(first.param, `${first.param}: "${model.id}" does not take images.${others}`);
  }
  for (const placed of images) checkImage(placed);
};

const checkImage = ({ image: { source }, param }: PlacedImage): void => {
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
