import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { GatewayError } from '../../../lambdas/core/errors/gateway-error.ts';
import type { JsonObject } from '../../../lambdas/core/json.ts';
import { fields, guardedNames, keepFields } from '../../../lambdas/protocols/fields.ts';
import { anyObject, listOf } from '../../../lambdas/protocols/parse.ts';

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
    refused: {
      thread: { code: 'invalid_request_error', message: 'no.', sdkDetails: { error_code: 'x' } },
      store: 'must be false. Nothing is stored.',
      prompt: { code: 'unsupported_parameter', message: 'no.' },
    },
    guarded: guardedNames,
    nullable: ['content'],
    emptyAbsent: ['input', 'max_tokens'],
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
  ['empty optional members without an effect', { input: [] }, {}, []],
  ['refused fields without an effect', { store: false, prompt: {} }, {}, []],
  ['a known name near a guarded one', { inputs: 1 }, {}, ['inputs']],
  ['a member named like a built-in', JSON.parse('{"__proto__":{"a":1},"toString":1}'), {}, ['__proto__', 'toString']],
])('GEN-16 %s is removed', (_, members, left, ignored) => {
  expect(keep(members)).toEqual({ body: { model: 'm', ...left }, ignored });
});

test.each<[string, object]>([
  ['null where it has a meaning', { content: null }],
  ['null inside a JSON schema, and unknown members of it', { schema: { default: null, x: 1 } }],
  ['null in a required field', { input: [{ type: 'text', text: null }] }],
  ['an item of no known type', { input: [{ type: 'audio', x: 1 }] }],
  ['a known field of a wrong type', { options: 'x' }],
  ['an empty known field of a wrong type', { max_tokens: false }],
  ['a list with too many items', { input: Array.from({ length: 10 }, () => ({ type: 'text', x: 1 })) }],
  ['a list with an item of no known type', { input: [{ type: 'audio' }, { type: 'text', text: 'a', x: 1 }] }],
])('GEN-16 %s stays in the body, so that the schema checks it', (_, members) => {
  expect(keep(members)).toEqual({ body: { model: 'm', ...members }, ignored: [] });
});

test.each<[object, string, string]>([
  [{ store: true }, 'store', 'store: must be false. Nothing is stored.'],
  [{ max_token: 5 }, 'max_token', 'Did you mean max_tokens?'],
  [{ maxTokens: 5 }, 'maxTokens', 'Did you mean max_tokens?'],
  [{ max_output_tokens: 5 }, 'max_output_tokens', 'Did you mean max_tokens?'],
  [{ models: ['m'] }, 'models', 'Did you mean model?'],
  [{ messages: [] }, 'messages', 'Did you mean input?'],
  [{ response_format: {} }, 'response_format', 'Remove it.'],
])('GEN-16 %j is rejected at %s', (members, param, message) => {
  let thrown: unknown;
  try {
    keep(members);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(GatewayError);
  expect(thrown).toMatchObject({ status: 400, param, message: expect.stringContaining(message) });
});

test('GEN-16 a rejection has the code of its policy', () => {
  expect(() => keep({ prompt: { id: 'p' } })).toThrow(expect.objectContaining({ code: 'unsupported_parameter' }));
});

const proto = { spelling: 'proto' } as const;
const kind = fields(
  { textPart: z.string().optional(), args: anyObject.optional() },
  { ...proto, unknown: 'list', kinds: ['textPart'], refused: { codeRun: 'no.' } },
);
const message = fields(
  { role: z.string().optional(), parts: listOf(kind, { max: 9, message: 'must be a list' }).optional() },
  { ...proto, unknown: 'list', isCopied: ({ role }) => role === 'model' },
);
const keepMessage = (json: JsonObject) => {
  const { body, ignored } = keepFields(message, json);
  return { body, ignored: ignored.names };
};

test('GEN-16 protobuf members are stored and listed in camelCase, and an object is a list of one', () => {
  const parts = { text_part: 'a', args: { in_a: null }, foo_bar: 1 };
  expect(keepMessage({ parts, some_name: 1 })).toEqual({
    body: { parts: [{ textPart: 'a', args: { in_a: null } }] },
    ignored: ['parts[].fooBar', 'someName'],
  });
  const plain: JsonObject = { parts: [{ textPart: 'a' }] };
  expect(keepFields(message, plain).body).toBe(plain);
});

test('GEN-16 a protobuf member in two spellings is 400, unless one of them is null', () => {
  const twice = (first: string | null) => keepMessage({ parts: [{ textPart: first, text_part: 'b' }] });
  expect(() => twice('a')).toThrow(expect.objectContaining({ status: 400, param: 'parts[0].text_part' }));
  expect(twice(null).body).toEqual({ parts: [{ textPart: 'b' }] });
});

test('GEN-16 unknown members anywhere in a copied object are dropped and not listed', () => {
  const parts = [{ textPart: 'a', x: 1 }];
  expect(keepMessage({ role: 'model', y: 1, parts })).toEqual({
    body: { role: 'model', parts: [{ textPart: 'a' }] },
    ignored: [],
  });
  expect(keepMessage({ role: 'user', parts }).ignored).toEqual(['parts[].x']);
});

test.each<[JsonObject, string]>([
  [{ foo: {} }, 'parts[0].foo'],
  [{ text_part: null, foo: 1 }, 'parts[0].foo'],
  [{ text_part: 'a', code_run: {} }, 'parts[0].codeRun'],
])('GEN-16 an object of an unknown kind is 400, copied or not: %j', (part, param) => {
  for (const role of ['user', 'model'])
    expect(() => keepMessage({ role, parts: [part] })).toThrow(expect.objectContaining({ status: 400, param }));
});

test('GEN-16 a refused kind counts as absent if it is null, false or an empty list', () => {
  for (const codeRun of [null, false, []]) expect(keepMessage({ parts: [{ codeRun }] }).body).toEqual({ parts: [{}] });
});

test('GEN-16 a rejection has the details of its policy for the SDK', () => {
  expect(() => keep({ thread: {} })).not.toThrow();
  expect(() => keep({ thread: { a: 1 } })).toThrow(expect.objectContaining({ sdkDetails: { error_code: 'x' } }));
});

test('GEN-16 the list of ignored fields is sorted, and has at most 20 names', () => {
  const names = Array.from({ length: 30 }, (_, index) => `x${99 - index}`);
  const { ignored } = keep(Object.fromEntries(names.map((name) => [name, 1])));
  expect(ignored).toEqual(names.sort().slice(0, 20));
});

test('GEN-16 more than 10,000 unknown fields are rejected', () => {
  const members = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`x${index}`, 1]));
  expect(keep(members(10_000)).ignored).toHaveLength(20);
  expect(() => keep(members(10_001))).toThrow('more than 10000 unknown fields');
});

test('GEN-16 an object with too many unknown members is rejected, even if none would be listed', () => {
  const members = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`x${index}`, null]));
  const call = (count: number) => ({ input: [{ type: 'call', id: 'a', ...members(count) }] });
  expect(keep(call(10_000))).toEqual({ body: { model: 'm', input: [{ type: 'call', id: 'a' }] }, ignored: [] });
  expect(() => keep(call(10_002))).toThrow('input[].x0: the request has more than 10000 unknown fields');
});

const isFar = (name: string): boolean => {
  try {
    keep({ [name]: 1 });
    return true;
  } catch {
    return false;
  }
};

test('GEN-16 an unknown name never changes the body, and is safe in a header', () => {
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
