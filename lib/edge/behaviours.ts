import { functionForUnknownRoutes, type HttpFunction, type Route } from '../../lambdas/routes.ts';

/** Rule of CloudFront for paths of one pattern. CloudFront uses the first rule that matches. */
export interface Behaviour {
  /**
   * Path pattern. `*` matches any text, including slashes.
   * https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/DownloadDistValuesCacheBehavior.html
   */
  readonly pattern: string;
  readonly function: HttpFunction;
}

/**
 * Maximum number of behaviors, including the default one.
 * https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/cloudfront-limits.html
 */
export const BEHAVIOURS_MAX = 75;

/**
 * Converts the route table to behaviors, sorted by the number of fixed characters, most first. Unmatched paths go to
 * the function for unknown routes, so its own routes need no pattern. Throws an Error if two functions share a path,
 * because CloudFront does not distinguish methods.
 */
export const toBehaviours = (table: Readonly<Record<string, Route>>): readonly Behaviour[] => {
  const owners = new Map<string, HttpFunction>();
  for (const { path, alsoAt = [], function: owner } of Object.values(table)) {
    for (const pattern of [path, ...alsoAt].map(toPattern)) {
      if ((owners.get(pattern) ?? owner) !== owner)
        throw new Error(`${pattern}: more than one function has this path.`);
      owners.set(pattern, owner);
    }
  }
  return [...owners]
    .map(([pattern, owner]) => ({ pattern, function: owner }))
    .filter(({ function: owner }) => owner !== functionForUnknownRoutes)
    .sort((one, other) => lettersOf(other.pattern) - lettersOf(one.pattern));
};

/** Converts a path to a pattern. A colon after a parameter may arrive as `%3A`, so the `*` includes it. */
const toPattern = (path: string): string => path.replaceAll(/\{[^}]+\}:?/g, '*');

const lettersOf = (pattern: string): number => pattern.replaceAll('*', '').length;
