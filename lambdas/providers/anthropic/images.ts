import { GatewayError } from '../../core/errors/gateway-error.ts';
import { sniffImage } from '../../core/image-type.ts';
import type { JsonObject } from '../../core/json.ts';
import type { ImagePart } from '../../core/text/conversation.ts';
import type { FetchedImage } from '../image-fetch.ts';

/** In characters: of base64 that many give the bytes that tell the type. */
const START = 24;
const HEAD_MAX = 512;

/**
 * https://platform.claude.com/docs/en/build-with-claude/vision. Undefined when the bytes have to be fetched first: the vendor opens
 * https addresses only (github.com/BrokkAi/brokk-app/issues/2269).
 */
export const imageSource = ({ url, param }: ImagePart): JsonObject | undefined => {
  if (/^https:/i.test(url)) return { type: 'url', url };
  if (/^http:/i.test(url)) return undefined;
  const comma = url.slice(0, HEAD_MAX).indexOf(',');
  const data = url.slice(comma + 1);
  // By the bytes: the vendor refuses an image whose declared type is another (github.com/BerriAI/litellm/issues/24900).
  const type = sniffImage(Buffer.from(data.slice(0, START), 'base64'));
  if (!type) {
    throw new GatewayError('invalid_image_format', `${param}: must be a PNG, JPEG or WebP image.`, { param });
  }
  return { type: 'base64', media_type: type, data };
};

/** The source of an image that the vendor would not open. */
export const fetchedSource = ({ mediaType, bytes }: FetchedImage): JsonObject => ({
  type: 'base64',
  media_type: mediaType,
  data: bytes.toString('base64'),
});
