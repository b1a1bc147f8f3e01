import fc from 'fast-check';
import * as z from 'zod';
import { isJsonObject, type JsonObject, parseJson } from '../../../../lambdas/core/json.ts';

const toJson = (schema: unknown): JsonObject => {
  const json = parseJson(JSON.stringify(schema));
  if (!isJsonObject(json)) throw new Error('not an object');
  return json;
};

const name = fc.constantFrom('id', 'score', 'tags', 'kind', 'child');
const count = fc.integer({ min: 0, max: 9 });

/** Leaves with the constraints that zod has. */
const zodLeaf = fc.oneof(
  fc.tuple(count, count).map(
    ([low, more]): z.ZodType =>
      z
        .number()
        .min(low)
        .max(low + more),
  ),
  fc.constantFrom<z.ZodType>(z.int().positive(), z.number().multipleOf(0.5), z.string().regex(/^(?=a)a+$/)),
  fc.constantFrom<z.ZodType>(z.email(), z.url(), z.uuid(), z.iso.datetime(), z.iso.date(), z.base64(), z.ipv4()),
  fc.constantFrom<z.ZodType>(z.literal(true), z.literal(['a', 1, null]), z.enum(['a', 'b']), z.any(), z.null()),
  fc.tuple(count, count).map(
    ([low, more]): z.ZodType =>
      z
        .string()
        .min(low)
        .max(low + more),
  ),
);

const zodTree = fc.letrec<{ tree: z.ZodType; object: z.ZodObject }>((tie) => ({
  object: fc.dictionary(name, tie('tree'), { minKeys: 1, maxKeys: 4 }).map((shape) => z.object(shape)),
  tree: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'schema' },
    zodLeaf,
    tie('object'),
    tie('object').map((object) => object.loose()),
    tie('tree').map((inner) => inner.nullable()),
    tie('tree').map((inner) => inner.optional()),
    fc.tuple(tie('tree'), count).map(([inner, least]) => z.array(inner).min(least)),
    tie('tree').map((inner) => z.record(z.string(), inner)),
    fc.tuple(tie('tree'), tie('tree')).map(([one, other]) => z.tuple([one, other])),
    fc.tuple(tie('tree'), tie('tree')).map(([one, other]) => z.union([one, other])),
    fc.tuple(tie('object'), tie('object')).map(([one, other]) => z.intersection(one, other)),
    tie('object').map((object) =>
      z.discriminatedUnion('type', [object.extend({ type: z.literal('a') }), z.object({ type: z.literal('b') })]),
    ),
    tie('object').map((shape) => {
      const node: z.ZodObject = shape.extend({
        get children() {
          return z.array(node);
        },
        get next() {
          return node.nullable();
        },
      });
      return node;
    }),
  ),
}));

/** Schemas that `z.toJSONSchema` writes. */
export const zodSchemas = fc
  .tuple(zodTree.object, fc.constantFrom('inline' as const, 'ref' as const), fc.boolean())
  .map(([schema, reused, isOld]) =>
    toJson(z.toJSONSchema(schema, { reused, ...(isOld && { target: 'draft-07' }), unrepresentable: 'any' })),
  );

const titled = (title: string, schema: JsonObject): JsonObject => ({ title, ...schema });

const pydanticField = fc.letrec<{ field: JsonObject }>((tie) => ({
  field: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'schema' },
    fc.constantFrom<JsonObject>(
      { type: 'integer', exclusiveMinimum: 0, maximum: 10 },
      { type: 'string', minLength: 1, maxLength: 20, pattern: '^[a-z]+$' },
      { type: 'string', format: 'uri' },
      { type: 'string', format: 'binary' },
      { const: 'a', type: 'string' },
      { enum: ['a', 1, null] },
      {},
      { $ref: '#/$defs/Node' },
      { $ref: '#/$defs/Node', description: 'A node' },
      { allOf: [{ $ref: '#/$defs/Node' }], default: null },
      { $ref: '#/$defs/Leaf' },
      { discriminator: { propertyName: 'v' }, oneOf: [{ $ref: '#/$defs/Leaf' }, { $ref: '#/$defs/Node' }] },
    ),
    tie('field').map((inner) => ({ anyOf: [inner, { type: 'null' }], default: null })),
    tie('field').map((inner) => ({ type: 'array', items: inner, minItems: 2, maxItems: 4, uniqueItems: true })),
    tie('field').map((inner) => ({ type: 'object', additionalProperties: inner })),
    tie('field').map((inner) => ({ type: 'array', prefixItems: [inner, { type: 'string' }], minItems: 2 })),
  ),
}));

/** Schemas in the form that Pydantic writes, with a model that contains itself. */
export const pydanticSchemas = fc
  .tuple(fc.dictionary(name, pydanticField.field), pydanticField.field, fc.boolean())
  .map(([fields, inner, isRoot]): JsonObject => {
    const model = (properties: JsonObject): JsonObject => ({
      type: 'object',
      properties,
      required: Object.keys(properties),
    });
    const children = { type: 'array', items: { $ref: '#/$defs/Node' } };
    const $defs = {
      Leaf: titled('Leaf', { ...model({ v: { const: 'leaf', type: 'string' } }), additionalProperties: false }),
      Node: titled('Node', model({ v: { const: 'node', type: 'string' }, inner, children })),
    };
    return isRoot ? { $defs, $ref: '#/$defs/Node' } : { $defs, ...titled('Root', model(fields)) };
  });
