import type * as z from 'zod';
import { type CreateDocumentOptions, createSchema, type ZodOpenApiOverride } from 'zod-openapi';
import { ignoresUnknown } from '../lambdas/protocols/fields.ts';
import { type Shown, shown } from '../lambdas/protocols/parse.ts';
import type { JsonSchema } from './json-schema.ts';

/** Converts a schema to the JSON schema of requests, without references. */
export const toSchema = (schema: z.core.$ZodType): JsonSchema => {
  const { schema: shownSchema } = createSchema(schema, { io: 'input', opts: options });
  return isSchema(shownSchema) ? allowNull(shownSchema) : {};
};

/**
 * Marks an object in which null in an optional member counts as absent (GEN-16). Removed before the schema is returned.
 */
const NULL_IS_ABSENT = 'x-null-is-absent';

/** Adds schemas that the library cannot derive: members of the gateway's own collections and custom checks. */
const override: ZodOpenApiOverride = ({ jsonSchema, zodSchema }) => {
  const as = shown.get(zodSchema);
  if (as) {
    for (const name of Object.keys(jsonSchema)) delete jsonSchema[name];
    Object.assign(jsonSchema, render(as));
  }
  // Most readers of OpenAPI documents support lists, but not tuples.
  if (Array.isArray(jsonSchema.prefixItems) && jsonSchema.prefixItems.length === 1) {
    const [items] = jsonSchema.prefixItems;
    delete jsonSchema.prefixItems;
    Object.assign(jsonSchema, { items, minItems: 1, maxItems: 1 });
  }
  if (ignoresUnknown(zodSchema)) {
    delete jsonSchema.additionalProperties;
    Object.assign(jsonSchema, { [NULL_IS_ABSENT]: true });
  }
  // The format is enough; the library's pattern has several hundred characters.
  if (jsonSchema.format === 'date-time' || jsonSchema.format === 'date') delete jsonSchema.pattern;
  if (Array.isArray(jsonSchema.oneOf)) mergeOptions(jsonSchema, jsonSchema.oneOf);
  // The bounds of safe integers are not limits of the API.
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
};

const allowNull = (schema: JsonSchema): JsonSchema => {
  const { [NULL_IS_ABSENT]: isMarked, ...members } = schema;
  const inner = Object.fromEntries(Object.entries(members).map(([name, member]) => [name, allowNullIn(member)]));
  const { properties, required = [] } = inner;
  if (!isMarked || !isSchema(properties) || !Array.isArray(required)) return inner;
  const shownProperties = Object.entries(properties).map(([name, property]) => [
    name,
    isSchema(property) && !required.includes(name) ? orNull(property) : property,
  ]);
  return { ...inner, properties: Object.fromEntries(shownProperties) };
};

const allowNullIn = (member: unknown): unknown => {
  if (Array.isArray(member)) return member.map(allowNullIn);
  return isSchema(member) ? allowNull(member) : member;
};

const orNull = (schema: JsonSchema): JsonSchema => {
  const { type, enum: values, const: only, anyOf, ...rest } = schema;
  if (Array.isArray(anyOf)) return anyOf.some(isNull) ? schema : { ...schema, anyOf: [...anyOf, NULL] };
  if (rest.oneOf !== undefined) return { anyOf: [schema, NULL] };
  // Generators do not support an enum of a boolean.
  if (only !== undefined) return { ...rest, anyOf: [{ ...(type !== undefined && { type }), const: only }, NULL] };
  if (Array.isArray(values))
    return {
      ...rest,
      ...(type !== undefined && { type: [type, 'null'].flat() }),
      enum: [...new Set([...values, null])],
    };
  if (type === 'null') return schema;
  if (typeof type === 'string') return { ...schema, type: [type, 'null'] };
  return Array.isArray(type) || Object.keys(schema).length === 0 ? schema : { anyOf: [schema, NULL] };
};

const NULL = { type: 'null' };
const isNull = (schema: unknown): boolean => isSchema(schema) && schema.type === 'null';
const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null;

/** Replaces `oneOf`, which requires exactly one match, if there is only one option or a discriminator is optional. */
const mergeOptions = (jsonSchema: z.core.JSONSchema.JSONSchema, options: readonly unknown[]): void => {
  const [only] = options;
  if (options.length === 1 && isSchema(only)) {
    delete jsonSchema.oneOf;
    Object.assign(jsonSchema, only);
  } else if (!options.every(isMarked)) {
    jsonSchema.anyOf = jsonSchema.oneOf;
    delete jsonSchema.oneOf;
  }
};

/** Whether a required member has a fixed value. A reference counts as true. */
const isMarked = (option: unknown): boolean => {
  if (!isSchema(option) || '$ref' in option) return true;
  const { properties, required } = option;
  if (!isSchema(properties) || !Array.isArray(required)) return false;
  return required.some((name) => {
    const member = properties[String(name)];
    return isSchema(member) && ('const' in member || 'enum' in member);
  });
};

export const options: CreateDocumentOptions = { override, allowEmptySchema: { custom: true } };

const render = (as: Shown): JsonSchema => {
  switch (as.kind) {
    case 'list':
      return {
        type: 'array',
        items: toSchema(as.item),
        ...(as.min > 0 && { minItems: as.min }),
        maxItems: as.max,
      };
    case 'record':
      return { type: 'object', additionalProperties: toSchema(as.value), maxProperties: as.max };
    case 'like':
      return toSchema(as.other);
    case 'schema':
      return as.schema;
  }
};
