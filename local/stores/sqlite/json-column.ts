import type * as z from 'zod';
import { type Row, textOf } from './database.ts';

/**
 * Amounts go beyond int64 and beyond what a JSON number holds, so they are decimal strings. `undefined` fields are left
 * out.
 */
export const toJson = (value: object): string =>
  JSON.stringify(value, (_name, member: unknown) => (typeof member === 'bigint' ? member.toString() : member));

/**
 * Throws an Error that names the column and the field, without quoting the text, which may contain secrets and prompts.
 */
export const jsonOf = <T>(row: Row, column: string, schema: z.ZodType<T>): T => {
  const parsed = schema.safeParse(parse(row, column));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = [column, ...(issue?.path ?? [])].join('.');
  throw new Error(`the stored "${field}" is invalid: ${issue?.message}`);
};

const parse = (row: Row, column: string): unknown => {
  const text = textOf(row, column);
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`the stored "${column}" is not JSON`);
  }
};
