import * as z from 'zod';
import type { JsonObject, JsonValue } from '../../core/json.ts';
import { showAs } from '../bounded.ts';

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * A protobuf message as JSON, https://protobuf.dev/programming-guides/json/: a field may be named in camelCase or as in the .proto
 * file, and null is the same as absent. What comes out has the one spelling that every check reads.
 */
export const message = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.preprocess(
    (value, context) => (isObject(value) && !isPlain(value, shape) ? inOneSpelling(value, shape, context) : value),
    z.strictObject(shape),
  );

/** Nothing to be renamed or left out. */
const isPlain = (value: JsonObject, shape: z.ZodRawShape): boolean =>
  Object.keys(value).every((name) => Object.hasOwn(shape, name) && value[name] !== null);

const inOneSpelling = (value: JsonObject, shape: z.ZodRawShape, context: z.RefinementCtx): unknown => {
  const found = new Map<string, JsonValue>();
  for (const [name, member] of Object.entries(value)) {
    if (member === null || member === undefined) continue;
    const field = fieldOf(name, shape);
    if (found.has(field)) {
      context.addIssue({ code: 'custom', message: 'stands here in two spellings. Send one of them.', path: [name] });
      return z.NEVER;
    }
    found.set(field, member);
  }
  return Object.fromEntries(found);
};

const fieldOf = (name: string, shape: z.ZodRawShape): string => {
  const camel = name.includes('_') ? name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()) : name;
  return Object.hasOwn(shape, camel) ? camel : name;
};

/** Where the vendor's reader wants a list of messages, it takes a single one, too: https://github.com/gbaptista/gemini-ai/issues/16 */
export const listed = <List extends z.ZodType>(list: List) =>
  z.preprocess((value) => (isObject(value) ? [value] : value), list);

/** The name of an enum value, which the vendor reads in any case. It is sent on as it came. */
export const enumName = (...names: readonly string[]) =>
  showAs(
    z
      .string()
      .refine(
        (name) => names.some((known) => known.toUpperCase() === name.toUpperCase()),
        `must be one of ${names.map((name) => JSON.stringify(name)).join(', ')}`,
      ),
    { kind: 'schema', schema: { type: 'string', enum: names } },
  );

/** Any JSON, not looked into. */
export const anyJson = showAs(z.custom<JsonValue>(), { kind: 'schema', schema: {} });
