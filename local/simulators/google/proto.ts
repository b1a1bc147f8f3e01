import * as z from 'zod';
import { anyObject, listOf } from '../../../lambdas/protocols/parse.ts';
import { isRecord } from '../json-sample.ts';

/**
 * A protobuf message as JSON: names in camelCase or as in the .proto file, null the same as absent, no unknown names.
 * Source: https://protobuf.dev/programming-guides/json/
 */
export function message<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.preprocess((value) => (isRecord(value) ? renamed(value, shape) : value), z.strictObject(shape));
}

export function repeated<Item extends z.ZodType>(item: Item) {
  return listOf(item, { max: 1_000_000, message: 'must be a list' });
}

/** The provider reads names of enum values in any case: `"role": "USER"`, `"thinkingLevel": "low"`. */
export function enumOf<const Names extends readonly string[]>(names: Names) {
  return z
    .string()
    .transform((name) => name.toUpperCase())
    .pipe(z.enum(names));
}

/** Base64 in either alphabet. */
export const bytes = z.string().refine((text) => /^[\w+/-]*={0,2}$/.test(text), 'base64');

/** 64-bit integers may be strings. */
export const int64 = z.union([z.int(), z.string().regex(/^\d{1,18}$/)]);

/** Any JSON object, unchecked. */
export const struct = anyObject;

function renamed(value: Readonly<Record<string, unknown>>, shape: z.ZodRawShape): Record<string, unknown> {
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(
    members.map(([name, member]) => {
      const camel = name.replace(/_([a-z\d])/g, (_, letter: string) => letter.toUpperCase());
      return [Object.hasOwn(shape, camel) ? camel : name, member];
    }),
  );
}
