import { functionForUnknownRoutes, type HttpFunction, type Route, routes } from '../../lambdas/routes.ts';

/** Functions behind a path of a REST API: one for all methods, except those listed. */
export interface RestPath {
  readonly any: HttpFunction;
  readonly methods: ReadonlyMap<Route['method'] | 'HEAD', HttpFunction>;
}

/**
 * Variable path segment. API Gateway accepts one variable per position, so all routes share this one. It replaces a
 * parameter together with any text after its closing brace.
 */
const VARIABLE = '{value}';
const GREEDY = '{proxy+}';

/**
 * Converts the route table to REST API paths. API Gateway prefers a fixed segment to `{value}`, and `{value}` to
 * `{proxy+}`. Every path above or below a route has its own entry that returns 404, so nothing depends on how API
 * Gateway backtracks. Routes that differ only in the text after a brace share a path, on which the method selects the
 * function. A function that receives a route of another function returns the same 405 as the owner (GEN-7). Throws an
 * Error if two functions share a path and method.
 */
export const toRestPaths = (table: Readonly<Record<string, Route>> = routes): ReadonlyMap<string, RestPath> => {
  const paths = new Map<string, RestPath>();
  for (const [path, found] of Map.groupBy(Object.values(table).flatMap(toPlaces), ({ path }) => path))
    paths.set(path, toRestPath(found.map(({ route }) => route)));
  for (const path of [...paths.keys()].flatMap(above)) if (!paths.has(path)) paths.set(path, unknown);
  for (const path of [...paths.keys()]) if (!paths.has(below(path, VARIABLE))) paths.set(below(path, GREEDY), unknown);
  return paths;
};

const unknown: RestPath = { any: functionForUnknownRoutes, methods: new Map() };

const toPlaces = (route: Route) =>
  [route.path, ...(route.alsoAt ?? [])].map((path) => ({ path: path.replaceAll(/\{[^/]*/g, VARIABLE), route }));

const toRestPath = (found: readonly Route[]): RestPath => {
  const [any, ...others] = new Set(found.map((route) => route.function));
  if (any === undefined) throw new Error('A path has no route.');
  if (others.length === 0) return { any, methods: new Map() };
  const methods = new Map<Route['method'] | 'HEAD', HttpFunction>();
  for (const route of found) {
    if ((methods.get(route.method) ?? route.function) !== route.function)
      throw new Error(
        `${route.method} ${route.path}: another function has the same method on the same API Gateway path.`,
      );
    methods.set(route.method, route.function);
    if (route.method === 'GET') methods.set('HEAD', route.function);
  }
  return { any, methods };
};

/** Returns `/` and every prefix of the path. */
const above = (path: string): string[] => {
  const segments = path.split('/').slice(1, -1);
  return ['/', ...segments.map((_, index) => `/${segments.slice(0, index + 1).join('/')}`)];
};

const below = (path: string, segment: string): string => `${path === '/' ? '' : path}/${segment}`;
