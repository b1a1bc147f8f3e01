import { isRecord } from '../json-sample.ts';
import { circularReference, missingReference } from '../schema-references.ts';
import type { VendorRefusal } from '../wire.ts';
import { anthropicError } from './error.ts';
import type { CountRequest } from './request.ts';

type Schema = Readonly<Record<string, unknown>>;

/**
 * Keywords of schemas that structured outputs and strict tools compile. Every other keyword is refused, even an unknown
 * one: https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations (2026-11),
 * https://github.com/BerriAI/litellm/pull/33981 (2026-07-20).
 */
const general = ['title', 'description', 'default', 'type', 'enum', 'const', 'anyOf', 'allOf', '$defs', 'definitions'];
const byType: Readonly<Record<string, readonly string[]>> = {
  object: ['properties', 'required', 'additionalProperties'],
  array: ['items', 'minItems'],
  string: ['format', 'pattern'],
};
/** Keywords without an effect, which are accepted. */
const dialect = ['$schema', '$id', '$comment'];

const formats: ReadonlySet<unknown> = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'uri',
  'ipv4',
  'ipv6',
  'uuid',
]);

/** Message: https://github.com/veryfront/veryfront-code/pull/3921, https://github.com/agentjido/req_llm/issues/302. */
export function refuseFormat({ output_config }: CountRequest): VendorRefusal | undefined {
  const schema = output_config?.format?.schema;
  const problem = schema === undefined ? undefined : compiledProblem(schema);
  return problem === undefined ? undefined : anthropicError(400, `output_config.format.schema: ${problem}`);
}

/**
 * Rules for the schemas of tools. All: no combination at the top, https://github.com/anthropics/claude-code/issues/40075
 * (2026-03-28), no `items` of older drafts. Strict ones: as formats, https://github.com/agentjido/req_llm/pull/707
 * (2026-05-19).
 */
export function refuseToolSchemas({ tools = [] }: CountRequest): VendorRefusal | undefined {
  for (const [index, tool] of tools.entries()) {
    if (!('input_schema' in tool) || !isRecord(tool.input_schema)) continue;
    const schema = tool.input_schema;
    if (['oneOf', 'allOf', 'anyOf'].some((name) => name in schema)) {
      const words = 'input_schema does not support oneOf, allOf, or anyOf at the top level';
      return anthropicError(400, `tools.${index}.custom.input_schema: ${words}`);
    }
    if (hasOldForm(schema)) {
      const words = 'JSON schema is invalid. It must match JSON Schema draft 2020-12';
      return anthropicError(400, `tools.${index}.custom.input_schema: ${words}`);
    }
    const problem = tool.strict === true ? compiledProblem(schema) : undefined;
    if (problem !== undefined) return anthropicError(400, `tools.${index}.custom: ${problem}`);
  }
  return undefined;
}

function hasOldForm(schema: Schema): boolean {
  if (Array.isArray(schema.items) || typeof schema.exclusiveMinimum === 'boolean') return true;
  return [...subschemas(schema)].some((part) => isRecord(part) && hasOldForm(part));
}

/** Circular references: https://github.com/egonSchiele/agency-lang/issues/487 (2026-07-10). */
function compiledProblem(root: Schema): string | undefined {
  const missing = missingReference(root);
  if (missing !== undefined) return `Invalid schema: Reference to non-existent definition: ${missing}`;
  const circle = circularReference(root);
  if (circle !== undefined) {
    const words = 'Self-referencing or mutually-referencing definitions are not supported.';
    return `Circular reference detected in schema definitions: ${circle}. ${words}`;
  }
  return schemaProblem(root);
}

function schemaProblem(schema: unknown): string | undefined {
  if (!isRecord(schema)) return `For 'object' type, property 'properties' is not supported`;
  const problem = '$ref' in schema ? referenceProblem(schema) : (combinationProblem(schema) ?? keywordProblem(schema));
  if (problem !== undefined) return problem;
  for (const part of subschemas(schema)) {
    const inner = schemaProblem(part);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

/** The provider's SDK removes all other keywords: `transformJSONSchema` in @anthropic-ai/sdk 1.11.0. */
function referenceProblem(schema: Schema): string | undefined {
  const other = Object.keys(schema).find((name) => !['$ref', '$defs', 'definitions', ...dialect].includes(name));
  return other === undefined ? undefined : `For '$ref', property '${other}' is not supported`;
}

/**
 * `oneOf`: https://github.com/vercel/ai/issues/12876 (2026-07-02). A schema without a type: the provider's SDK throws.
 */
function combinationProblem(schema: Schema): string | undefined {
  const unsupported = ['oneOf', 'not', 'if'].find((name) => name in schema);
  if (unsupported !== undefined) return `Schema type '${unsupported}' is not supported`;
  const { allOf } = schema;
  if (Array.isArray(allOf) && allOf.some((part) => isRecord(part) && '$ref' in part))
    return "Schema type 'allOf' with '$ref' is not supported";
  const hasType = ['type', 'anyOf', 'allOf', 'enum', 'const'].some((name) => name in schema);
  return hasType ? undefined : "Schema type 'undefined' is not supported";
}

function keywordProblem(schema: Schema): string | undefined {
  const types = [schema.type].flat();
  const type = typeof types[0] === 'string' ? types[0] : 'object';
  const allowed = new Set([...general, ...dialect, ...types.flatMap((name) => byType[String(name)] ?? [])]);
  const unknown = Object.keys(schema).filter((name) => !allowed.has(name));
  if (unknown.length === 1) return `For '${type}' type, property '${unknown[0]}' is not supported`;
  if (unknown.length > 1) return `For '${type}' type, properties ${unknown.sort().join(', ')} are not supported`;
  return objectProblem(schema, types) ?? valueProblem(schema, type);
}

function objectProblem({ additionalProperties: more }: Schema, types: readonly unknown[]): string | undefined {
  if (!types.includes('object') || more === false) return undefined;
  if (more === undefined) return "For 'object' type, 'additionalProperties' must be explicitly set to false";
  const words = isRecord(more) ? 'object' : String(more);
  const advice = "Please set 'additionalProperties' to false";
  return `For 'object' type, 'additionalProperties: ${words}' is not supported. ${advice}`;
}

/** `minItems`: https://github.com/ghostlobster/memorize-everything/issues/93 (2026-05-01). */
function valueProblem(schema: Schema, type: string): string | undefined {
  const { minItems = 0, format, pattern, enum: values = [], const: single } = schema;
  if (minItems !== 0 && minItems !== 1)
    return "For 'array' type, 'minItems' values other than 0 or 1 are not supported";
  if (format !== undefined && !formats.has(format))
    return `For '${type}' type, format '${String(format)}' is not supported`;
  if (typeof pattern === 'string' && /\(\?[=!<]|\\[bB1-9]/.test(pattern))
    return `Pattern '${pattern}' is not supported`;
  const literals = [...(Array.isArray(values) ? values : []), single ?? null];
  return literals.some((value) => typeof value === 'object' && value !== null)
    ? 'Complex types in enums are not supported'
    : undefined;
}

function* subschemas(schema: Schema): Generator<unknown> {
  for (const name of ['properties', '$defs', 'definitions']) {
    const group = schema[name];
    if (isRecord(group)) yield* Object.values(group);
  }
  for (const name of ['anyOf', 'oneOf', 'allOf', 'prefixItems']) {
    const group = schema[name];
    if (Array.isArray(group)) yield* group;
  }
  if (isRecord(schema.items)) yield schema.items;
}
