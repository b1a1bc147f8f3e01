import type { JsonObject } from '../../lambdas/core/json.ts';
import type { Credential, Route } from '../../lambdas/routes.ts';
import type { Example, Operation } from '../operation.ts';

/** Request of a code sample. */
export interface SampleRequest {
  readonly method: Route['method'];
  /** Path with the examples of its parameters, and the query. */
  readonly target: string;
  /** Examples of the path parameters, in their order. */
  readonly ids: readonly string[];
  readonly credential: Credential;
  readonly body: { readonly kind: 'json' | 'form'; readonly value: JsonObject } | undefined;
  /** Media type of the response. */
  readonly accepts: string;
}

/** Returns the request of the first example of an operation. */
export const sampleRequestOf = (route: Route, operation: Operation): SampleRequest => {
  const { alt, accepts } = streamsByPath(route)
    ? { alt: '?alt=sse', accepts: 'text/event-stream' }
    : { alt: '', accepts: Object.keys(operation.answers['200'].content)[0] ?? '' };
  return { ...requestOf(route, operation, alt), accepts, body: bodyOf(operation, ([first]) => first) };
};

/** Returns the request of the example that streams, or undefined if the operation has none. */
export const streamRequestOf = (route: Route, operation: Operation): SampleRequest | undefined => {
  const body = bodyOf(operation, (_, examples) => examples.stream);
  return body && { ...requestOf(route, operation, ''), accepts: 'text/event-stream', body };
};

const streamsByPath = ({ path }: Route): boolean => path.includes(':stream');

const requestOf = ({ method, path, credential }: Route, operation: Operation, query: string) => {
  const ids = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => operation.path?.[name]?.[1] ?? '');
  const target = ids.reduce((text, id) => text.replace(/\{\w+\}/, id), path);
  return { method, target: `${target}${query}`, ids, credential };
};

type Choose = (examples: readonly Example[], byName: Readonly<Record<string, Example>>) => Example | undefined;

const bodyOf = ({ json, form, sampled }: Operation, choose: Choose): SampleRequest['body'] => {
  const found = sampled === 'form' ? form : (json ?? form);
  const example = found && choose(Object.values(found.examples), found.examples);
  return example && { kind: found === json ? 'json' : 'form', value: example.value };
};

/** Whether a member of a form is the name of a file. */
export const isFileName = (text: string): boolean => /^[\w-]+\.(?:png|wav)$/.test(text);

/** File in which a sample stores a response of this media type, or undefined for a text. */
export const fileFor = (mediaType: string): string | undefined => files[mediaType];

const files: Readonly<Record<string, string>> = {
  'audio/mpeg': 'speech.mp3',
  'image/png': 'image.png',
  'video/mp4': 'video.mp4',
};
