import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type HttpFunction, type Route, routes } from '../../lambdas/routes.ts';
import { inferenceFunctionNames } from '../inference-functions.ts';

/** Values for the edge function for requests. */
export interface ViewerValues {
  /** Origin of the Web Function for large bodies; empty if there is none. */
  readonly largeBodyOrigin: string;
  readonly bucketOrigin: string;
  readonly mediaOrigin: string;
}

/**
 * Maximum size of an edge function's code in bytes.
 * https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/cloudfront-limits.html
 */
export const FUNCTION_BYTES_MAX = 10_240;

/** Functions whose routes the Web Function `inference` can also serve. */
const inference: ReadonlySet<HttpFunction> = new Set(inferenceFunctionNames);

/** Returns the code of the edge function for requests. Throws an Error for a placeholder without a value. */
export const viewerFunctionCode = ({ largeBodyOrigin, bucketOrigin, mediaOrigin }: ViewerValues): string =>
  fill(read('viewer-function.js'), {
    LARGE_BODY_ORIGIN: largeBodyOrigin,
    LARGE_BODY_PATHS: largeBodyPaths(Object.values(routes)),
    BUCKET_ORIGIN: bucketOrigin,
    MEDIA_ORIGIN: mediaOrigin,
    EXPIRED_BODY: JSON.stringify({ error: expired }),
  });

/** Returns the code of the edge function for responses with images. */
export const mediaFunctionCode = (): string => read('media-function.js');

/** Same error as from the function that serves images. */
const expired = {
  message: 'The image is no longer stored: links to images end after 24 hours. Generate the image again.',
  type: 'invalid_request_error',
  code: 'expired',
  param: null,
};

const read = (name: string): string => readFileSync(fileURLToPath(new URL(name, import.meta.url)), 'utf8');

/**
 * Replaces every string literal that consists of a placeholder such as `$NAME$`. Throws an Error for a placeholder
 * without a value.
 */
const fill = (code: string, values: Readonly<Record<string, string>>): string => {
  let filled = code;
  for (const [name, value] of Object.entries(values))
    filled = filled.replace(`'$${name}$'`, () => JSON.stringify(value));
  const [left] = /\$[A-Z_]+\$/.exec(filled) ?? [];
  if (left !== undefined) throw new Error(`The edge function has no value for ${left}.`);
  return filled;
};

/** Returns a regular expression for the paths whose bodies may exceed an event. */
const largeBodyPaths = (table: readonly Route[]): string => {
  const paths = table
    .filter(({ body, function: owner }) => body !== 'none' && inference.has(owner))
    .flatMap(({ path, alsoAt = [] }) => [path, ...alsoAt])
    .map((path) => path.replaceAll(/\{[^}]+\}:?/g, '[^/]+'));
  return `^(?:${[...new Set(paths)].join('|')})$`;
};
