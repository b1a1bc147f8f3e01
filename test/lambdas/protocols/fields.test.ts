import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { GatewayError } from '../../../lambdas/core/errors/gateway-error.ts';
import type { JsonObject } from '../../../lambdas/core/json.ts';
import { anyObject, listOf } from '../../../lambdas/protocols/bounded.ts';
import { fields, guardedNames, keepFields } from '../../../lambdas/protocols/fields.ts';

const listed = { unknown: 'list' } as const;
const part = z.discriminatedUnion('type', [
  fields({ type: z.literal('text'), text: z.string() }, listed),
  fields({ type: z.literal('call'), id: z.string(), note: z.string().nullish() }, { unknown: 'accept' }),
]);
const schema = fields(
  {
    model: z.string(),
    input: z.union([z.string(), listOf(z.union([z.string(), part]), { max: 9, message: 'must be a list' })]).optional(),
    max_tokens: z.int().nullish(),
    content: z.string().nullish(),
    options: fields({ deep: fields({ known: z.int().optional() }, listed).optional() }, listed).optional(),
    schema: anyObject.optional(),
  },
  {
    unknown: 'list',
    accepted: ['bookkeeping'],
    listed: ['inputs'],
    refused: { store: 'must be false. Nothing is stored.', prompt: { code: 'unsupported_parameter', message: 'no.' } },
    guarded: guardedNames,
    nullable: ['content'],
  },
);

const keep = (members: object) => {
  const { body, ignored } = keepFields(schema, { model: 'm', ...members });
  return { body, ignored: ignored.names };
};

test('GEN-16 a body of known fields stays the same object', () => {
  const json = { model: 'm', input: ['a', { type: 'text', text: 'b' }], options: { deep: { known: 1 } } };
  const { body, ignored } = keepFields(schema, json);
  expect(body).toBe(json);
  expect(ignored.names).toEqual([]);
});

test.each<[string, object, object, readonly string[]]>([
  ['an unknown field', { seed: 1 }, {}, ['seed']],
  [
    'an unknown field of an object',
    { options: { deep: { x: 1 }, y: 2 } },
    { options: { deep: {} } },
    ['options.deep.x', 'options.y'],
  ],
  [
    'an unknown field of items, once',
    { input: [{ type: 'text', text: 'a', x: 1 }, 'b', { type: 'text', text: 'c', x: 2 }] },
    { input: [{ type: 'text', text: 'a' }, 'b', { type: 'text', text: 'c' }] },
    ['input[].x'],
  ],
  [
    'null in optional fields',
    { max_tokens: null, input: [{ type: 'call', id: '1', note: null }] },
    { input: [{ type: 'call', id: '1' }] },
    [],
  ],
  ['null in an unknown field', { seed: null, maxx_tokens: null, store: null }, {}, []],
  [
    'bookkeeping',
    { bookkeeping: 1, input: [{ type: 'call', id: '1', x: 1 }] },
    { input: [{ type: 'call', id: '1' }] },
    [],
  ],
  ['refused fields that ask for nothing', { store: false, prompt: {} }, {}, []],
  ['a known name near a guarded one', { inputs: 1 }, {}, ['inputs']],
  ['a member named like a built-in', JSON.parse('{"__proto__":{"a":1},"toString":1}'), {}, ['__proto__', 'toString']],
])('GEN-16 %s is removed', (_, members, left, ignored) => {
  expect(keep(members)).toEqual({ body: { model: 'm', ...left }, ignored });
});

test.each<[string, object]>([
  ['null where it means something', { content: null }],
  ['null inside a JSON schema, and unknown members of it', { schema: { default: null, x: 1 } }],
  ['null in a required field', { input: [{ type: 'text', text: null }] }],
  ['an item that is of no known type', { input: [{ type: 'audio', x: 1 }] }],
  ['a known field of a wrong type', { options: 'x' }],
])('GEN-16 %s stays for the schema', (_, members) => {
  expect(keep(members)).toEqual({ body: { model: 'm', ...members }, ignored: [] });
});

test.each<[object, string, string]>([
  [{ store: true }, 'store', 'store: must be false. Nothing is stored.'],
  [{ max_token: 5 }, 'max_token', 'Did you mean max_tokens?'],
  [{ maxTokens: 5 }, 'maxTokens', 'Did you mean max_tokens?'],
  [{ max_output_tokens: 5 }, 'max_output_tokens', 'Did you mean max_tokens?'],
  [{ models: ['m'] }, 'models', 'Did you mean model?'],
  [{ messages: [] }, 'messages', 'Leave it out.'],
])('GEN-16 %j is refused at %s', (members, param, message) => {
  let thrown: unknown;
  try {
    keep(members);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(GatewayError);
  expect(thrown).toMatchObject({ status: 400, param, message: expect.stringContaining(message) });
});

test('GEN-16 the code of a refusal is that of its policy', () => {
  expect(() => keep({ prompt: { id: 'p' } })).toThrow(expect.objectContaining({ code: 'unsupported_parameter' }));
});

test('GEN-16 the list is sorted, and has at most 20 names', () => {
  const names = Array.from({ length: 30 }, (_, index) => `x${99 - index}`);
  const { ignored } = keep(Object.fromEntries(names.map((name) => [name, 1])));
  expect(ignored).toEqual(names.sort().slice(0, 20));
});

test('GEN-16 more than 10,000 unknown fields are refused', () => {
  const members = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`x${index}`, 1]));
  expect(keep(members(10_000)).ignored).toHaveLength(20);
  expect(() => keep(members(10_001))).toThrow('more than 10000 unknown fields');
});

const isFar = (name: string): boolean => {
  try {
    keep({ [name]: 1 });
    return true;
  } catch {
    return false;
  }
};

test('GEN-16 an unknown name never changes the body, and its entry is safe in a header', () => {
  const name = fc.oneof(fc.string({ unit: 'binary', maxLength: 100 }), fc.string({ minLength: 60, maxLength: 80 }));
  fc.assert(
    fc.property(
      name.filter((text) => !(text in schema.shape) && text !== 'bookkeeping' && isFar(text)),
      fc.jsonValue(),
      (text, value) => {
        const json: JsonObject = JSON.parse(JSON.stringify({ model: 'm', options: {}, [text]: value }));
        const { body, ignored } = keepFields(schema, json);
        expect(body).toEqual({ model: 'm', options: {} });
        expect(ignored.names.length).toBe(value === null ? 0 : 1);
        for (const entry of ignored.names) expect(entry).toMatch(/^[\w.[\]%-]{0,64}$/);
      },
    ),
  );
});
