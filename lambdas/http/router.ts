import { GatewayError } from '../core/errors/gateway-error.ts';
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

/** The part of a segment before its action, which `/v1beta` marks by a colon; undefined when it has another one. */
const valueBefore = (action: string, segment: string | undefined, hasActions: boolean): string | undefined => {
  if (!segment?.endsWith(action)) return undefined;
  const value = segment.slice(0, segment.length - action.length);
  return hasActions && value.includes(':') ? undefined : value;
};

/** Every route of this path, whatever its method. */
export const matchPath = (path: string): Match[] => {
  const segments = path.split('/');
  const found: Match[] = [];
  for (const pattern of patterns) {
    const params = paramsOf(pattern, segments);
    if (params) found.push({ name: pattern.name, route: pattern.route, params });
  }
  return found;
};

const allowedMethods = (here: readonly Match[]): string =>
  [...here.flatMap(({ route: { method } }) => (method === 'GET' ? ['GET', 'HEAD'] : method)), 'OPTIONS'].join(', ');

/**
 * GEN-7. HEAD is the route of GET. Throws `not_found` or `method_not_allowed`. Routes of other functions are not there, but what no function does at a path any
 * of them may say.
 */
export const matchRoute = (method: string, path: string, served: (name: RouteName) => boolean): Match => {
  const found = matchPath(path);
  const asked = method === 'HEAD' ? 'GET' : method;
  const match = found.find(({ name, route }) => route.method === asked && served(name));
  if (match) return match;
  // GEM-3: a model name may contain a colon. On other routes an unknown action follows it.
  const here = found.filter(({ params }) => !Object.values(params).some((value) => value.includes(':')));
  if (here.length === 0 || here.some(({ route }) => route.method === asked)) {
    throw new GatewayError(
      'not_found',
      `There is nothing at ${path.slice(0, 200)}. GET /api-reference lists every route.`,
    );
  }
  const allow = allowedMethods(here);
  throw new GatewayError('method_not_allowed', `${method} is not allowed on this path. Use ${allow}.`, {
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
  'access-control-allow-methods': 'GET, HEAD, POST, DELETE, OPTIONS',
  'access-control-allow-headers': 'authorization, content-type, *',
  'access-control-max-age': '86400',
} as const;
