import { isRecord } from '../json-sample.ts';
import type { VendorRefusal } from '../wire.ts';
import { anthropicError } from './error.ts';
import type { CountRequest } from './request.ts';

/**
 * Schema keywords that structured outputs do not support, by type:
 * https://platform.claude.com/docs/en/build-with-claude/structured-outputs
 */
const unsupported: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['integer', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
  ['number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
  ['string', ['minLength', 'maxLength']],
]);

/** Message: https://github.com/veryfront/veryfront-code/pull/3921, https://github.com/agentjido/req_llm/issues/302. */
export function refuseFormat({ output_config }: CountRequest): VendorRefusal | undefined {
  const schema = output_config?.format?.schema;
  const problem = schema === undefined ? undefined : schemaProblem(schema);
  return problem === undefined ? undefined : anthropicError(400, `output_config.format.schema: ${problem}`);
}

function schemaProblem(schema: unknown): string | undefined {
  if (!isRecord(schema)) return undefined;
  const { type } = schema;
  if (type === 'object' && schema.additionalProperties !== false) {
    return schema.additionalProperties === undefined
      ? "For 'object' type, 'additionalProperties' must be explicitly set to false"
      : "For 'object' type, 'additionalProperties: true' is not supported. Please set 'additionalProperties' to false";
  }
  const property = unsupported.get(type)?.find((name) => name in schema);
  if (property !== undefined) return `For '${String(type)}' type, property '${property}' is not supported`;
  for (const part of subschemas(schema)) {
    const problem = schemaProblem(part);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function* subschemas(schema: Readonly<Record<string, unknown>>): Generator<unknown> {
  for (const name of ['properties', '$defs', 'definitions']) {
    const group = schema[name];
    if (isRecord(group)) yield* Object.values(group);
  }
  for (const name of ['anyOf', 'oneOf', 'allOf', 'prefixItems']) {
    const group = schema[name];
    if (Array.isArray(group)) yield* group;
  }
  yield schema.items;
}
