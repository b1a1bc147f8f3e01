import type { ZodOpenApiRequestBodyObject } from 'zod-openapi';
import type { JsonValue } from '../lambdas/core/json.ts';
import type { JsonSchema } from './json-schema.ts';
import type { Body, Operation } from './operation.ts';
import { toSchema } from './shown-schema.ts';

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null;

const membersOf = (schema: JsonSchema, name: string): JsonSchema => {
  const members = schema[name];
  return isSchema(members) ? members : {};
};

/**
 * Builds the schema of a body with a description of each field. Throws an Error if a field and its description do not
 * match.
 */
export const bodySchema = (body: Body, kind: 'json' | 'form'): JsonSchema => {
  const schema = toSchema(body.schema);
  const properties = { ...membersOf(schema, 'properties'), ...body.more };
  for (const name of Object.keys(body.fields)) {
    if (!(name in properties)) throw new Error(`${body.name} has no field ${name}`);
  }
  const described = Object.entries(properties).map(([name, value]) => {
    const description = body.fields[name];
    if (description === undefined) throw new Error(`${body.name}: the field ${name} has no description`);
    const property = isSchema(value) ? value : {};
    return [name, { ...(kind === 'form' ? inForm(property, exampleOf(body, name)) : property), description }];
  });
  const { additionalProperties, required, ...rest } = schema;
  return {
    ...rest,
    ...(body.description !== undefined && { description: body.description }),
    properties: Object.fromEntries(described),
    required: [...(Array.isArray(required) ? required : []), ...(body.alsoRequired ?? [])],
    ...(additionalProperties === undefined || body.open ? {} : { additionalProperties }),
  };
};

const exampleOf = ({ examples }: Body, field: string): JsonValue | undefined =>
  Object.values(examples).find(({ value }) => value[field] !== undefined)?.value[field];

/**
 * A viewer fills form fields with their examples, or with the word `string` if there is no example, even file fields.
 * It omits empty fields.
 */
const inForm = (property: JsonSchema, example: JsonValue = ''): JsonSchema => {
  const schema = withoutNull(property);
  if (schema.type !== 'string' || schema.enum !== undefined || schema.const !== undefined) return schema;
  return { ...schema, examples: [schema.format === 'binary' ? '' : example] };
};

/** A form cannot contain null. */
const withoutNull = (schema: JsonSchema): JsonSchema => {
  const { anyOf, type, ...rest } = schema;
  if (Array.isArray(type)) {
    const values = Array.isArray(rest.enum) && { enum: rest.enum.filter((value) => value !== null) };
    return { ...rest, ...values, type: type.find((name) => name !== 'null') };
  }
  if (!Array.isArray(anyOf)) return schema;
  const [only] = anyOf.filter((each) => isSchema(each) && each.type !== 'null');
  return isSchema(only) ? { ...rest, ...only } : schema;
};

/** Returns the request body of an operation, or undefined if it has none. */
export const requestBodyOf = ({ json, form }: Operation): ZodOpenApiRequestBodyObject | undefined => {
  if (!json && !form) return undefined;
  return {
    required: true,
    content: {
      ...(json && { 'application/json': contentOf(json) }),
      ...(form && { 'multipart/form-data': contentOf(form) }),
    },
  };
};

const contentOf = ({ name, examples }: Body) => ({
  schema: { $ref: `#/components/schemas/${name}` },
  examples: { ...examples },
});
