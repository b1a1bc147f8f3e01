import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import { AllOf, current, isEqual } from './merge-schemas.ts';
import { annotations, type Dialect, isSimplePattern, silent } from './schema-dialects.ts';
import { References, ROOT } from './schema-references.ts';
import { kindOf, type TypeName, typesOf } from './schema-types.ts';
import { SchemaWork } from './schema-work.ts';

interface Adapted {
  readonly schema: JsonObject;
  /** Keywords that the provider does not enforce, each once. */
  readonly dropped: ReadonlySet<string>;
}

/**
 * Rewrites a schema for a provider. Keywords that the provider does not enforce move into the description, which the
 * model reads, as in the providers' own SDKs. Apart from them, every value that the result allows satisfies the original
 * schema, unless the original requires a property of itself. Throws a 400 for too much work.
 */
export const adaptSchema = (schema: JsonObject, dialect: Dialect, work = new SchemaWork()): Adapted => {
  const adapter = new SchemaAdapter(schema, dialect, work);
  return { schema: adapter.adapt(), dropped: adapter.dropped };
};

/** Levels of a schema that contains itself, for a provider without loops. */
const LEVELS_MAX = 3;

/** Definition that is being adapted. */
interface Place {
  readonly pointer: string;
  /** Number of times that a way around the loop has led here, with the first one. */
  readonly level: number;
}

interface Definition extends Place {
  readonly name: string;
}

/** Keywords of one schema that move into its description. */
type Notes = [keyword: string, value: JsonValue][];

const anything: JsonObject = { type: ['string', 'number', 'boolean', 'null'] };
const structural = ['properties', 'items', 'prefixItems', 'enum', 'const'] as const;
/** Keywords that pass only where their schemas are rewritten. */
const nesting: ReadonlySet<string> = new Set([
  ...structural,
  '$ref',
  'type',
  'anyOf',
  'required',
  'additionalProperties',
]);
/** Keywords whose schemas are counted where they are rewritten, and definitions, which count where one is used. */
const countedElsewhere: ReadonlySet<string> = new Set([
  'properties',
  'items',
  'prefixItems',
  'anyOf',
  'oneOf',
  'additionalProperties',
  '$defs',
  'definitions',
]);
const ofObjects: ReadonlySet<string> = new Set(['properties', 'required', 'additionalProperties', 'propertyOrdering']);
const ofArrays: ReadonlySet<string> = new Set(['items', 'prefixItems', 'minItems', 'maxItems']);

class SchemaAdapter {
  readonly dropped = new Set<string>();
  readonly #root: JsonObject;
  readonly #dialect: Dialect;
  readonly #references: References;
  readonly #allOf: AllOf;
  readonly #work: SchemaWork;
  readonly #names = new Map<string, string>();
  readonly #taken = new Set<string>();
  /** Next number to try for each first name. */
  readonly #numbers = new Map<string, number>();
  readonly #waiting: Definition[] = [];
  /** References so far that close a loop. */
  #loopsClosed = 0;
  /** Schemas around the one that is being adapted. */
  #depth = 0;
  /** Whether a description already contains the schema that is being adapted. */
  #isNoted = false;

  constructor(root: JsonObject, dialect: Dialect, work: SchemaWork) {
    this.#root = root;
    this.#dialect = dialect;
    this.#work = work;
    this.#references = new References(root, work);
    this.#allOf = new AllOf(this.#references, work);
  }

  adapt(): JsonObject {
    const { schema: root, pointer } = this.#withoutRootReference();
    const schema = this.#node(root, { pointer, level: 1 }) ?? anything;
    const definitions: [string, JsonObject][] = [];
    for (const next of this.#waiting) {
      definitions.push([next.name, this.#node(this.#references.resolve(next.pointer), next) ?? anything]);
    }
    return definitions.length > 0 ? { ...schema, $defs: Object.fromEntries(definitions) } : schema;
  }

  /** Pydantic and zod write the root of a schema that contains itself as a reference. Providers want an object there. */
  #withoutRootReference(): { readonly schema: JsonObject; readonly pointer: string } {
    const { $ref: pointer, ...others } = this.#root;
    const schema = typeof pointer === 'string' ? this.#references.resolve(pointer) : undefined;
    if (typeof pointer !== 'string' || !schema || typeof schema.$ref === 'string')
      return { schema: this.#root, pointer: ROOT };
    return { schema: { ...schema, ...others }, pointer };
  }

  /** Undefined for a schema that no value can satisfy. */
  #node(value: JsonValue | undefined, place: Place): JsonObject | undefined {
    if (value === false) return undefined;
    this.#depth += 1;
    this.#work.checkDepth(this.#depth);
    const adapted = this.#counted(value, place);
    this.#depth -= 1;
    return adapted;
  }

  #counted(value: JsonValue | undefined, place: Place): JsonObject | undefined {
    const { nullable, ...schema } = this.#allOf.merged(current(isJsonObject(value) ? value : {}));
    this.#work.spendOn(schema, countedElsewhere);
    // OpenAPI 3.0
    if (nullable === true) return this.#node({ anyOf: [schema, { type: 'null' }] }, place);
    const notes: Notes = [];
    const adapted = this.#adapted(schema, place, notes);
    return adapted && this.#withNotes(adapted, notes);
  }

