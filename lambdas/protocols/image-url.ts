import { GatewayError } from '../core/errors/gateway-error.ts';
import { sniffImage } from '../core/image-type.ts';

const HEAD_CHARACTERS_MAX = 256;
const dataUri = /^data:([a-z0-9.+-]+\/[a-z0-9.+-]+)(?:;[a-z0-9=.+-]+)*;base64,/i;

/** The head is short; a pattern must not run over megabytes. */
const headOf = (url: string): RegExpExecArray | null => dataUri.exec(url.slice(0, HEAD_CHARACTERS_MAX));

/** The media type that a data URI claims, in lower case. */
export const inlineTypeOf = (url: string): string | undefined => headOf(url)?.[1]?.toLowerCase();

/** Whether the field holds the content itself and not a URL. */
export const isInline = (url: string): boolean => !/^https?:\/\//i.test(url);

/** The host of an address that every reader understands alike: a backslash or a user name leads some of them elsewhere. */
export const platformHostOf = (url: string): string | undefined => {
  const { hostname, username, password } = URL.parse(url) ?? {};
  return username || password || url.includes('\\') ? undefined : hostname;
};

/**
 * CHAT-6: an image is an http(s) URL, or a data URI whose first bytes must be those of a PNG, JPEG or WebP. Answers how many
 * characters of the body it takes when it is inline.
 */
export const inlineImageCharacters = (url: string, param: string): number => {
  if (!isInline(url)) {
    if (!URL.canParse(url)) throw invalidFormat(param, 'this is not a valid URL.');
    return 0;
  }
  const [head] = headOf(url) ?? [];
  if (head === undefined) throw invalidFormat(param, 'must be an http(s) URL or a base64 data URI.');
  const start = url.slice(head.length, head.length + 24);
  if (!sniffImage(Buffer.from(start, 'base64'))) throw invalidFormat(param, 'must be a PNG, JPEG or WebP image.');
  return url.length;
};

/** Sum of the lengths. Inline content is ASCII. */
export const charactersOf = (texts: readonly string[]): number => texts.reduce((sum, { length }) => sum + length, 0);

const invalidFormat = (param: string, message: string): GatewayError =>
  new GatewayError('invalid_image_format', `${param}: ${message}`, { param });
