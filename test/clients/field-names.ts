import type { Call } from './proxy.ts';

export type Shape = string | number | boolean | null | readonly Shape[] | ShapeObject;

interface ShapeObject {
  readonly [name: string]: Shape;
}

/** Names that a client sends to one route, sorted. */
export interface RouteNames {
  readonly query: readonly string[];
  readonly headers: readonly string[];
  /** Values of `anthropic-beta`, which are names of features. */
  readonly betas: readonly string[];
  /**
   * Body with all names that were seen. Texts are `x` and numbers 0. A list has one entry of each `role` and `type`,
   * which are the only values that are kept.
   */
  readonly body: Shape;
}

/** Names by route, such as `POST /v1/messages`. */
export type Recording = Readonly<Record<string, RouteNames>>;

/** Headers of the connection, and those that carry a credential. */
const transport = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'authorization',
  'connection',
  'content-length',
  'content-type',
  'host',
  'sec-fetch-mode',
  'transfer-encoding',
  'x-api-key',
  'x-goog-api-key',
]);

/**
 * Names of objects in which the caller or the model chooses the member names. An `input` or `args` is such an object if
 * it contains the arguments of a tool.
 */
const opaque = new Set([
  'args',
  'arguments',
  'client_metadata',
  'input',
  'input_schema',
  'metadata',
  'parameters',
  'parametersJsonSchema',
  'parsed',
  'parsed_arguments',
  'parsed_output',
  'properties',
  'responseJsonSchema',
  'responseSchema',
  'schema',
]);

/** Returns the names in the requests that the gateway served, by route. */
export const recordNames = (calls: readonly Call[]): Recording => {
  const byRoute = Map.groupBy(
    calls.filter(({ path, status }) => path.startsWith('/v1') && status === 200),
    ({ method, path }) => `${method} ${path.replace(/\/models\/[^/:]+/, '/models/{model}')}`,
  );
  return Object.fromEntries([...byRoute].sort(byName).map(([route, of]) => [route, namesOf(of)]));
};

const byName = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number =>
  one < other ? -1 : 1;

const namesOf = (calls: readonly Call[]): RouteNames => ({
  query: sorted(calls.flatMap(({ query }) => [...query.keys()])),
  headers: sorted(calls.flatMap(({ headers }) => Object.keys(headers)).filter((name) => !transport.has(name))),
  betas: sorted(calls.flatMap(({ headers }) => splitList(headers['anthropic-beta']))),
  body: calls.map(({ body }) => toShape(body, '')).reduce(merge, {}),
});

const sorted = (names: readonly string[]): readonly string[] => [...new Set(names)].sort();

const splitList = (value: string | string[] | undefined): readonly string[] =>
  [value ?? []].flat().flatMap((text) => text.split(',').map((name) => name.trim()));

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isShapeObject = (shape: Shape): shape is ShapeObject => isObject(shape);

const toShape = (value: unknown, name: string): Shape => {
  if (Array.isArray(value)) return value.map((entry) => [toShape(entry, '')]).reduce<Shape>(merge, []);
  if (isObject(value)) {
    if (opaque.has(name)) return {};
    return Object.fromEntries(
      Object.keys(value)
        .sort()
        .map((member) => [member, toShape(value[member], member)]),
    );
  }
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'number') return 0;
  return (name === 'role' || name === 'type') && /^\w{1,40}$/.test(String(value)) ? String(value) : 'x';
};

const kindOf = (shape: Shape): string =>
  isShapeObject(shape) ? `${shape.role ?? ''} ${shape.type ?? ''}` : typeof shape;

/**
 * Merges two shapes. Where they differ in kind, keeps the larger one, so that an empty member never replaces one with
 * content.
 */
const merge = (one: Shape, other: Shape): Shape => {
  if (Array.isArray(one) && Array.isArray(other)) return mergeLists([...one, ...other]);
  if (isShapeObject(one) && isShapeObject(other) && (kindOf(one) === kindOf(other) || isEmpty(one))) {
    const names = [...new Set([...Object.keys(one), ...Object.keys(other)])].sort();
    return Object.fromEntries(names.map((name) => [name, mergeMember(one[name], other[name])]));
  }
  return sizeOf(other) > sizeOf(one) ? other : one;
};

const mergeMember = (one: Shape | undefined, other: Shape | undefined): Shape => {
  if (one === undefined || other === undefined) return one ?? other ?? null;
  return merge(one, other);
};

const mergeLists = (entries: readonly Shape[]): Shape =>
  [...Map.groupBy(entries, kindOf).values()].map((of) => of.reduce(merge));

const isEmpty = (shape: Shape): boolean => sizeOf(shape) === 0;

/** Counts the names and scalars of a shape, except `null` and `false`, which request nothing. */
const sizeOf = (shape: Shape): number => {
  if (typeof shape !== 'object' || shape === null) return shape === null || shape === false ? 0 : 1;
  return Object.values(shape).reduce<number>((sum, member) => sum + 1 + sizeOf(member), 0);
};
