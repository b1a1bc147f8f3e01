import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type HttpFunction, type Route, routes } from '../../lambdas/routes.ts';
import { inferenceFunctionNames } from '../inference-functions.ts';

/** What the edge function for requests cannot know by itself. */
export interface ViewerValues {
  /** Empty where bodies too large for a function URL are not taken. */
  readonly largeBodyOrigin: string;
  readonly bucketOrigin: string;
  readonly mediaOrigin: string;
}

/** https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/cloudfront-limits.html */
export const FUNCTION_BYTES_MAX = 10_240;

/** Those that are there as a Web Function as well, under one roof. */
const inference: ReadonlySet<HttpFunction> = new Set(inferenceFunctionNames);

/** The code that looks at requests. */
export const viewerFunctionCode = ({ largeBodyOrigin, bucketOrigin, mediaOrigin }: ViewerValues): string =>
  fill(read('viewer-function.js'), {
    LARGE_BODY_ORIGIN: largeBodyOrigin,
    LARGE_BODY_PATHS: largeBodyPaths(Object.values(routes)),
    BUCKET_ORIGIN: bucketOrigin,
    MEDIA_ORIGIN: mediaOrigin,
    EXPIRED_BODY: JSON.stringify({ error: expired }),
  });

/** The code that looks at images on their way out. */
export const mediaFunctionCode = (): string => read('media-function.js');

/** As the function that serves images says it. */
const expired = {
  message: 'The image is no longer stored: links to images end after 24 hours. Generate the image again.',
  type: 'invalid_request_error',
  code: 'expired',
  param: null,
};

const read = (name: string): string => readFileSync(fileURLToPath(new URL(name, import.meta.url)), 'utf8');

/** Replaces every literal that is nothing but a name between dollar signs. Throws an Error where one is left. */
const fill = (code: string, values: Readonly<Record<string, string>>): string => {
  let filled = code;
  for (const [name, value] of Object.entries(values))
    filled = filled.replace(`'$${name}$'`, () => JSON.stringify(value));
  const [left] = /\$[A-Z_]+\$/.exec(filled) ?? [];
  if (left !== undefined) throw new Error(`nothing was put in for ${left}`);
  return filled;
};

/** A regular expression of the paths whose bodies may be larger than an event. */
const largeBodyPaths = (table: readonly Route[]): string => {
  const paths = table
    .filter(({ body, function: owner }) => body !== 'none' && inference.has(owner))
    .flatMap(({ path, alsoAt = [] }) => [path, ...alsoAt])
    .map((path) => path.replaceAll(/\{[^}]+\}:?/g, '[^/]+'));
  return `^(?:${[...new Set(paths)].join('|')})$`;
};
