import { functionForUnknownRoutes, type HttpFunction, type Route, routes } from '../../lambdas/routes.ts';

/** Who answers at a path of a REST API: one function, but for methods that are another's. */
export interface RestPath {
  readonly any: HttpFunction;
  readonly methods: ReadonlyMap<Route['method'] | 'HEAD', HttpFunction>;
}

/** A segment that is not fixed; API Gateway wants no more than one kind of it beside others, whatever stands behind its brace. */
const VARIABLE = '{value}';
const GREEDY = '{proxy+}';

/**
 * The route table as paths of a REST API. It prefers a fixed segment to `{value}` and that to `{proxy+}`; so that nothing depends on
 * how it goes on where the better one leads nowhere, every path below or above a route has an entry of its own, which answers 404.
 * What stands behind a brace is no part of a path there, so that a method tells apart whose it is, and whoever gets a request of a
 * route that is another's answers 405 as that one would (GEN-7).
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
  if (any === undefined) throw new Error('a path without a route');
  if (others.length === 0) return { any, methods: new Map() };
  const methods = new Map<Route['method'] | 'HEAD', HttpFunction>();
  for (const route of found) {
    if ((methods.get(route.method) ?? route.function) !== route.function)
      throw new Error(
        `${route.method} ${route.path}: another function has this method where API Gateway sees one path`,
      );
    methods.set(route.method, route.function);
    if (route.method === 'GET') methods.set('HEAD', route.function);
  }
  return { any, methods };
};

/** `/` and every path that leads to this one. */
const above = (path: string): string[] => {
  const segments = path.split('/').slice(1, -1);
  return ['/', ...segments.map((_, index) => `/${segments.slice(0, index + 1).join('/')}`)];
};

const below = (path: string, segment: string): string => `${path === '/' ? '' : path}/${segment}`;