  #withNotes(schema: JsonObject, notes: Notes): JsonObject {
    const texts = notes.flatMap(([keyword, value]) => {
      const text = `${keyword}: ${this.#work.textOf(value)}`;
      if (this.#work.canNote(text.length)) return [text];
      this.dropped.add(keyword);
      return [];
    });
    if (texts.length === 0) return schema;
    const text = `{${texts.join(', ')}}`;
    const { description } = schema;
    return { ...schema, description: typeof description === 'string' ? `${description}\n\n${text}` : text };
  }

  #adapted(schema: JsonObject, place: Place, notes: Notes): JsonObject | undefined {
    if (typeof schema.$ref === 'string') return this.#reference(schema.$ref, schema, place, notes);
    const isPlain = structural.every((keyword) => schema[keyword] === undefined);
    const keyword = Array.isArray(schema.anyOf) ? 'anyOf' : 'oneOf';
    const variants = schema[keyword];
    if (isPlain && Array.isArray(variants)) {
      const { type, ...others } = schema;
      const typed = variants.map((variant: JsonValue) => withType(variant, type));
      return this.#union(typed, without(others, [keyword]), place, notes);
    }
    const types = typesOf(schema);
    if (types.length > 1 && (types.includes('object') || types.includes('array'))) {
      const described = Object.keys(schema).filter((name) => annotations.has(name));
      const single = types.map((type) => (type === 'null' ? { type } : { ...without(schema, described), type }));
      return this.#union(single, pick(schema, described), place, notes);
    }
    return this.#typed(schema, types, place, notes);
  }

  #reference(pointer: string, schema: JsonObject, place: Place, notes: Notes): JsonObject | undefined {
    const around = this.#around(without(schema, ['$ref']), notes);
    if (!this.#references.resolve(pointer)) {
      this.#drop('$ref', pointer, notes);
      return { ...anything, ...around };
    }
    const isLoop = this.#references.areLooped(place.pointer, pointer);
    if (isLoop) this.#loopsClosed += 1;
    const level = this.#dialect.hasLoops || !isLoop ? 1 : this.#levelAfter(place, pointer);
    if (level > LEVELS_MAX) {
      this.dropped.add('$ref');
      return undefined;
    }
    const reference = { $ref: `#/$defs/${this.#nameOf(pointer, level)}` };
    // A reference can have no other keywords.
    return notes.length > 0 || Object.keys(around).length > 0 ? { ...around, anyOf: [reference] } : reference;
  }

  #levelAfter({ pointer, level }: Place, next: string): number {
    return this.#references.leadsBack(pointer, next) ? level + 1 : level;
  }

  #nameOf(pointer: string, level: number): string {
    const key = `${level}${pointer}`;
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    const last =
      pointer === ROOT ? 'root' : pointer.slice(pointer.lastIndexOf('/') + 1).replace(/[^a-zA-Z0-9_-]/g, '_');
    const first = level > 1 ? `${last}_${level}` : last;
    let name = first;
    for (let number = this.#numbers.get(first) ?? 1; this.#taken.has(name); number += 1) {
      name = `${first}_${number}`;
      this.#numbers.set(first, number + 1);
    }
    this.#taken.add(name);
    this.#names.set(key, name);
    this.#waiting.push({ name, pointer, level });
    return name;
  }

  #union(variants: readonly JsonValue[], around: JsonObject, place: Place, notes: Notes): JsonObject | undefined {
    const adapted = variants.map((variant) => this.#node(variant, place)).filter((variant) => variant !== undefined);
    const [first] = adapted;
    if (!first) return undefined;
    const others = this.#around(around, notes);
    return adapted.length === 1 && notes.length === 0 && Object.keys(others).length === 0
      ? first
      : { ...others, anyOf: adapted };
  }

  #typed(schema: JsonObject, types: readonly TypeName[], place: Place, notes: Notes): JsonObject | undefined {
    const literals = this.#literals(schema, types, place, notes);
    if (literals) return literals;
    const [type] = types;
    if (!type && this.#dialect.isClosed) return { ...anything, ...this.#rest(schema, notes) };
    const ignored = [...(type === 'object' ? [] : ofObjects), ...(type === 'array' ? [] : ofArrays), 'type'];
    const others = without(schema, ['enum', 'const', ...ignored]);
    const named = type && { type: types.length > 1 ? types : type };
    if (type === 'object') return { ...named, ...this.#object(others, place, notes) };
    if (type === 'array') return { ...named, ...this.#array(others, place, notes) };
    return { ...named, ...this.#rest(others, notes, types) };
  }

  /** Undefined if the schema lists no values, or values that the provider does not support. */
  #literals(schema: JsonObject, types: readonly TypeName[], place: Place, notes: Notes): JsonObject | undefined {
    const keyword = Array.isArray(schema.enum) ? 'enum' : 'const';
    const listed = schema[keyword];
    if (listed === undefined) return undefined;
    const { literals, passes } = this.#dialect;
    const values: readonly JsonValue[] = keyword === 'enum' && Array.isArray(listed) ? listed : [listed];
    const found = values.filter((value) => literals.has(kindOf(value)));
    const others = values.filter((value) => !literals.has(kindOf(value)));
    if (others.some((value) => value !== null)) {
      this.#drop(keyword, listed, notes);
      return undefined;
    }
    if (found.length === 0) return { type: 'null', ...this.#rest(without(schema, ['type', keyword]), notes) };
    if (others.length > 0) {
      const single = [{ enum: found }, { type: 'null' }];
      return this.#union(single, without(schema, ['type', keyword]), place, notes);
    }
    const kinds = new Set(found.map(kindOf));
    const declared = types.filter((type) => kinds.has(type === 'integer' ? 'number' : type));
    const type = declared.length === kinds.size ? declared : [...kinds];
    const around = this.#rest(without(schema, [...ofObjects, ...ofArrays, 'type', 'enum', 'const']), notes);
    const kept = passes.has(keyword) ? { [keyword]: listed } : { enum: values };
    return { type: type.length === 1 ? type[0] : type, ...around, ...kept };
  }

  #object(schema: JsonObject, place: Place, notes: Notes): JsonObject {
    const { properties, required, additionalProperties: more, ...others } = schema;
    const isRequired = new Set(Array.isArray(required) ? required : []);
    const adapted = Object.entries(isJsonObject(properties) ? properties : {}).flatMap(
      ([name, value]): [string, JsonObject][] => {
        const before = this.#loopsClosed;
        const property = this.#node(value, place);
        const isLoop = this.#dialect.hasLoops && this.#loopsClosed > before;
        // A loop ends only where a property can be absent.
        if (isLoop && isRequired.delete(name)) this.dropped.add('required');
        return property ? [[name, property]] : [];
      },
    );
    const names = adapted.map(([name]) => name).filter((name) => isRequired.has(name));
    const members = this.#otherMembers(more, place, notes);
    return {
      ...this.#rest(others, notes),
      ...((this.#dialect.isClosed || properties !== undefined) && { properties: Object.fromEntries(adapted) }),
      ...(names.length > 0 && { required: names }),
      ...(members !== undefined && { additionalProperties: members }),
    };
  }

  #otherMembers(more: JsonValue | undefined, place: Place, notes: Notes): JsonValue | undefined {
    const isSchema = isJsonObject(more);
    if (!this.#dialect.isClosed) return isSchema ? (this.#node(more, place) ?? false) : more;
    if (isSchema) this.#drop('additionalProperties', more, notes);
    return false;
  }

  #array(schema: JsonObject, place: Place, notes: Notes): JsonObject {
    const { items, prefixItems, ...others } = schema;
    if (!Array.isArray(prefixItems)) return { ...this.#items(items, place, notes), ...this.#rest(others, notes) };
    if (this.#dialect.passes.has('prefixItems')) {
      const first = prefixItems.map((item: JsonValue) => this.#node(item, place) ?? { type: 'null' });
      const rest = items === undefined || items === false ? {} : this.#items(items, place, notes);
      return { prefixItems: first, ...rest, ...this.#rest(others, notes) };
    }
    const any = isJsonObject(items) ? [...prefixItems, items] : prefixItems;
    if (this.#isNoted) {
      this.dropped.add('prefixItems');
      return { ...this.#items({ anyOf: any }, place, notes), ...this.#rest(others, notes) };
    }
    this.#drop('prefixItems', prefixItems, notes);
    this.#isNoted = true;
    const adapted = this.#items({ anyOf: any }, place, notes);
    this.#isNoted = false;
    return { ...adapted, ...this.#rest(others, notes) };
  }

  #items(items: JsonValue | undefined, place: Place, notes: Notes): JsonObject {
    if (items === undefined) return {};
    const adapted = this.#node(items, place);
    if (adapted) return { items: adapted };
    notes.push(['maxItems', 0]);
    return { items: { type: 'null' } };
  }

  /** Title and description of a union or reference, which can have no other keywords. */
  #around(schema: JsonObject, notes: Notes): JsonObject {
    const names = Object.keys(schema).filter((keyword) => keyword === 'title' || keyword === 'description');
    for (const [keyword, value = null] of Object.entries(without(schema, names))) {
      if (this.#saysNothing(keyword, value, schema)) continue;
      if (annotations.has(keyword)) notes.push([keyword, value]);
      else this.#drop(keyword, value, notes);
    }
    return pick(schema, names);
  }

  /** Members that pass, of keywords that contain no schemas. The others move to the notes. */
  #rest(schema: JsonObject, notes: Notes, types: readonly TypeName[] = []): JsonObject {
    const said = Object.entries(schema).filter(([keyword, value]) => !this.#saysNothing(keyword, value, schema));
    return Object.fromEntries(
      said.flatMap(([keyword, value = null]): [string, JsonValue][] => {
        const bound = types.includes('integer') && typeof value === 'number' ? wholeBound(keyword, value) : undefined;
        if (bound && this.#dialect.passes.has(bound[0])) return [bound];
        if (this.#doesPass(keyword, value)) return [[keyword, value]];
        if (annotations.has(keyword)) notes.push([keyword, value]);
        else this.#drop(keyword, value, notes);
        return [];
      }),
    );
  }

  /** Whether the schema means the same without the keyword. */
  #saysNothing(keyword: string, value: JsonValue | undefined, { format }: JsonObject): boolean {
    if (value === undefined || silent.has(keyword) || keyword.startsWith('x-')) return true;
    // Zod adds the pattern of a format, and names that are strings.
    if (keyword === 'pattern') return this.#isFormat(format);
    return keyword === 'propertyNames' && isEqual(value, { type: 'string' });
  }

  #isFormat(name: JsonValue | undefined): boolean {
    return typeof name === 'string' && (this.#dialect.formats?.has(name) ?? true);
  }

  #doesPass(keyword: string, value: JsonValue): boolean {
    const { passes, isClosed } = this.#dialect;
    switch (keyword) {
      case 'format':
        return this.#isFormat(value);
      case 'pattern':
        return isClosed && typeof value === 'string' && isSimplePattern(value);
      case 'minItems':
        return value === 0 || value === 1 || passes.has(keyword);
      default:
        return passes.has(keyword) && !nesting.has(keyword);
    }
  }

  #drop(keyword: string, value: JsonValue, notes: Notes): void {
    this.dropped.add(keyword);
    notes.push([keyword, value]);
  }
}

/** Inclusive bound of whole numbers. */
const wholeBound = (keyword: string, value: number): [string, number] | undefined => {
  if (keyword === 'exclusiveMinimum') return ['minimum', Math.floor(value) + 1];
  return keyword === 'exclusiveMaximum' ? ['maximum', Math.ceil(value) - 1] : undefined;
};

/** Gives the type of a union to its members, because a union can have none. */
const withType = (variant: JsonValue, type: JsonValue | undefined): JsonValue =>
  type !== undefined && isJsonObject(variant) && variant.$ref === undefined ? { type, ...variant } : variant;

const without = (schema: JsonObject, keywords: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(schema).filter(([keyword]) => !keywords.includes(keyword)));

const pick = (schema: JsonObject, keywords: readonly string[]): JsonObject =>
  Object.fromEntries(keywords.map((keyword) => [keyword, schema[keyword]]));
