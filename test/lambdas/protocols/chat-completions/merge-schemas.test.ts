import { expect, test } from 'vitest';
import type { JsonObject } from '../../../../lambdas/core/json.ts';
import { AllOf } from '../../../../lambdas/protocols/chat-completions/merge-schemas.ts';
import { References } from '../../../../lambdas/protocols/chat-completions/schema-references.ts';

const $defs = {
  A: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
  Loop: { items: { $ref: '#/$defs/Loop' } },
};
const merged = (schema: JsonObject) => new AllOf(new References({ ...schema, $defs })).merged(schema);

test.each<[JsonObject, JsonObject]>([
  [{ type: 'string' }, { type: 'string' }],
  [
    { allOf: [{ $ref: '#/$defs/A' }], description: 'd' },
    { $ref: '#/$defs/A', description: 'd' },
  ],
  [
    { allOf: [{ $ref: '#/$defs/A' }, { properties: { a: { minLength: 1 }, b: {} }, required: ['b'] }] },
    {
      type: 'object',
      properties: { a: { allOf: [{ type: 'string' }, { minLength: 1 }] }, b: {} },
      required: ['a', 'b'],
    },
  ],
  [
    { minimum: 1, allOf: [{ minimum: 2 }] },
    { minimum: 1, allOf: [{ minimum: 2 }] },
  ],
  [
    { title: 't', allOf: [{ $ref: '#/$defs/Loop' }, { type: 'array' }] },
    { title: 't', type: 'array', allOf: [{ $ref: '#/$defs/Loop' }] },
  ],
])('CHAT-8 %j is merged to %j', (schema, expected) => {
  expect(merged(schema)).toEqual(expected);
});

/** List that counts the reads of its items. */
const counted = (items: readonly string[]) => {
  const reads = { count: 0 };
  const get = (target: readonly string[], name: string | symbol): unknown => {
    reads.count += 1;
    return Reflect.get(target, name);
  };
  return { list: new Proxy(items, { get }), reads };
};

test('CHAT-8 a long list is not read again for each member of allOf', () => {
  const { list, reads } = counted(Array.from({ length: 100 }, (_, at) => `e${at}`));
  const others = Array.from({ length: 1_000 }, () => ({ enum: ['x'] }));
  expect(merged({ allOf: [{ enum: list }, ...others] })).toEqual({ enum: list, allOf: others });
  expect(reads.count).toBeLessThan(2_000);
});

test('CHAT-8 many members of allOf are merged into one list for each keyword', () => {
  const names = Array.from({ length: 20_000 }, (_, at) => `p${at}`);
  const members = names.map((name) => ({ properties: { [name]: {}, a: { title: name } }, required: [name, 'a'] }));
  const { properties, required } = merged({ allOf: members });
  expect(properties).toEqual({
    ...Object.fromEntries(names.map((name) => [name, {}])),
    a: { allOf: names.map((title) => ({ title })) },
  });
  expect(required).toHaveLength(names.length + 1);
});
