import { GatewayError } from '../core/errors/gateway-error.ts';
import { sniffImage } from '../core/image-type.ts';

const HEAD_CHARACTERS_MAX = 256;
const dataUri = /^data:([a-z0-9.+-]+\/[a-z0-9.+-]+)(?:;[a-z0-9=.+-]+)*;base64,/i;

/** Matches only the first characters, because the pattern must not scan megabytes. */
const headOf = (url: string): RegExpExecArray | null => dataUri.exec(url.slice(0, HEAD_CHARACTERS_MAX));

/** Media type that a data URI declares, in lower case. Undefined if it is not a data URI. */
export const inlineTypeOf = (url: string): string | undefined => headOf(url)?.[1]?.toLowerCase();

/** Whether the text holds the content itself instead of an http(s) URL. */
export const isInline = (url: string): boolean => !/^https?:\/\//i.test(url);

/**
 * Host of a URL that every parser reads the same way. Undefined for a backslash or a user name, because parsers
 * disagree on those.
 */
export const platformHostOf = (url: string): string | undefined => {
  const { hostname, username, password } = URL.parse(url) ?? {};
  return username || password || url.includes('\\') ? undefined : hostname;
};

/**
 * CHAT-6: an image is an http(s) URL, or a data URI whose first bytes are those of a PNG, JPEG or WebP. Returns how
 * many characters of the body an inline image takes, 0 for a URL.
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

/** Sum of the lengths. Inline data is ASCII, so this is also its size in bytes. */
export const charactersOf = (texts: readonly string[]): number => texts.reduce((sum, { length }) => sum + length, 0);

const invalidFormat = (param: string, message: string): GatewayError =>
  new GatewayError('invalid_image_format', `${param}: ${message}`, { param });
