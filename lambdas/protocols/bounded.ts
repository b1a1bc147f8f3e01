import * as z from 'zod';
import type { JsonObject } from '../core/json.ts';
import { check } from './parse.ts';

/**
 * What the API reference shows of a check that no JSON schema follows from: the members of a collection, another schema that says
 * more, or one written by hand. The program itself never reads it.
 */
export type Shown =
  | { readonly kind: 'list'; readonly item: z.ZodType; readonly min: number; readonly max: number }
  | { readonly kind: 'record'; readonly value: z.ZodType; readonly max: number }
  | { readonly kind: 'like'; readonly other: z.ZodType }
  | { readonly kind: 'schema'; readonly schema: JsonObject };
export const shown = new WeakMap<z.core.$ZodType, Shown>();

export const showAs = <Schema extends z.ZodType>(schema: Schema, as: Shown): Schema => {
  shown.set(schema, as);
  return schema;
};

/**
 * Collections whose check ends at the first member that fails. The library's own go on to the end and describe every failure: a
 * few megabytes of wrong members then cost a gigabyte of descriptions.
 */

interface ListBounds {
  readonly min?: number;
  readonly max: number;
  /** What is said when it is no array or too short. */
  readonly message: string;
}

const putFirstIssue = (context: z.core.ParsePayload, error: z.ZodError, member: PropertyKey): void => {
  const [first] = error.issues;
  if (first) context.issues.push({ ...first, path: [member, ...first.path], input: undefined });
};

export const listOf = <Item extends z.ZodType>(item: Item, { min = 0, max, message }: ListBounds) => {
  const list = z.array(z.unknown(), message).transform((members, context): z.output<Item>[] => {
    const refuse = (problem: string): never => {
      context.issues.push({ code: 'custom', message: problem, input: undefined });
      return z.NEVER;
    };
    if (members.length < min) return refuse(message);
    if (members.length > max) return refuse(`must have at most ${max} items`);
    const checked: z.output<Item>[] = [];
    for (const [index, member] of members.entries()) {
      const parsed = check(item, member);
      if (!parsed.success) {
        putFirstIssue(context, parsed.error, index);
        return z.NEVER;
      }
      checked.push(parsed.data);
    }
    return checked;
  });
  return showAs(list, { kind: 'list', item, min, max });
};

/** What is checked here came out of a JSON parser. */
const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Any object, not looked into. */
export const anyObject = showAs(z.custom<JsonObject>(isObject, 'must be an object'), {
  kind: 'schema',
  schema: { type: 'object', additionalProperties: true },
});

export const recordOf = <Value extends z.ZodType>(value: Value, max: number) => {
  const record = anyObject.transform((members, context): Record<string, z.output<Value>> => {
    const names = Object.keys(members);
    if (names.length > max) {
      context.issues.push({ code: 'custom', message: `must have at most ${max} members`, input: undefined });
      return z.NEVER;
    }
    const checked: Record<string, z.output<Value>> = {};
    for (const name of names) {
      const parsed = check(value, members[name]);
      if (!parsed.success) {
        putFirstIssue(context, parsed.error, name);
        return z.NEVER;
      }
      checked[name] = parsed.data;
    }
    return checked;
  });
  return showAs(record, { kind: 'record', value, max });
};
