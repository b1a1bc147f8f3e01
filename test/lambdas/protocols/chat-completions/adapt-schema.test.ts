import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import type { JsonObject } from '../../../../lambdas/core/json.ts';
import { adaptSchema } from '../../../../lambdas/protocols/chat-completions/adapt-schema.ts';
import { claudeDialect, geminiDialect } from '../../../../lambdas/protocols/chat-completions/schema-dialects.ts';
import { refuseFormat } from '../../../../local/simulators/anthropic/format-rules.ts';
import { refuseJsonSchema } from '../../../../local/simulators/google/schema-rules.ts';
import { pydanticSchemas, zodSchemas } from './random-schemas.ts';

const forClaude = (schema: JsonObject) => adaptSchema(schema, claudeDialect);
const forGemini = (schema: JsonObject) => adaptSchema(schema, geminiDialect);
/** Object with one property, as both providers get it. */
const one = (property: JsonObject): JsonObject => ({ type: 'object', properties: { a: property } });
const to = (name: string) => ({ $ref: `#/$defs/${name}` });
const closed = (property: JsonObject): JsonObject => ({ ...one(property), additionalProperties: false });

test.each<[sent: JsonObject, claude: JsonObject, gemini: JsonObject]>([
  [
    { type: 'number', minimum: 0, exclusiveMaximum: 1.5 },
    { type: 'number', description: '{minimum: 0, exclusiveMaximum: 1.5}' },
    { type: 'number', minimum: 0, description: '{exclusiveMaximum: 1.5}' },
  ],
  [
    { type: 'integer', exclusiveMinimum: 0, description: 'Age' },
    { type: 'integer', description: 'Age\n\n{exclusiveMinimum: 0}' },
    { type: 'integer', minimum: 1, description: 'Age' },
  ],
  [
    { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 3 },
    { type: 'array', items: { type: 'string' }, minItems: 1, description: '{maxItems: 3}' },
    { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 3 },
  ],
  [
    { type: 'object', additionalProperties: { type: 'integer' } },
    {
      type: 'object',
      properties: {},
      additionalProperties: false,
      description: '{additionalProperties: {"type":"integer"}}',
    },
    { type: 'object', additionalProperties: { type: 'integer' } },
  ],
  [
    { oneOf: [{ type: 'string' }, { const: 3 }] },
    { anyOf: [{ type: 'string' }, { type: 'number', const: 3 }] },
    { anyOf: [{ type: 'string' }, { type: 'number', enum: [3] }] },
  ],
  [
    { type: 'string', format: 'binary', pattern: '^a' },
    { type: 'string', pattern: '^a', description: '{format: "binary"}' },
    { type: 'string', format: 'binary' },
  ],
  [
    { type: ['object', 'null'], properties: { b: { type: 'null' } }, additionalProperties: false },
    { anyOf: [{ ...closed({}), properties: { b: { type: 'null' } } }, { type: 'null' }] },
    { anyOf: [{ ...closed({}), properties: { b: { type: 'null' } } }, { type: 'null' }] },
  ],
  [
    { allOf: [{ properties: { b: { type: 'null' } } }, { required: ['b'] }] },
    { type: 'object', properties: { b: { type: 'null' } }, required: ['b'], additionalProperties: false },
    { type: 'object', properties: { b: { type: 'null' } }, required: ['b'] },
  ],
  [
    { type: 'string', nullable: true },
    { anyOf: [{ type: 'string' }, { type: 'null' }] },
    { anyOf: [{ type: 'string' }, { type: 'null' }] },
  ],
])('CHAT-8 %j is rewritten for Claude and Gemini', (sent, claude, gemini) => {
  expect(forClaude(one(sent)).schema).toEqual(closed(claude));
  expect(forGemini(one(sent)).schema).toEqual(one(gemini));
});

test('CHAT-8 each keyword that a provider does not enforce is listed once', () => {
  const bounded = { type: 'array', uniqueItems: true, items: { type: 'array', uniqueItems: true, maxItems: 2 } };
  expect([...forClaude(one(bounded)).dropped].sort()).toEqual(['maxItems', 'uniqueItems']);
  expect([...forGemini(one(bounded)).dropped]).toEqual(['uniqueItems']);
  const free = { $schema: 'https://json-schema.org/draft/2020-12/schema', ...one({ type: 'string', default: 'b' }) };
  expect([...forClaude(free).dropped, ...forGemini(free).dropped]).toEqual([]);
});

test('CHAT-8 a schema that contains itself ends for Claude, and is optional for Gemini', () => {
  const tree = {
    type: 'object',
    properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#' } } },
    required: ['name', 'children'],
  };
  const { schema: claude, dropped } = forClaude(tree);
  expect(refuseFormat(requestWith(claude))).toBeUndefined();
  expect(claude).toMatchObject({ required: ['name', 'children'] });
  expect(JSON.stringify(claude)).toContain('{maxItems: 0}');
  expect([...dropped]).toEqual(['$ref']);
  const gemini = forGemini(tree);
  expect(gemini.schema).toMatchObject({ required: ['name'] });
  expect([...gemini.dropped]).toEqual(['required']);
});

test('CHAT-8 a reference to another document allows any primitive value', () => {
  const { schema, dropped } = forClaude(one({ $ref: 'https://example.com/schema' }));
  expect(refuseFormat(requestWith(schema))).toBeUndefined();
  expect([...dropped]).toEqual(['$ref']);
});

