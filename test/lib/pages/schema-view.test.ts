import { expect, test } from 'vitest';
import { readDescription } from '../../../lib/pages/description.ts';
import { textOf } from '../../../lib/pages/html.ts';
import { renderField, renderSchema, typeOf } from '../../../lib/pages/schema-view.ts';
import { smallJson } from './small-description.ts';

const description = readDescription(smallJson);
const talk = { $ref: '#/components/schemas/Talk' };
const shown = renderSchema(description, talk)?.html ?? '';

test('REF-1 a field shows its name, type, limits, text and whether it is required', () => {
  const text = textOf(shown);
  expect(text).toContain('model string required Id of a model . At most 20 characters');
  expect(text).toContain('size integer or null Default 1 Values: 1 2');
  expect(text).toContain('parts array of object At least 1 item');
});

test('REF-1 a schema that contains itself is shown once', () => {
  expect(textOf(shown).match(/\bmodel string\b/g)).toHaveLength(1);
});

test('REF-1 alternatives are named by their constant field', () => {
  expect(textOf(shown)).toMatch(/type: "text".*text string.*type: "image".*url string/);
});

test('REF-1 the values of a map show their fields', () => {
  expect(textOf(shown)).toContain('label string');
});

test('REF-1 a value without fields has no list', () => {
  expect(renderSchema(description, { type: 'string' })).toBeUndefined();
});

test.for([
  [{ type: ['string', 'null'] }, 'string'],
  [{ anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'number' } }] }, 'string or array of number'],
  [{ const: 'a' }, '"a"'],
  [{}, 'any'],
  [talk, 'object'],
] as const)('REF-1 the type of %j is %s', ([schema, type]) => {
  expect(typeOf(description, schema)).toBe(type);
});

test('REF-1 the text of a field is escaped', () => {
  const field = renderField(description, { name: '<a>', schema: { description: '<script>' }, isRequired: false });
  expect(field.html).not.toMatch(/<a>|<script>/);
});
