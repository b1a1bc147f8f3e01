import { isJsonObject, type JsonObject, type JsonValue } from '../core/json.ts';

/**
 * Merges two usage objects of one response, in the provider's own fields. Counts are totals so far, so the larger one
 * stays: a later count that is zero, invalid or missing never erases an earlier one. The later one of other values
 * stays. The counts are converted only after the merge (BILL-11).
 */
export const mergeUsage = (earlier: JsonObject, later: JsonObject): JsonObject => {
  if (covers(later, earlier)) return later;
  const merged = new Map(Object.entries(earlier));
  for (const [name, value] of Object.entries(later)) merged.set(name, mergeValue(merged.get(name), value));
  return Object.fromEntries(merged);
};

type Value = JsonValue | undefined;

/** Whether nothing of the earlier value would remain. Nearly every report of a stream covers the one before. */
const covers = (later: Value, earlier: Value): boolean => {
  if (isCount(earlier)) return isCount(later) && later >= earlier;
  if (Array.isArray(earlier)) return Array.isArray(later) && earlier.every((item, index) => covers(later[index], item));
  if (!isJsonObject(earlier)) return earlier === later || earlier === undefined || earlier === null;
  if (!isJsonObject(later)) return false;
  for (const name in earlier) if (!covers(later[name], earlier[name])) return false;
  return true;
};

const mergeValue = (earlier: Value, later: Value): Value => {
  if (isJsonObject(earlier)) return isJsonObject(later) ? mergeUsage(earlier, later) : earlier;
  if (Array.isArray(earlier)) return Array.isArray(later) ? mergeLists(earlier, later) : earlier;
  if (isCount(earlier)) return isCount(later) ? Math.max(earlier, later) : earlier;
  return later ?? earlier;
};

const isCount = (value: Value): value is number => typeof value === 'number' && value >= 0;

/** Merges counts by kind, such as Google's tokens by modality. Items with equal texts are of one kind. */
const mergeLists = (earlier: readonly JsonValue[], later: readonly JsonValue[]): JsonValue[] => {
  const others = [...earlier];
  const merged = later.map((item) => {
    const at = others.findIndex((one) => kindOf(one) === kindOf(item));
    const [same] = at === -1 ? [] : others.splice(at, 1);
    return mergeValue(same, item) ?? item;
  });
  return [...merged, ...others];
};

const kindOf = (item: JsonValue): string =>
  isJsonObject(item) ? JSON.stringify(Object.values(item).filter((value) => typeof value === 'string')) : '';
