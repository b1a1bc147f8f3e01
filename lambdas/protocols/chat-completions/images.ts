import { GatewayError, invalidRequest } from '../../core/errors/gateway-error.ts';

const HEAD_CHARACTERS_MAX = 256;
const dataUri = /^data:([a-z0-9.+-]+\/[a-z0-9.+-]+)(?:;[a-z0-9=.+-]+)*;base64,/i;

const kinds = [
  { type: 'image/png', starts: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] },
  { type: 'image/jpeg', starts: [0xff, 0xd8, 0xff] },
] as const;

const isWebp = (bytes: Buffer): boolean =>
  bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP';

const isImage = (bytes: Buffer): boolean =>
  isWebp(bytes) || kinds.some(({ starts }) => starts.every((byte, index) => bytes[index] === byte));

/**
 * CHAT-6: an image is an http(s) URL, which the vendor fetches, or a data URI, whose first bytes must be those of a PNG, JPEG
 * or WebP. Answers how many characters of the body it takes when it is inline.
 */
export const checkImage = (url: string, param: string): number => {
  if (/^https?:\/\//i.test(url)) {
    if (!URL.canParse(url)) throw invalidFormat(param, 'this is no valid URL.');
    return 0;
  }
  // The head is short; a pattern must not run over megabytes.
  const [head, type = ''] = dataUri.exec(url.slice(0, HEAD_CHARACTERS_MAX)) ?? [];
  if (head === undefined) throw invalidFormat(param, 'must be an http(s) URL or a base64 data URI.');
  if (type.toLowerCase().startsWith('video/')) throw invalidRequest(param, `${param}: this model does not take video.`);
  const start = url.slice(head.length, head.length + 24);
  if (!isImage(Buffer.from(start, 'base64'))) throw invalidFormat(param, 'must be a PNG, JPEG or WebP image.');
  return url.length;
};

const invalidFormat = (param: string, message: string): GatewayError =>
  new GatewayError('invalid_image_format', `${param}: ${message}`, { param });
