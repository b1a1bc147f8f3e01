import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import { current } from './merge-schemas.ts';
import { definitions, References } from './schema-references.ts';
import { SchemaWork } from './schema-work.ts';

/**
 * Parameters of a function, which providers accept only as an object: a reference at the root is replaced by its
 * schema. Without `hasCombinations`, combinations at the root become one object with the properties of all members,
 * because Claude rejects them: https://github.com/anthropics/claude-code/issues/40075 (2026-03-28). The description then
 * shows them. Forms of older drafts are rewritten, because Claude checks schemas by 2020-12. Throws a 400 for too much
 * work.
 */
export const objectSchema = (
  parameters: JsonObject,
  hasCombinations: boolean,
  work = new SchemaWork(),
): { readonly schema: JsonObject; readonly dropped: ReadonlySet<string> } => {
  work.spendOnAll(parameters);
  const dropped = new Set<string>();
  const { $schema: _, ...root } = modern(parameters);
  const references = new References(root, work);
  const { $ref: pointer, ...others } = root;
  const target = targetOf(root, references);
  const schema = { ...(target ? { ...target, ...others } : root), type: 'object' };
  return { schema: hasCombinations ? schema : flattened(schema, references, work, dropped), dropped };
};

const targetOf = ({ $ref: pointer }: JsonObject, references: References): JsonObject | undefined => {
  const target = typeof pointer === 'string' ? references.resolve(pointer) : undefined;
  return target && target.$ref === undefined ? target : undefined;
};

/** Takes only the keywords that are merged, because many members can refer to one schema. */
const memberOf = (schema: JsonObject, references: References): JsonObject => {
  const target = targetOf(schema, references);
  const { properties = target?.properties, required = target?.required } = schema;
  return { properties, required };
};

const flattened = (schema: JsonObject, references: References, work: SchemaWork, dropped: Set<string>): JsonObject => {
  const { allOf, anyOf, oneOf, ...own } = schema;
  if ((allOf ?? anyOf ?? oneOf) === undefined) return schema;
  const membersOf = (listed: JsonValue | undefined): readonly JsonObject[] =>
    (Array.isArray(listed) ? listed : []).filter(isJsonObject).map((member) => memberOf(member, references));
  const all = membersOf(allOf);
  const choices = Object.entries({ anyOf, oneOf }).filter(([, listed]) => listed !== undefined);
  for (const [keyword] of choices) dropped.add(keyword);
  const some = choices.map(([, listed]) => membersOf(listed));
  const required = new Set([
    ...requiredIn([own, ...all]).flat(),
    ...some.flatMap((members) => shared(requiredIn(members))),
  ]);
  const notes = choices
    .map(([keyword, listed]) => `${keyword}: ${work.textOf(listed)}`)
    .filter((note) => work.canNote(note.length));
  const texts = [...stringsOf([own.description ?? null]), ...(notes.length > 0 ? [`{${notes.join(', ')}}`] : [])];
  return {
    ...own,
    ...(texts.length > 0 && { description: texts.join('\n\n') }),
    properties: mergedProperties([own, ...all, ...some.flat()], work),
    ...(required.size > 0 && { required: [...required] }),
  };
};

/** The different lists of required properties. */
const requiredIn = (members: readonly JsonObject[]): readonly (readonly string[])[] =>
  [...new Set(members.map(({ required }) => required))].map(stringsOf);

const shared = ([first = [], ...others]: readonly (readonly string[])[]): readonly string[] =>
  others.reduce(
    (names, other) => {
      const found = new Set(other);
      return names.filter((name) => found.has(name));
    },
    [...new Set(first)],
  );

/** Properties of all members. One that members describe differently can be any of them. */
const mergedProperties = (members: readonly JsonObject[], work: SchemaWork): JsonObject => {
  const found = new Map<string, Map<string, JsonValue>>();
  // Many references can lead to one schema.
  for (const properties of new Set(members.map((member) => member.properties))) {
    for (const [name, value] of Object.entries(isJsonObject(properties) ? properties : {})) {
      const variants = found.get(name) ?? new Map<string, JsonValue>();
      found.set(name, variants.set(work.textOf(value), value ?? {}));
    }
  }
  return Object.fromEntries(
    [...found].map(([name, variants]) => {
      const [first, ...others] = variants.values();
      return [name, others.length > 0 ? { anyOf: [...variants.values()] } : first];
    }),
  );
};

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
