import { expect, test } from 'vitest';
import { functionForUnknownRoutes, type Route, routes } from '../../../lambdas/routes.ts';
import { BEHAVIOURS_MAX, toBehaviours } from '../../../lib/edge/behaviours.ts';

const behaviours = toBehaviours(routes);

/** Returns the function for a path, as CloudFront does: by the first matching behavior, else the default. */
const functionFor = (path: string) => {
  const matches = (pattern: string): boolean =>
    new RegExp(
      `^${pattern
        .split('*')
        .map((part) => RegExp.escape(part))
        .join('.*')}$`,
    ).test(path);
  return behaviours.find(({ pattern }) => matches(pattern))?.function ?? functionForUnknownRoutes;
};

const table: readonly Route[] = Object.values(routes);
const fill = (path: string, value: string): string => path.replaceAll(/\{[^}]+\}/g, value);

test.each(
  table.flatMap(({ method, path, alsoAt = [], function: owner }) =>
    [path, ...alsoAt].map((one) => [method, one, owner] as const),
  ),
)('OPS-1 CloudFront sends %s %s to the function %s', (_, path, owner) => {
  for (const value of ['x', 'gemini-2.5-flash', 'content', 'api', '0123.js'])
    expect(functionFor(fill(path, value)), value).toBe(owner);
  // Clients may encode the colon before an action.
  expect(functionFor(fill(path, 'x').replace(':', '%3A'))).toBe(owner);
  expect(functionFor(fill(path, 'x').replace(':', '%3a'))).toBe(owner);
});

test.each([
  ['/v1/models/x:y', 'catalog'],
  ['/v1/videos/x/y', 'videos'],
  ['/v1/Chat/completions', 'catalog'],
  ['/app/', 'catalog'],
  ['/', 'catalog'],
])('GEN-7 CloudFront sends %s, which has no route, to %s, which returns the usual error', (path, owner) => {
  expect(functionFor(path)).toBe(owner);
});

test('OPS-1 the behaviors are within the quota, without duplicates or unused ones', () => {
  expect(behaviours.length + 1).toBeLessThanOrEqual(BEHAVIOURS_MAX);
  expect(new Set(behaviours.map(({ pattern }) => pattern)).size).toBe(behaviours.length);
  expect(behaviours.map(({ function: owner }) => owner)).not.toContain(functionForUnknownRoutes);
  for (const { pattern } of behaviours) expect(pattern).toMatch(/^[\w\-.*$/~"'@:+&]{1,255}$/);
});

test('OPS-1 a path that two functions share is rejected, because CloudFront ignores methods', () => {
  const shared = { ...routes.listVideos, function: 'account' } as const;
  expect(() => toBehaviours({ createVideo: routes.createVideo, shared })).toThrow('/v1/videos');
});
