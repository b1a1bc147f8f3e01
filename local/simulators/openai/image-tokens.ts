import { readImageInput } from '../image-input.ts';

const tokensPerImage = 765;
const tokensPerSmallImage = 85;

export function imageTokens(detail: string | null | undefined): number {
  return detail === 'low' ? tokensPerSmallImage : tokensPerImage;
}

/** What the model sees at the address. */
export function seenImage(url: string): string {
  const image = readImageInput(url);
  return image.kind === 'image' ? image.mediaType : image.kind;
}
