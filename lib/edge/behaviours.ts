import { functionForUnknownRoutes, type HttpFunction, type Route } from '../../lambdas/routes.ts';

/** What CloudFront does with paths of one form: in order, the first whose pattern matches is taken. */
export interface Behaviour {
  /** `*` stands for anything, a slash included. https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/DownloadDistValuesCacheBehavior.html */
  readonly pattern: string;
  readonly function: HttpFunction;
}

/** https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/cloudfront-limits.html, the one for all other paths included. */
export const BEHAVIOURS_MAX = 75;

/**
 * From the one table of routes, the most exact first: what leaves less open has more letters of its own. Whatever matches none goes
 * where unknown routes are answered, so that function's own routes need no pattern. Throws an Error where a path is two functions':
 * CloudFront does not tell methods apart.
 */
export const toBehaviours = (table: Readonly<Record<string, Route>>): readonly Behaviour[] => {
  const owners = new Map<string, HttpFunction>();
  for (const { path, alsoAt = [], function: owner } of Object.values(table)) {
    for (const pattern of [path, ...alsoAt].map(toPattern)) {
      if ((owners.get(pattern) ?? owner) !== owner) throw new Error(`${pattern} belongs to more than one function`);
      owners.set(pattern, owner);
    }
  }
  return [...owners]
    .map(([pattern, owner]) => ({ pattern, function: owner }))
    .filter(({ function: owner }) => owner !== functionForUnknownRoutes)
    .sort((one, other) => lettersOf(other.pattern) - lettersOf(one.pattern));
};

/** A colon after a value may come as `%3A`, and a pattern has no percent sign: the `*` takes it in. */
const toPattern = (path: string): string => path.replaceAll(/\{[^}]+\}:?/g, '*');

const lettersOf = (pattern: string): number => pattern.replaceAll('*', '').length;
