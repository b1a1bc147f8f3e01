import { expect, test } from 'vitest';
import * as z from 'zod';
import { GatewayError } from '../../../lambdas/core/errors/gateway-error.ts';
import { anyObject, listOf, parseWith, recordOf } from '../../../lambdas/protocols/parse.ts';

const messageOf = (schema: z.ZodType, value: unknown): string => {
  try {
    parseWith(z.strictObject({ a: schema }), { a: value });
  } catch (error) {
    if (error instanceof GatewayError) return error.message;
    throw error;
  }
  throw new Error('the value was accepted');
};

const typed = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('x'), n: z.int() }),
  z.strictObject({ type: z.literal('y') }),
]);

test.for<[message: string, schema: z.ZodType, value: unknown]>([
  ['a: is required.', z.string(), undefined],
  ['a: must be a string.', z.string(), 1],
  ['a: must be a string.', z.string(), null],
  ['a: must be a number.', z.number(), '1'],
  ['a: must be a whole number.', z.int(), 1.5],
  ['a: must be at most 9007199254740991.', z.int(), 1e300],
  ['a: must be true or false.', z.boolean(), 'yes'],
  ['a: must be an array.', z.array(z.string()), {}],
  ['a: must be an object.', z.strictObject({}), []],
  ['a: must be an object.', z.record(z.string(), z.string()), 'x'],
  ['a: must be null.', z.null(), 0],
  ['a: must be of another type.', z.bigint(), 0],
  ['a: must not be empty.', z.string().min(1), ''],
  ['a: must have at least 2 characters.', z.string().min(2), 'x'],
  ['a: must have at most 2 characters.', z.string().max(2), 'xyz'],
  ['a: must have exactly 2 characters.', z.string().length(2), 'x'],
  ['a: must have at most 1 items.', z.array(z.string()).max(1), ['x', 'y']],
  ['a: must be at least 1.', z.number().min(1), 0],
  ['a: must be more than 1.', z.number().gt(1), 1],
  ['a: must be at most 1.', z.number().max(1), 2],
  ['a: must be less than 1.', z.number().lt(1), 1],
  ['a: must be a multiple of 2.', z.number().multipleOf(2), 3],
  ['a: must be "x".', z.literal('x'), 'y'],
  ['a: must be one of "x", "y".', z.enum(['x', 'y']), 'z'],
  ['a: is not valid.', z.string().regex(/x/), 'y'],
  ['a: must be a string or an array.', z.union([z.string(), z.array(z.string())]), 1],
  ['a.b: must be a string.', z.union([z.string(), z.strictObject({ b: z.string() })]), { b: 1 }],
  ['a: is required.', z.union([z.string(), z.number()]), undefined],
  ['a.type: must be one of "x", "y".', typed, { type: 'z' }],
  ['a.n: must be a whole number.', typed, { type: 'x', n: 1.5 }],
  ['a.b: this field is not supported here. Remove it.', z.strictObject({}), { b: 1 }],
  ['a: must be a name.', z.string('must be a name'), 1],
  ['a: Ends with a full stop.', z.custom(() => false, 'Ends with a full stop.'), 1],
  ['a: is not valid.', z.custom(() => false), 1],
  ['a: must be an object.', anyObject, 1],
  ['a[1]: must be a string.', listOf(z.string(), { max: 9, message: 'must be a list' }), ['x', 1]],
  ['a: must have at most 1 items.', listOf(z.string(), { max: 1, message: 'must be a list' }), ['x', 'y']],
  ['a.b: must be a string or a number.', recordOf(z.union([z.string(), z.number()]), 9), { b: [] }],
])('GEN-4 ERR-8 an issue of a body has a plain message: %s', ([message, schema, value]) => {
  expect(messageOf(schema, value)).toBe(message);
});
