import { expect, test } from 'vitest';
import { sampleJson } from '../../../local/simulators/json-sample.ts';

test.each<[object, unknown]>([
  [{ type: 'string', minLength: 12 }, 'sample......'],
  [{ type: 'string', format: 'date' }, '2026-11-20'],
  [{ type: 'integer', minimum: 2.5 }, 3],
  [{ type: 'number', exclusiveMinimum: 3 }, 4],
  [{ type: 'number', multipleOf: 5, minimum: 7 }, 10],
  [{ enum: ['b', 'a'] }, 'b'],
  [{ const: 7 }, 7],
  [{ anyOf: [{ type: 'integer' }, { type: 'null' }] }, 1],
  [{ type: 'array', items: { type: 'boolean' }, minItems: 2 }, [true, true]],
  [{ type: 'array', items: { type: 'boolean' }, maxItems: 0 }, []],
  [{ type: 'object', properties: { a: { type: 'null' }, b: { type: 'null' } }, required: ['b'] }, { b: null }],
  [{ $ref: '#/$defs/a~1b', $defs: { 'a/b': { const: 'found' } } }, 'found'],
])('a sample for %j is %j', (schema, sample) => {
  expect(sampleJson(schema)).toEqual(sample);
});

test('a recursive schema has a finite sample', () => {
  const node = {
    type: 'object',
    properties: {
      next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] },
      children: { type: 'array', items: { $ref: '#/$defs/node' } },
    },
    required: ['next', 'children'],
  };
  const text = JSON.stringify(sampleJson({ $ref: '#/$defs/node', $defs: { node } }));
  expect(text).toContain('"next":null');
  expect(text.length).toBeLessThan(20_000);
});

test('a hint sets the string of a property', () => {
  const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  expect(sampleJson(schema, (name) => (name === 'city' ? 'Rome' : undefined))).toEqual({ city: 'Rome' });
});
