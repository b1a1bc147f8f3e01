export interface Span {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

/**
 * Position of a member's string value in the outermost object of a JSON text, which must be valid. Ignores members of
 * that name in nested objects. Fast, because it skips strings as a whole.
 */
export const topLevelString = (json: string, name: string): Span | undefined => {
  let depth = 0;
  let at = 0;
  while (at < json.length) {
    const character = json[at] ?? '';
    depth += steps.get(character) ?? 0;
    if (character !== '"') {
      at += 1;
      continue;
    }
    const end = endOfString(json, at);
    const value = depth === 1 && json.slice(at + 1, end - 1) === name ? valueAfter(json, end) : undefined;
    if (value !== undefined) return { start: value, end: endOfString(json, value) };
    at = end;
  }
  return undefined;
};

const steps: ReadonlyMap<string, number> = new Map([
  ['{', 1],
  ['[', 1],
  ['}', -1],
  [']', -1],
]);

/** Position of the opening quote of the value that follows this name. Undefined if no colon and string follow. */
const valueAfter = (json: string, from: number): number | undefined => {
  const [gap] = /^\s*:\s*(?=")/.exec(json.slice(from, from + 32)) ?? [];
  return gap === undefined ? undefined : from + gap.length;
};

/** Position after the closing quote of the string that starts at `open`. */
const endOfString = (json: string, open: number): number => {
  let close = json.indexOf('"', open + 1);
  while (close > 0 && isEscaped(json, close)) close = json.indexOf('"', close + 1);
  return close < 0 ? json.length : close + 1;
};

const isEscaped = (json: string, quote: number): boolean => {
  let backslashes = 0;
  while (json[quote - 1 - backslashes] === '\\') backslashes += 1;
  return backslashes % 2 === 1;
};
