import { expect, test } from 'vitest';
import { exactObject, parseExact } from '../../../lambdas/providers/read-json.ts';

test('BILL-6 an object in a string serializes with the digits of its numbers', () => {
  const text = ' {"a":1e20,"b":[12345678901234567890,{"c":1.10}],"d":"x"}';
  expect(JSON.stringify({ args: exactObject(text) })).toBe(`{"args":${text.trim()}}`);
  expect(JSON.stringify(parseExact(text))).toBe(text.trim());
});

test('GEN-14 an object in a string takes no memory for its values until it is serialized', () => {
  expect(Reflect.ownKeys(exactObject('{"a":{"b":1}}') ?? {})).toEqual(['toJSON']);
});

test.for(['', '1', '1.10', '[]', '"{}"', 'null', '{', '{"a":1}}', `{"a":${'['.repeat(65)}${']'.repeat(65)}}`])(
  'CHAT-5 the string %j is not an object of at most 64 levels',
  (text) => {
    expect(exactObject(text)).toBeUndefined();
  },
);
