import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';

export const referencePath = join(import.meta.dirname, '../../web/api-reference/openapi.json');

const example = z.looseObject({ value: z.record(z.string(), z.json()) });
const content = z.looseObject({ schema: z.json().optional(), examples: z.record(z.string(), example).optional() });
const reference = z.strictObject({ $ref: z.string() });

const answer = z.looseObject({
  description: z.string(),
  headers: z.record(z.string(), reference),
  content: z.record(
    z.string(),
    z.looseObject({ example: z.json().optional(), examples: z.record(z.string(), reference).optional() }),
  ),
});

const parameter = z.looseObject({
  in: z.enum(['path', 'query', 'header']),
  name: z.string(),
  required: z.boolean().optional(),
  schema: z.looseObject({ enum: z.array(z.string()).optional() }),
  example: z.json().optional(),
});

const operation = z.looseObject({
  operationId: z.string(),
  summary: z.string().min(1),
  tags: z.tuple([z.string()]),
  security: z.array(z.record(z.string(), z.array(z.string()))),
  parameters: z.array(parameter).optional(),
  requestBody: z.looseObject({ content: z.record(z.string(), content) }).optional(),
  responses: z.record(z.string(), z.union([reference, answer])),
  'x-codeSamples': z.array(z.strictObject({ lang: z.string(), label: z.string(), source: z.string() })),
});

const document = z.looseObject({
  openapi: z.literal('3.1.0'),
  info: z.looseObject({ description: z.string() }),
  servers: z.array(z.looseObject({ url: z.string() })),
  tags: z.array(z.looseObject({ name: z.string() })),
  'x-tagGroups': z.array(z.strictObject({ name: z.string(), tags: z.array(z.string()) })),
  'x-errors': z.array(z.looseObject({ code: z.string(), status: z.int(), example: reference })),
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.looseObject({
    schemas: z.record(z.string(), z.json()),
    responses: z.record(z.string(), answer),
    examples: z.record(z.string(), z.looseObject({ value: z.json() })),
    securitySchemes: z.record(z.string(), z.json()),
  }),
});

export type ReferenceDocument = z.infer<typeof document>;
export type ReferenceOperation = z.infer<typeof operation>;
export type ReferenceAnswer = z.infer<typeof answer>;

/** Reads the parts of the committed API description that tests use. */
export const readReference = (): ReferenceDocument => document.parse(JSON.parse(readFileSync(referencePath, 'utf8')));

export interface ReferenceRow {
  readonly method: string;
  readonly path: string;
  readonly operation: ReferenceOperation;
}

export const rowsOf = ({ paths }: ReferenceDocument): readonly ReferenceRow[] =>
  Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );

/** Returns the response of an operation for a status, with its reference resolved. Undefined if there is none. */
export const answerOf = (
  { components }: ReferenceDocument,
  { responses }: ReferenceOperation,
  status: string,
): ReferenceAnswer | undefined => {
  const found = responses[status];
  if (!found || !('$ref' in found)) return found;
  return components.responses[String(found.$ref).replace('#/components/responses/', '')];
};
