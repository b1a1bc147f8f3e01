import { effortLevels } from '../catalog/effort-levels.ts';

const levels: readonly string[] = effortLevels;

/**
 * Returns the level itself if it is in `accepted`, otherwise the nearest accepted one, and of two the lower (CHAT-9).
 * `accepted` is in the order of the catalog entry, lowest first.
 */
export const nearestEffort = (level: string, accepted: readonly string[]): string => {
  const distance = (other: string): number => Math.abs(levels.indexOf(other) - levels.indexOf(level));
  return accepted.reduce(
    (nearest, other) => (distance(other) < distance(nearest) ? other : nearest),
    accepted[0] ?? level,
  );
};
