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

/** Throws a SyntaxError. */
export const parseJson = (text: string): JsonValue => JSON.parse(text);

export const isJsonObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
