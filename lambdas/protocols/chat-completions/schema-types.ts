import type { JsonObject, JsonValue } from '../../core/json.ts';

const typeNames = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'] as const;
export type TypeName = (typeof typeNames)[number];

const isTypeName = (value: JsonValue | undefined): value is TypeName => typeNames.some((name) => name === value);

/** Keywords that show the type of a schema without one, in this order. */
const typical: readonly (readonly [TypeName, readonly string[]])[] = [
  ['object', ['properties', 'required', 'additionalProperties', 'patternProperties', 'propertyNames']],
  ['array', ['items', 'prefixItems', 'minItems', 'maxItems', 'uniqueItems', 'contains']],
  ['string', ['minLength', 'maxLength', 'pattern', 'format']],
  ['number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
];

/** Types that a schema allows. Empty if it allows all of them. */
export const typesOf = (schema: JsonObject): readonly TypeName[] => {
  const declared = [schema.type].flat().filter(isTypeName);
  if (declared.length > 0) return [...new Set(declared)];
  const literals = Array.isArray(schema.enum) ? schema.enum : [schema.const];
  const kinds = literals.filter((value) => value !== undefined).map(kindOf);
  if (kinds.length > 0) return [...new Set(kinds)];
  const shown = typical.find(([, keywords]) => keywords.some((keyword) => schema[keyword] !== undefined));
  return shown ? [shown[0]] : [];
};

export const kindOf = (value: JsonValue): TypeName => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  const kind = typeof value;
  return isTypeName(kind) ? kind : 'object';
};
