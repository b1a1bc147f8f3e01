import type * as z from 'zod';
import { type CreateDocumentOptions, createSchema, type ZodOpenApiOverride } from 'zod-openapi';
import { type Shown, shown } from '../../lambdas/protocols/bounded.ts';
import { ignoresUnknown } from '../../lambdas/protocols/fields.ts';
import type { JsonSchema } from './json-schema.ts';

/** A schema as a client may send it. Nothing in it is a reference. */
export const toSchema = (schema: z.core.$ZodType): JsonSchema => {
  const { schema: shownSchema } = createSchema(schema, { io: 'input', opts: options });
  return typeof shownSchema === 'object' ? { ...shownSchema } : {};
};

/** What the library does not know by itself: members of our own collections, and what no JSON schema follows from. */
const override: ZodOpenApiOverride = ({ jsonSchema, zodSchema }) => {
  const as = shown.get(zodSchema);
  if (as) {
    for (const name of Object.keys(jsonSchema)) delete jsonSchema[name];
    Object.assign(jsonSchema, render(as));
  }
  // Readers of such documents know lists, and hardly one of them knows tuples.
  if (Array.isArray(jsonSchema.prefixItems) && jsonSchema.prefixItems.length === 1) {
    const [items] = jsonSchema.prefixItems;
    delete jsonSchema.prefixItems;
    Object.assign(jsonSchema, { items, minItems: 1, maxItems: 1 });
  }
  if (ignoresUnknown(zodSchema)) delete jsonSchema.additionalProperties;
  // The bounds of a double's whole numbers are no bounds of the API.
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
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
