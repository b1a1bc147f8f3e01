import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import { current, isEqual } from './merge-schemas.ts';
import { definitions, References } from './schema-references.ts';

/**
 * Parameters of a function, which providers accept only as an object: a reference at the root is replaced by its
 * schema. Without `hasCombinations`, combinations at the root become one object with the properties of all members,
 * because Claude rejects them: https://github.com/anthropics/claude-code/issues/40075 (2026-03-28). The description then
 * shows them. Forms of older drafts are rewritten, because Claude checks schemas by 2020-12.
 */
export const objectSchema = (
  parameters: JsonObject,
  hasCombinations: boolean,
): { readonly schema: JsonObject; readonly dropped: ReadonlySet<string> } => {
  const references = new References(parameters);
  const dropped = new Set<string>();
  const { $schema: _, ...root } = modern(parameters);
  const schema = { ...resolved(root, references), type: 'object' };
  return { schema: hasCombinations ? schema : flattened(schema, references, dropped), dropped };
};

const resolved = (schema: JsonObject, references: References): JsonObject => {
  const { $ref: pointer, ...others } = schema;
  const target = typeof pointer === 'string' ? references.resolve(pointer) : undefined;
  return target && target.$ref === undefined ? { ...modern(target), ...others } : schema;
};

const flattened = (schema: JsonObject, references: References, dropped: Set<string>): JsonObject => {
  const { allOf, anyOf, oneOf, ...own } = schema;
  if ((allOf ?? anyOf ?? oneOf) === undefined) return schema;
  const membersOf = (listed: JsonValue | undefined): readonly JsonObject[] =>
    (Array.isArray(listed) ? listed : []).filter(isJsonObject).map((member) => resolved(member, references));
  const all = membersOf(allOf);
  const choices = Object.entries({ anyOf, oneOf }).filter(([, listed]) => listed !== undefined);
  for (const [keyword] of choices) dropped.add(keyword);
  const some = choices.map(([, listed]) => membersOf(listed));
  const required = new Set([
    ...[own, ...all].flatMap((member) => stringsOf(member.required)),
    ...some.flatMap((members) => shared(members.map((member) => stringsOf(member.required)))),
  ]);
  const notes = choices.map(([keyword, listed]) => `${keyword}: ${JSON.stringify(listed)}`);
  const texts = [...stringsOf([own.description ?? null]), ...(notes.length > 0 ? [`{${notes.join(', ')}}`] : [])];
  return {
    ...own,
    ...(texts.length > 0 && { description: texts.join('\n\n') }),
    properties: mergedProperties([own, ...all, ...some.flat()]),
    ...(required.size > 0 && { required: [...required] }),
  };
};

const shared = ([first = [], ...others]: readonly (readonly string[])[]): readonly string[] =>
  first.filter((name) => others.every((names) => names.includes(name)));

/** Properties of all members. One that members describe differently can be any of them. */
const mergedProperties = (members: readonly JsonObject[]): JsonObject => {
  const merged = new Map<string, JsonValue>();
  for (const { properties } of members) {
    for (const [name, value] of Object.entries(isJsonObject(properties) ? properties : {})) {
      const own = merged.get(name);
      if (value === undefined || (own !== undefined && isEqual(own, value))) continue;
      merged.set(name, own === undefined ? value : { anyOf: [...variantsOf(own), value] });
    }
  }
  return Object.fromEntries(merged);
};

const variantsOf = (schema: JsonValue): readonly JsonValue[] =>
  isJsonObject(schema) && Object.keys(schema).length === 1 && Array.isArray(schema.anyOf) ? schema.anyOf : [schema];

const stringsOf = (value: JsonValue | undefined): readonly string[] =>
  Array.isArray(value) ? value.filter((name) => typeof name === 'string') : [];

/** Keywords whose values are data, not schemas. */
const data: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples', 'example', 'required']);

/** Returns the same object if no form of an older draft is in it. */
const modern = (schema: JsonObject): JsonObject =>
  mapped(current(schema), (value, keyword) => (data.has(keyword) ? value : modernValue(value, keyword)));

const modernValue = (value: JsonValue, keyword: string): JsonValue => {
  if (Array.isArray(value)) {
    const items = value.map((item: JsonValue) => (isJsonObject(item) ? modern(item) : item));
    return items.every((item, at) => item === value[at]) ? value : items;
  }
  if (!isJsonObject(value)) return value;
  return namesSchemas(keyword)
    ? mapped(value, (inner) => (isJsonObject(inner) ? modern(inner) : inner))
    : modern(value);
};

const namesSchemas = (keyword: string): boolean =>
  definitions.has(keyword) || ['properties', 'patternProperties', 'dependentSchemas'].includes(keyword);

const mapped = (object: JsonObject, change: (value: JsonValue, name: string) => JsonValue): JsonObject => {
  const before = Object.entries(object);
  const after = before.map(([name, value]): [string, JsonValue | undefined] => [
    name,
    value === undefined ? undefined : change(value, name),
  ]);
  return after.every(([, value], at) => value === before[at]?.[1]) ? object : Object.fromEntries(after);
};
