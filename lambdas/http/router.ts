import { GatewayError } from '../core/errors/gateway-error.ts';
import { nearestOf } from '../core/nearest.ts';
import { type Route, type RouteName, routes } from '../routes.ts';

interface Match {
  readonly name: RouteName;
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

interface Pattern {
  readonly name: RouteName;
  readonly route: Route;
  readonly segments: readonly string[];
}

const toPatterns = ([name, route]: [RouteName, Route]): Pattern[] =>
  [route.path, ...(route.alsoAt ?? [])].map((path) => ({ name, route, segments: path.split('/') }));

const entries: [RouteName, Route][] = [];

let name: RouteName;

for (name in routes) entries.push([name, routes[name]]);

const patterns = entries.flatMap(toPatterns);

const decode = (segment: string): string | undefined => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
};

const paramsOf = (pattern: Pattern, segments: readonly string[]): Record<string, string> | undefined => {
  if (pattern.segments.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, expected] of pattern.segments.entries()) {
    const segment = segments[index] ?? '';
    if (!expected.startsWith('{')) {
      if (expected !== segment) return undefined;
      continue;
    }
    const [name = '', action = ''] = expected.slice(1).split('}');
    const value = valueBefore(action, decode(segment), pattern.segments[1] === 'v1beta');
    if (!value) return undefined;
    params[name] = value;
  }
  return params;
};

/**
 * Returns the part of a segment before `action`. Returns undefined if the segment does not end in `action`, or if it
 * has another action, which a colon marks under `/v1beta`.
 */
const valueBefore = (action: string, segment: string | undefined, hasActions: boolean): string | undefined => {
  if (!segment?.endsWith(action)) return undefined;
  const value = segment.slice(0, segment.length - action.length);
  return hasActions && value.includes(':') ? undefined : value;
};

/** Returns every route of this path, for any method. */
export const matchPath = (path: string): readonly Match[] => matchesOfFixed.get(path) ?? search(path);

const search = (path: string): readonly Match[] => {
  const segments = path.split('/');
  const found: Match[] = [];
  for (const pattern of patterns) {
    const params = paramsOf(pattern, segments);
    if (params) found.push({ name: pattern.name, route: pattern.route, params });
  }
  return found;
};

/** Returns the paths without parameters, of one method or of all. */
const fixedPaths = (method?: string): readonly string[] =>
  patterns
    .filter(({ route }) => !method || route.method === method)
    .map(({ segments }) => segments.join('/'))
    .filter((path) => !path.includes('{'));

/** Matches of each path without parameters, which a pattern with parameters can match as well. */
const matchesOfFixed: ReadonlyMap<string, readonly Match[]> = new Map(fixedPaths().map((path) => [path, search(path)]));

const allowedMethods = (here: readonly Match[]): string =>
  [...here.flatMap(({ route: { method } }) => (method === 'GET' ? ['GET', 'HEAD'] : method)), 'OPTIONS'].join(', ');

/** Path without `/v1`, which would make any two short paths similar and which a wrong base URL lacks. */
const afterVersion = (path: string): string => path.replace(/^\/(?:v1\/)?/i, '');

const adviceFor = (method: string, path: string): string => {
  if (afterVersion(path) === 'completions') return 'Use /v1/chat/completions with messages instead of prompt.';
  const paths = fixedPaths(method);
  const nearest = nearestOf(afterVersion(path), paths.map(afterVersion));
  if (nearest) return `The nearest path is ${paths.find((path) => afterVersion(path) === nearest)}.`;
  const cause = /^\/v1(?:beta)?\//.test(path)
    ? 'The gateway does not have this API.'
    : 'OpenAI SDKs need a base URL that ends in /v1.';
  return `${cause} GET /api-reference lists every route.`;
};

/**
 * GEN-7. HEAD uses the route of GET. Throws `not_found` or `method_not_allowed`. Routes of other functions count as
 * missing, but any function may return the 405 for a method that no function serves at the path.
 */
export const matchRoute = (method: string, path: string, served: (name: RouteName) => boolean): Match => {
  const found = matchPath(path);
  const asked = method === 'HEAD' ? 'GET' : method;
  const match = found.find(({ name, route }) => route.method === asked && served(name));
  if (match) return match;
  // GEM-3: a model name may contain a colon, but only in a route that also matches the method. In any other route the
  // colon starts an unknown action, so the path does not exist.
  const here = found.filter(({ params }) => !Object.values(params).some((value) => value.includes(':')));
  if (here.length === 0 || here.some(({ route }) => route.method === asked)) {
    throw new GatewayError('not_found', `There is nothing at ${path.slice(0, 200)}. ${adviceFor(asked, path)}`);
  }
  const allow = allowedMethods(here);
  throw new GatewayError('method_not_allowed', `${method} is not allowed on this path. Allowed: ${allow}.`, {
    headers: { allow },
  });
};

/** GEN-13: any origin, no credentials. */
export const corsHeaders = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': '*',
} as const;

export const preflightHeaders = {
  ...corsHeaders,
  'access-control-allow-methods': 'GET, HEAD, POST, PATCH, DELETE, OPTIONS',
  'access-control-allow-headers': 'authorization, content-type, *',
  'access-control-max-age': '86400',
} as const;
