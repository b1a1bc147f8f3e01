import { readImageInput } from '../image-input.ts';

const tokensPerImage = 765;
const tokensPerSmallImage = 85;

export function imageTokens(detail: string | null | undefined): number {
  return detail === 'low' ? tokensPerSmallImage : tokensPerImage;
}

/** Returns a description of the image at the URL. */
export function seenImage(url: string): string {
  const image = readImageInput(url);
  return image.kind === 'image' ? image.mediaType : image.kind;
}
