import { isRecord } from '../json-sample.ts';
import { leadsTo, missingReference, referencesIn } from '../schema-references.ts';
import type { VendorRefusal } from '../wire.ts';
import { invalidArgument } from './error.ts';

/**
 * `responseJsonSchema` in the types of @google/genai 3.1.0 (2026-11): next to `$ref` only members that begin with `$`, and
 * loops only in properties that are not required. Keywords that are not listed there may be sent and have no effect. The
 * messages are not recorded.
 */
export function refuseJsonSchema(root: unknown): VendorRefusal | undefined {
  const missing = missingReference(root);
  if (missing !== undefined) return invalidArgument(`Reference ${missing} cannot be resolved.`);
  return walk(root, root, undefined);
}

/** `around` is the reference to the definition that contains the schema. */
function walk(schema: unknown, root: unknown, around: string | undefined): VendorRefusal | undefined {
  if (!isRecord(schema)) return undefined;
  if ('$ref' in schema) {
    const other = Object.keys(schema).find((name) => !name.startsWith('$'));
    if (other !== undefined) return invalidArgument(`"${other}" cannot be set next to "$ref".`);
  }
  const required = Array.isArray(schema.required) ? schema.required : [];
  const properties = isRecord(schema.properties) ? schema.properties : {};
  for (const name of required) {
    const isLoop = referencesIn(properties[name]).some((next) => isLooped(next, around, root));
    if (isLoop) return invalidArgument(`The required property "${name}" is part of a cyclic reference.`);
  }
  for (const [name, part] of parts(schema)) {
    const refusal = walk(part, root, name ?? around);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function isLooped(next: string, around: string | undefined, root: unknown): boolean {
  return around !== undefined && leadsTo(next, around, root) && leadsTo(around, next, root);
}

/** Schemas inside a schema, each with its reference if it is a definition. */
function* parts(schema: Readonly<Record<string, unknown>>): Generator<readonly [string | undefined, unknown]> {
  for (const group of ['$defs', 'definitions']) {
    const named = schema[group];
    if (isRecord(named)) for (const [name, part] of Object.entries(named)) yield [`#/${group}/${name}`, part];
  }
  const { properties, items, additionalProperties } = schema;
  if (isRecord(properties)) for (const part of Object.values(properties)) yield [undefined, part];
  for (const list of [schema.anyOf, schema.oneOf, schema.prefixItems]) {
    if (Array.isArray(list)) for (const part of list) yield [undefined, part];
  }
  yield [undefined, items];
  yield [undefined, additionalProperties];
}
