import { type ImageInput, readImageInput } from '../image-input.ts';
import type { VendorRefusal } from '../wire.ts';
import { anthropicError } from './error.ts';
import type { CountRequest } from './request.ts';
import type { Block, ImageBlock } from './request-blocks.ts';

/**
 * Sources of the message: https://github.com/vybestack/llxprt-code/issues/2130,
 * https://github.com/anthropics/claude-code/issues/8647, https://github.com/acoyfellow/my-ax/issues/91.
 */
export function refuseImages({ messages }: CountRequest): VendorRefusal | undefined {
  for (const [at, { content }] of messages.entries()) {
    for (const [index, block] of content.entries()) {
      for (const { image, field } of imagesIn(block)) {
        const refusal = refuseImage(image, `messages.${at}.content.${index}${field}`);
        if (refusal !== undefined) return refusal;
      }
    }
  }
  return undefined;
}

export function readImage({ source }: ImageBlock): ImageInput {
  return readImageInput(source.type === 'url' ? source.url : `data:${source.media_type};base64,${source.data}`);
}

function imagesIn(block: Block): readonly { readonly image: ImageBlock; readonly field: string }[] {
  if (block.type === 'image') return [{ image: block, field: '.image' }];
  if (block.type !== 'tool_result') return [];
  return (block.content ?? []).flatMap((part, index) =>
    part.type === 'image' ? [{ image: part, field: `.tool_result.content.${index}.image` }] : [],
  );
}

function refuseImage(image: ImageBlock, field: string): VendorRefusal | undefined {
  const seen = readImage(image);
  if (seen.kind === 'unreachable') {
    return anthropicError(400, 'Unable to download the file. Please verify the URL and try again.');
  }
  if (seen.kind === 'unsupported') return anthropicError(400, 'Could not process image');
  const { source } = image;
  if (source.type === 'url' || source.media_type === seen.mediaType) return undefined;
  const words =
    `The image was specified using the ${source.media_type} media type, ` +
    `but the image appears to be a ${seen.mediaType} image`;
  return anthropicError(400, `${field}.source.base64: ${words}`);
}
