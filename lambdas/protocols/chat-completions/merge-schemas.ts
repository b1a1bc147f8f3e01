import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import { annotations } from './schema-dialects.ts';
import type { References } from './schema-references.ts';

/** Rewrites forms of older drafts in those of 2020-12: a list of `items`, and bounds that are booleans. */
export const current = (schema: JsonObject): JsonObject => {
  let changed = schema;
  if (Array.isArray(schema.items)) {
    const { items, additionalItems, ...others } = schema;
    changed = { ...others, prefixItems: items, ...(additionalItems !== undefined && { items: additionalItems }) };
  }
  changed = withNumber(changed, 'exclusiveMinimum', 'minimum');
  return withNumber(changed, 'exclusiveMaximum', 'maximum');
};

const withNumber = (schema: JsonObject, exclusive: string, inclusive: string): JsonObject => {
  if (typeof schema[exclusive] !== 'boolean') return schema;
  const { [exclusive]: isExclusive, [inclusive]: bound, ...others } = schema;
  return bound === undefined ? others : { ...others, [isExclusive ? exclusive : inclusive]: bound };
};

/** Limit for definitions that are merged into other schemas, which would let a small body become a large one. */
const INLINED_CHARACTERS_MAX = 1_000_000;

/** Merges the members of `allOf` into one schema, because no provider supports it with references. */
export class AllOf {
  readonly #references: References;
  readonly #lengths = new Map<string, number>();
  #charactersLeft = INLINED_CHARACTERS_MAX;

  constructor(references: References) {
    this.#references = references;
  }

  /** Schema without `allOf`, except for members that contradict the others. */
  merged(schema: JsonObject): JsonObject {
    const { allOf, ...own } = schema;
    if (!Array.isArray(allOf)) return schema;
    const members = allOf.filter(isJsonObject);
    const [first] = members;
    // Pydantic adds a description to a reference in this form.
    if (members.length === 1 && first && typeof first.$ref === 'string' && isDescription(own))
      return { ...first, ...own };
    let merged = own;
    const left: JsonObject[] = [];
    for (const member of members) {
      const resolved = this.#resolved(member);
      const both = resolved && mergeSchemas(merged, this.merged(current(resolved)));
      if (both) merged = both;
      else left.push(member);
    }
    return left.length > 0 ? { ...merged, allOf: left } : merged;
  }

  /** Undefined for a reference that leads nowhere, to a schema that contains itself, or beyond the limit. */
  #resolved(member: JsonObject): JsonObject | undefined {
    const { $ref: pointer, ...others } = member;
    if (typeof pointer !== 'string') return member;
    const target = this.#references.resolve(pointer);
    if (!target || this.#references.areLooped(pointer, pointer)) return undefined;
    this.#charactersLeft -= this.#lengthOf(pointer, target);
    const resolved = this.#charactersLeft < 0 ? undefined : this.#resolved(target);
    return resolved && { ...resolved, ...others };
  }

  #lengthOf(pointer: string, target: JsonObject): number {
    const length = this.#lengths.get(pointer) ?? JSON.stringify(target).length;
    this.#lengths.set(pointer, length);
    return length;
  }
}

const isDescription = (schema: JsonObject): boolean => Object.keys(schema).every((keyword) => annotations.has(keyword));

/** Schema that both schemas describe. Undefined if they contradict each other. */
const mergeSchemas = (one: JsonObject, other: JsonObject): JsonObject | undefined => {
  const added: [string, JsonValue | undefined][] = [];
  for (const [keyword, value] of Object.entries(other)) {
    const own = Object.hasOwn(one, keyword) ? one[keyword] : undefined;
    const both = own === undefined ? value : mergeValues(keyword, own, value);
    if (both === undefined) return undefined;
    added.push([keyword, both]);
  }
  return { ...one, ...Object.fromEntries(added) };
};

const mergeValues = (keyword: string, own: JsonValue, value: JsonValue | undefined): JsonValue | undefined => {
  if (keyword === 'properties') return mergeProperties(own, value);
  if (keyword === 'required' && Array.isArray(own) && Array.isArray(value)) return [...new Set([...own, ...value])];
  if (keyword === 'additionalProperties') return own === true ? value : own;
  return annotations.has(keyword) || isEqual(own, value) ? own : undefined;
};

const mergeProperties = (one: JsonValue, other: JsonValue | undefined): JsonValue => {
  if (!isJsonObject(one) || !isJsonObject(other)) return one;
  const added = Object.entries(other).map(([name, value]): [string, JsonValue | undefined] => {
    const own = Object.hasOwn(one, name) ? one[name] : undefined;
    return [name, own === undefined || value === undefined || isEqual(own, value) ? value : { allOf: [own, value] }];
  });
  return Object.fromEntries([...Object.entries(one), ...added]);
};

export const isEqual = (one: JsonValue, other: JsonValue | undefined): boolean =>
  one === other || JSON.stringify(one) === JSON.stringify(other);
