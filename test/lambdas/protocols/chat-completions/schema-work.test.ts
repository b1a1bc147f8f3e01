import { expect, test } from 'vitest';
import type { JsonValue } from '../../../../lambdas/core/json.ts';
import { SchemaWork } from '../../../../lambdas/protocols/chat-completions/schema-work.ts';

test('CHAT-8 the limits of a request hold for all its schemas together', () => {
  const work = new SchemaWork('a');
  const schema = { enum: Array.from({ length: 200_000 }, () => 1) };
  work.spendOnAll(schema);
  work.at('b').spendOnAll(schema);
  expect(() => work.at('c').spendOnAll(schema)).toThrow(expect.objectContaining({ param: 'c' }));
});

test.each<[what: string, value: JsonValue]>([
  ['numbers', Array.from({ length: 2_000_000 }, () => 1)],
  ['text', 'x'.repeat(20_000_000)],
  ['names', { ['x'.repeat(20_000_000)]: 1 }],
])('CHAT-8 much work with %s is 400', (_, value) => {
  expect(() => new SchemaWork().textOf(value)).toThrow(expect.objectContaining({ code: 'invalid_request_error' }));
});

test('CHAT-8 a schema of 90,000 parts is accepted', () => {
  const schema = {
    properties: Object.fromEntries(Array.from({ length: 45_000 }, (_, at) => [`p${at}`, { title: 1 }])),
  };
  expect(() => new SchemaWork().spendOnAll(schema)).not.toThrow();
});
