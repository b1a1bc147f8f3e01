import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import { annotations } from './schema-dialects.ts';
import type { References } from './schema-references.ts';
import { SchemaWork } from './schema-work.ts';

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

/** Schemas that lead to each other by `allOf` and references. */
const DEPTH_MAX = 100;
const named: ReadonlySet<string> = new Set(['properties', 'allOf']);

/** Merges the members of `allOf` into one schema, because no provider supports it with references. */
export class AllOf {
  readonly #references: References;
  readonly #work: SchemaWork;
  readonly #lengths = new Map<string, number>();

  constructor(references: References, work = new SchemaWork()) {
    this.#references = references;
    this.#work = work;
  }

  /** Schema without `allOf`, except for members that contradict the others. */
  merged(schema: JsonObject, depth = 0): JsonObject {
    const { allOf, ...own } = schema;
    if (!Array.isArray(allOf)) return schema;
    this.#work.spend(allOf.length);
    const members = allOf.filter(isJsonObject);
    const [first] = members;
    // Pydantic adds a description to a reference in this form.
    if (members.length === 1 && first && typeof first.$ref === 'string' && isDescription(own))
      return { ...first, ...own };
    const conjunction = new Conjunction(this.#work);
    conjunction.add(own);
    const left = members.filter((member) => {
      const resolved = this.#resolved(member, depth + 1);
      return !resolved || !conjunction.add(this.merged(current(resolved), depth + 1));
    });
    const merged = conjunction.schema;
    return left.length > 0 ? { ...merged, allOf: left } : merged;
  }

  /** Undefined for a reference that leads nowhere, to a schema that contains itself, or beyond the limits. */
  #resolved(member: JsonObject, depth: number): JsonObject | undefined {
    const { $ref: pointer, ...others } = member;
    if (depth > DEPTH_MAX) return undefined;
    if (typeof pointer !== 'string') return member;
    const target = this.#references.resolve(pointer);
    if (!target || this.#references.areLooped(pointer, pointer)) return undefined;
    if (!this.#work.canInline(this.#lengthOf(pointer, target))) return undefined;
    const resolved = this.#resolved(target, depth + 1);
    return resolved && { ...resolved, ...others };
  }

  #lengthOf(pointer: string, target: JsonObject): number {
    const length = this.#lengths.get(pointer) ?? this.#work.textOf(target).length;
    this.#lengths.set(pointer, length);
    return length;
  }
}

const isDescription = (schema: JsonObject): boolean => Object.keys(schema).every((keyword) => annotations.has(keyword));

/** Schema that several schemas describe together. Each takes time proportional to its own size. */
class Conjunction {
  readonly #work: SchemaWork;
  readonly #keywords = new Map<string, JsonValue>();
  /** Texts of keywords that were compared. */
  readonly #texts = new Map<string, string>();
  readonly #required = new Set<JsonValue>();
  readonly #properties = new Map<string, Variants>();

  constructor(work: SchemaWork) {
    this.#work = work;
  }

  /** Returns false, without a change, for a schema that contradicts the others. */
  add(schema: JsonObject): boolean {
    this.#work.spendOn(schema, named);
    const entries = Object.entries(schema).filter(isDefined);
    if (entries.some(([keyword, value]) => this.#contradicts(keyword, value))) return false;
    for (const [keyword, value] of entries) this.#add(keyword, value);
    return true;
  }

  get schema(): JsonObject {
    const { properties, required, ...others } = Object.fromEntries(this.#keywords);
    return {
      ...others,
      ...(properties !== undefined && {
        properties: isJsonObject(properties)
          ? Object.fromEntries([...this.#properties].map(([name, variants]) => [name, variants.schema]))
          : properties,
      }),
      ...(required !== undefined && { required: Array.isArray(required) ? [...this.#required] : required }),
    };
  }

  #contradicts(keyword: string, value: JsonValue): boolean {
    const own = this.#keywords.get(keyword);
    if (own === undefined || own === value || annotations.has(keyword)) return false;
    if (keyword === 'properties' || keyword === 'additionalProperties') return false;
    if (keyword === 'required' && Array.isArray(own) && Array.isArray(value)) return false;
    const text = this.#texts.get(keyword) ?? this.#work.textOf(own);
    this.#texts.set(keyword, text);
    return text !== JSON.stringify(value);
  }

  #add(keyword: string, value: JsonValue): void {
    const own = this.#keywords.get(keyword);
    if (own === undefined || (keyword === 'additionalProperties' && own === true)) this.#keywords.set(keyword, value);
    if (keyword === 'required' && Array.isArray(value)) for (const name of value) this.#required.add(name);
    if (keyword !== 'properties' || !isJsonObject(value)) return;
    for (const [name, property] of Object.entries(value).filter(isDefined)) {
      const variants = this.#properties.get(name);
      if (variants) variants.add(property);
      else this.#properties.set(name, new Variants(property, this.#work));
    }
  }
}

/** Different schemas of one property. */
class Variants {
  readonly #first: JsonValue;
  readonly #work: SchemaWork;
  #byText: Map<string, JsonValue> | undefined;

  constructor(first: JsonValue, work: SchemaWork) {
    this.#first = first;
    this.#work = work;
  }

  add(value: JsonValue): void {
    if (value === this.#first) return;
    this.#byText ??= new Map([[this.#work.textOf(this.#first), this.#first]]);
    this.#byText.set(this.#work.textOf(value), value);
  }

  get schema(): JsonValue {
    return this.#byText && this.#byText.size > 1 ? { allOf: [...this.#byText.values()] } : this.#first;
  }
}

const isDefined = (entry: [string, JsonValue | undefined]): entry is [string, JsonValue] => entry[1] !== undefined;

export const isEqual = (one: JsonValue, other: JsonValue | undefined): boolean =>
  one === other || JSON.stringify(one) === JSON.stringify(other);
