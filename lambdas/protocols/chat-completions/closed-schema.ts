import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts';

/** Keywords whose members are schemas by name: https://json-schema.org/draft/2020-12/json-schema-core */
const named: ReadonlySet<string> = new Set([
  'properties',
  '$defs',
  'definitions',
  'patternProperties',
  'dependentSchemas',
]);
/** Keywords with a schema or a list of them. */
const nested: ReadonlySet<string> = new Set([
  'items',
  'prefixItems',
  'anyOf',
  'oneOf',
  'allOf',
  'not',
  'if',
  'then',
  'else',
  'contains',
  'additionalProperties',
]);

/**
 * A JSON schema in which no object has members beyond those it names: `additionalProperties: false` wherever the schema leaves
 * it open. https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations
 */
export const closedSchema = (schema: JsonObject): JsonObject => {
  const closed = Object.fromEntries(Object.entries(schema).map(([name, member]) => [name, closedMember(name, member)]));
  const isOpen = schema.additionalProperties === undefined || schema.additionalProperties === true;
  return isOpen && describesObject(schema) ? { ...closed, additionalProperties: false } : closed;
};

const describesObject = ({ type, properties }: JsonObject): boolean =>
  type === 'object' ||
  (Array.isArray(type) && type.includes('object')) ||
  (type === undefined && isJsonObject(properties));

const closedMember = (name: string, member: JsonValue | undefined): JsonValue | undefined => {
  if (named.has(name) && isJsonObject(member)) {
    return Object.fromEntries(Object.entries(member).map(([key, value]) => [key, closedValue(value)]));
  }
  if (!nested.has(name)) return member;
  return Array.isArray(member) ? member.map((value: JsonValue) => closedValue(value)) : closedValue(member);
};

const closedValue = <Value extends JsonValue | undefined>(value: Value): Value | JsonObject =>
  isJsonObject(value) ? closedSchema(value) : value;
