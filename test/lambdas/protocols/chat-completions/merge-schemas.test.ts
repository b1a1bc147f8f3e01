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
