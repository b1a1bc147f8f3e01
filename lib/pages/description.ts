import * as z from 'zod';

/** JSON schema, with the keywords that the pages show. */
export interface Schema {
  readonly $ref?: string | undefined;
  readonly type?: string | readonly string[] | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly properties?: Readonly<Record<string, Schema>> | undefined;
  readonly required?: readonly string[] | undefined;
  readonly items?: Schema | undefined;
  readonly anyOf?: readonly Schema[] | undefined;
  readonly oneOf?: readonly Schema[] | undefined;
  readonly allOf?: readonly Schema[] | undefined;
  readonly enum?: readonly unknown[] | undefined;
  readonly const?: unknown;
  readonly default?: unknown;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly exclusiveMinimum?: number | undefined;
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly minItems?: number | undefined;
  readonly maxItems?: number | undefined;
  readonly format?: string | undefined;
  readonly additionalProperties?: boolean | Schema | undefined;
  readonly contentSchema?: Schema | undefined;
}

const schemas = z.lazy(() => z.array(schema).optional());

const schema: z.ZodType<Schema> = z.lazy(() =>
  z.looseObject({
    $ref: z.string().optional(),
    type: z.union([z.string(), z.array(z.string())]).optional(),
    title: z.string().optional(),
    description: z.string().optional(),
    properties: z.record(z.string(), schema).optional(),
    required: z.array(z.string()).optional(),
    items: schema.optional(),
    anyOf: schemas,
    oneOf: schemas,
    allOf: schemas,
    enum: z.array(z.unknown()).optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    exclusiveMinimum: z.number().optional(),
    minLength: z.number().optional(),
    maxLength: z.number().optional(),
    minItems: z.number().optional(),
    maxItems: z.number().optional(),
    format: z.string().optional(),
    additionalProperties: z.union([z.boolean(), schema]).optional(),
    contentSchema: schema.optional(),
  }),
);

const reference = z.strictObject({ $ref: z.string() });
const example = z.looseObject({ summary: z.string().optional(), value: z.unknown() });

const content = z.looseObject({
  schema: schema.optional(),
  example: z.unknown().optional(),
  examples: z.record(z.string(), z.union([reference, example])).optional(),
});

const header = z.looseObject({ description: z.string().optional(), schema: schema.optional() });

const response = z.looseObject({
  description: z.string(),
  headers: z.record(z.string(), z.union([reference, header])).optional(),
  content: z.record(z.string(), content).optional(),
});

const parameter = z.looseObject({
  in: z.enum(['path', 'query', 'header']),
  name: z.string(),
  description: z.string().optional(),
  required: z.boolean().optional(),
  schema: schema.optional(),
  example: z.unknown().optional(),
});

const operation = z.looseObject({
  operationId: z.string(),
  tags: z.array(z.string()).min(1),
  summary: z.string(),
  description: z.string().optional(),
  security: z.array(z.record(z.string(), z.array(z.string()))).optional(),
  parameters: z.array(parameter).optional(),
  requestBody: z.looseObject({ content: z.record(z.string(), content) }).optional(),
  responses: z.record(z.string(), z.union([reference, response])),
  'x-codeSamples': z.array(z.looseObject({ lang: z.string(), label: z.string(), source: z.string() })).optional(),
});

const description = z.looseObject({
  info: z.looseObject({ title: z.string(), description: z.string() }),
  tags: z.array(z.looseObject({ name: z.string(), description: z.string().optional() })),
  'x-tagGroups': z.array(z.looseObject({ name: z.string(), tags: z.array(z.string()) })).optional(),
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.looseObject({
    schemas: z.record(z.string(), schema),
    responses: z.record(z.string(), response).default({}),
    headers: z.record(z.string(), header).default({}),
    examples: z.record(z.string(), example).default({}),
    securitySchemes: z.record(z.string(), z.looseObject({ description: z.string().optional() })).default({}),
  }),
});

export type Description = z.infer<typeof description>;
export type Content = z.infer<typeof content>;
export type Response = z.infer<typeof response>;
export type Parameter = z.infer<typeof parameter>;

/** Operation with its place in the API. */
export interface Operation extends z.infer<typeof operation> {
  readonly method: string;
  readonly path: string;
  /** Name of its page: the operation id in kebab case. */
  readonly page: string;
}

/** Section of the API, in the order of the description. */
export interface Section {
  readonly name: string;
  readonly description: string;
  readonly operations: readonly Operation[];
}

export interface SectionGroup {
  readonly name: string;
  readonly sections: readonly Section[];
}

/** Reads the OpenAPI description. Throws if it lacks something that the pages show. */
export const readDescription = (json: string): Description => description.parse(JSON.parse(json));

export const operationsOf = ({ paths }: Description): readonly Operation[] =>
  Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, each]) => ({
      ...each,
      path,
      method: method.toUpperCase(),
      page: each.operationId.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
    })),
  );

/** Groups the sections by `x-tagGroups`, in its order. Sections without a group are in a last group, `Other`. */
export const groupsOf = (from: Description): readonly SectionGroup[] => {
  const operations = operationsOf(from);
  const sections = from.tags.map((tag) => ({
    name: tag.name,
    description: tag.description ?? '',
    operations: operations.filter(({ tags: [name] }) => name === tag.name),
  }));
  const named = (from['x-tagGroups'] ?? [{ name: 'API', tags: from.tags.map(({ name }) => name) }]).map((group) => ({
    name: group.name,
    sections: group.tags.flatMap((name) => sections.filter((section) => section.name === name)),
  }));
  const grouped = new Set(named.flatMap((group) => group.sections));
  const rest = sections.filter((section) => !grouped.has(section));
  return [...named, { name: 'Other', sections: rest }]
    .map((group) => ({ ...group, sections: group.sections.filter((section) => section.operations.length > 0) }))
    .filter((group) => group.sections.length > 0);
};

const nameIn = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1);

/** Resolves a reference to a schema. Returns its name too. */
export const resolveSchema = (from: Description, of: Schema): { readonly schema: Schema; readonly name?: string } => {
  if (of.$ref === undefined) return { schema: of };
  const name = nameIn(of.$ref);
  return { schema: from.components.schemas[name] ?? {}, name };
};

/** Returns the responses of an operation by status, with references resolved. */
export const responsesOf = (from: Description, { responses }: Operation): readonly [string, Response][] =>
  Object.entries(responses).flatMap(([status, each]): [string, Response][] => {
    const found = '$ref' in each ? from.components.responses[nameIn(String(each.$ref))] : each;
    return found && 'description' in found ? [[status, response.parse(found)]] : [];
  });

export interface Example {
  readonly name: string;
  readonly summary: string;
  readonly value: unknown;
}

/** Returns the examples of a content. */
export const examplesOf = (from: Description, { example: single, examples = {} }: Content): readonly Example[] => [
  ...(single === undefined ? [] : [{ name: 'example', summary: 'Example', value: single }]),
  ...Object.entries(examples).flatMap(([name, each]) => {
    const found = '$ref' in each ? from.components.examples[nameIn(String(each.$ref))] : each;
    return found ? [{ name, summary: String(found.summary ?? name), value: found.value }] : [];
  }),
];

/** Returns the headers of a response and their descriptions. */
export const headersOf = (from: Description, { headers = {} }: Response): readonly [string, string][] =>
  Object.entries(headers).map(([name, each]) => {
    const found = '$ref' in each ? from.components.headers[nameIn(String(each.$ref))] : each;
    return [name, String(found?.description ?? '')];
  });