const requestWith = (schema: JsonObject) => ({
  model: 'claude-opus-5',
  messages: [],
  output_config: { format: { type: 'json_schema' as const, schema } },
});

const listed = new Set([...geminiDialect.passes, '$defs', 'format']);

const keywordsIn = (schema: JsonObject): readonly string[] => {
  const { properties = {}, $defs = {}, items, additionalProperties, anyOf = [], prefixItems = [] } = schema;
  const inner = [
    Object.values(properties ?? {}),
    Object.values($defs ?? {}),
    items,
    additionalProperties,
    anyOf,
    prefixItems,
  ];
  const objects = inner.flat().filter((value) => typeof value === 'object' && value !== null);
  return [...Object.keys(schema), ...objects.flatMap((value) => keywordsIn(value as JsonObject))];
};

test.each([
  ['Pydantic', pydanticSchemas],
  ['zod', zodSchemas],
])('CHAT-8 Claude and Gemini accept every schema that %s writes', (_, schemas) => {
  fc.assert(
    fc.property(schemas, (schema) => {
      expect(refuseFormat(requestWith(forClaude(schema).schema))).toBeUndefined();
      const gemini = forGemini(schema).schema;
      expect(refuseJsonSchema(gemini)).toBeUndefined();
      expect(keywordsIn(gemini).filter((keyword) => !listed.has(keyword))).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

test('CHAT-8 a way around a loop of several definitions has three levels for Claude', () => {
  const node = (next: string) => ({ type: 'object', properties: { next: to(next) }, required: ['next'] });
  const { schema } = forClaude({ ...to('A'), $defs: { A: node('B'), B: node('C'), C: node('A') } });
  expect(refuseFormat(requestWith(schema))).toBeUndefined();
  expect(JSON.stringify(schema).match(/"next":\{/g)).toHaveLength(8);
});

test('CHAT-8 a definition that many schemas merge does not make the schema much larger', () => {
  const A = { type: 'object', properties: { a: { type: 'string', title: 'x'.repeat(10_000) } } };
  const merged = { allOf: [{ $ref: '#/$defs/A' }, { required: ['a'] }] };
  const properties = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`p${at}`, merged]));
  expect(JSON.stringify(forClaude({ type: 'object', properties, $defs: { A } }).schema).length).toBeLessThan(2_000_000);
});

test('CHAT-8 descriptions contain only the outermost of nested prefixItems', () => {
  const text = 'x'.repeat(10_000);
  const list = (inner: JsonObject): JsonObject => ({ type: 'array', prefixItems: [inner] });
  const nested = Array.from({ length: 20 }).reduce<JsonObject>(list, { type: 'string', title: text });
  expect(JSON.stringify(forClaude(one(nested)).schema).length).toBeLessThan(3 * text.length);
});

test('CHAT-8 descriptions contain at most 100,000 characters of keywords', () => {
  const property = { type: 'string', default: 'x'.repeat(1_000) };
  const { schema, dropped } = forClaude({
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`p${at}`, property])),
  });
  expect(JSON.stringify(schema).length).toBeLessThan(130_000);
  expect([...dropped]).toEqual(['default']);
});

test('CHAT-8 a definition behind 5,000 others in allOf allows any value', () => {
  const members = Array.from({ length: 5_000 }, (_, at) => [`d${at}`, { allOf: [to(`d${at + 1}`), { title: 't' }] }]);
  const $defs = { ...Object.fromEntries(members), d5000: { type: 'string' } };
  expect([...forClaude({ ...one(to('d0')), $defs }).dropped]).toEqual(['allOf']);
});

test('CHAT-8 definitions whose names collide get different names', () => {
  const names = ['b', 'b_1', 'x/b', 'y/b', 'b_2'];
  const properties = Object.fromEntries(names.map((name) => [name.replace('/', ''), to(name)]));
  const schema = { type: 'object', properties, $defs: { b: {}, b_1: {}, x: { b: {} }, y: { b: {} }, b_2: {} } };
  expect(Object.keys(forGemini(schema).schema.$defs ?? {})).toHaveLength(names.length);
});

/** References in different spellings, which are different pointers to one schema. */
const spellings = (count: number) => {
  const name = 'abcdefghijklmnop';
  const spelled = (number: number) =>
    [...name].map((letter, bit) => ((number >> bit) & 1 ? `%${letter.charCodeAt(0).toString(16)}` : letter)).join('');
  return Array.from({ length: count }, (_, at) => to(spelled(at)));
};

test.each<[what: string, schema: JsonObject]>([
  [
    'a definition with thousands of names',
    {
      ...one({ anyOf: spellings(2_000) }),
      $defs: { abcdefghijklmnop: one({ anyOf: Array.from({ length: 2_000 }, () => ({})) }) },
    },
  ],
  [
    'a long text with hundreds of names',
    {
      ...one({ anyOf: spellings(500) }),
      $defs: { abcdefghijklmnop: { type: 'string', description: 'x'.repeat(100_000) } },
    },
  ],
  [
    'a loop behind thousands of references',
    {
      ...one({ anyOf: [to('L'), ...Array.from({ length: 2_500 }, (_, at) => to(`d${at}`))] }),
      $defs: { L: { properties: { p: { allOf: [to('L'), { title: 't' }] } } } },
    },
  ],
])('CHAT-8 %s is 400', (_, schema) => {
  for (const adapted of [forClaude, forGemini]) {
    expect(() => adapted(schema)).toThrow(
      expect.objectContaining<Partial<GatewayError>>({ code: 'invalid_request_error', param: 'schema' }),
    );
  }
});
