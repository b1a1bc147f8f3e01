import { isJsonObject, type JsonValue, parseJson } from '../core/json.ts';

/** What a body may have (GEN-2). */
const DEPTH_MAX = 64;

/**
 * JSON whose numbers are written again digit by digit as they came: an id of twenty digits is no double. Throws a SyntaxError,
 * also for what is nested too deep to be written again.
 */
export const parseExact = (text: string): JsonValue => {
  if (isDeeper(parseJson(text), DEPTH_MAX)) throw new SyntaxError('nested too deep');
  return JSON.parse(text, (_, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source ? JSON.rawJSON(source) : value,
  );
};

const isDeeper = (value: JsonValue | undefined, levels: number): boolean => {
  if (typeof value !== 'object' || value === null) return false;
  const members = isJsonObject(value) ? Object.values(value) : value;
  return levels === 0 || members.some((member) => isDeeper(member, levels - 1));
};
