import { partsOf } from './json-scan.ts';

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: JsonValue | undefined;
}

declare global {
  interface JSON {
    /** https://tc39.es/proposal-json-parse-with-source/, in Node since 21. TypeScript has no types for it. */
    rawJSON(text: string): JsonObject;
    parse(
      text: string,
      reviver: (name: string, value: JsonValue, context: { readonly source?: string }) => JsonValue,
    ): JsonValue;
  }
}

/** Throws a SyntaxError, also for a text of so many parts that its value could end the process. */
export const parseJson = (text: string): JsonValue => {
  if (text.length > TEXT_PARTS_MAX) refuseManyParts(Buffer.from(text));
  return JSON.parse(text);
};

/** Longest prefix that is searched for a mistake without a reported place, so that the search takes few milliseconds. */
const SEARCHED_CHARACTERS = 4_096;

/**
 * Returns the offset of the first mistake in a text, in UTF-16 code units; the length of the text if it is only cut off.
 * `error` is the one that the parser threw for it. Undefined if the parser reports no place and the mistake is beyond
 * `SEARCHED_CHARACTERS`.
 */
export const mistakeIn = (text: string, error: unknown): number | undefined => {
  const reported = reportedIn(text, error);
  if (reported !== undefined) return reported;
  // V8 reports no place for an unexpected token. Each prefix that ends before the token is only cut off.
  let before = 0;
  let after = Math.min(text.length, SEARCHED_CHARACTERS);
  if (isCutOff(text.slice(0, after))) return undefined;
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (isCutOff(text.slice(0, middle))) before = middle;
    else after = middle;
  }
  return before;
};

const isCutOff = (prefix: string): boolean => {
  try {
    JSON.parse(prefix);
    return true;
  } catch (error) {
    return reportedIn(prefix, error) === prefix.length;
  }
};

/** Returns the place that the parser reports. Reads only it from the message, because the message quotes the text. */
export const reportedIn = ({ length }: string, error: unknown): number | undefined => {
  const message = error instanceof Error ? error.message : '';
  if (message === 'Unexpected end of JSON input') return length;
  const place = / JSON at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(message)?.[1];
  return place === undefined ? undefined : Number(place);
};

/**
 * Most parts of a JSON text that is not a request body. The longest response with log probabilities has a quarter, and a
 * value of so many parts takes at most 800 MB.
 */
const TEXT_PARTS_MAX = 5_000_000;

/** Throws a SyntaxError for more than `TEXT_PARTS_MAX` parts. */
export const refuseManyParts = (json: Uint8Array): void => {
  if (json.length <= TEXT_PARTS_MAX || !mayHaveMany(json)) return;
  if (partsOf(json, TEXT_PARTS_MAX).parts > TEXT_PARTS_MAX)
    throw new SyntaxError(`more than ${TEXT_PARTS_MAX} objects, arrays and member names`);
};

/**
 * Searches for braces, brackets and colons, which takes a tenth of the time of a count in megabytes of numbers. Strings
 * are included.
 */
const mayHaveMany = (json: Uint8Array): boolean => {
  let found = 0;
  for (const byte of [0x7b, 0x5b, 0x3a]) {
    for (let at = json.indexOf(byte); at !== -1 && found <= TEXT_PARTS_MAX; at = json.indexOf(byte, at + 1)) found += 1;
  }
  return found > TEXT_PARTS_MAX;
};

export const isJsonObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
