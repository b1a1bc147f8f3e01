import { expect, test } from 'vitest';
import { objectSchema } from '../../../../lambdas/protocols/chat-completions/object-schema.ts';

const a = { type: 'object', properties: { a: { type: 'string' } } };

test('CHAT-8 a choice at the top becomes one object with all properties', () => {
  const b = { properties: { a: { type: 'integer' }, b: { type: 'null' } }, required: ['a', 'b'] };
  const { schema, dropped } = objectSchema({ description: 'Look', anyOf: [{ ...a, required: ['a'] }, b] }, false);
  expect(schema).toMatchObject({
    type: 'object',
    properties: { a: { anyOf: [{ type: 'string' }, { type: 'integer' }] }, b: { type: 'null' } },
    required: ['a'],
    description: expect.stringMatching(/^Look\n\n\{anyOf: \[/),
  });
  expect(schema).not.toHaveProperty('anyOf');
  expect([...dropped]).toEqual(['anyOf']);
});

test('CHAT-8 members of allOf at the top are merged and not listed', () => {
  const { schema, dropped } = objectSchema({ allOf: [{ ...a, required: ['a'] }, { required: ['b'] }] }, false);
  expect(schema).toEqual({ ...a, required: ['a', 'b'] });
  expect(dropped.size).toBe(0);
});

test('CHAT-8 a reference at the top and forms of older drafts are rewritten', () => {
  const $defs = { A: { ...a, properties: { t: { type: 'array', items: [{ exclusiveMinimum: true, minimum: 1 }] } } } };
  const { schema } = objectSchema(
    { $schema: 'http://json-schema.org/draft-07/schema#', $ref: '#/$defs/A', $defs },
    true,
  );
  const properties = { t: { type: 'array', prefixItems: [{ exclusiveMinimum: 1 }] } };
  expect(schema).toEqual({ type: 'object', properties, $defs: { A: { type: 'object', properties } } });
});

test('CHAT-8 other parameters are unchanged', () => {
  const parameters = { ...a, not: { required: ['b'] }, examples: [{ items: [1] }] };
  expect(objectSchema(parameters, true).schema).toEqual(parameters);
});

test('CHAT-8 a definition that many members name is not copied for each', () => {
  let reads = 0;
  const ownKeys = (target: typeof a) => {
    reads += 1;
    return Reflect.ownKeys(target);
  };
  const $defs = { A: new Proxy(a, { ownKeys }) };
  const anyOf = Array.from({ length: 1_000 }, () => ({ $ref: '#/$defs/A', title: 't' }));
  expect(objectSchema({ anyOf, $defs }, false).schema).toMatchObject({ properties: a.properties });
  expect(reads).toBeLessThan(10);
});
