import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import { SchemaWork } from './schema-work.ts';

/** Keywords whose members are named schemas: https://json-schema.org/draft/2020-12/json-schema-core */
const named: ReadonlySet<string> = new Set(['properties', 'patternProperties', 'dependentSchemas']);
/** Keywords that contain definitions, which count only where a `$ref` names them. */
export const definitions: ReadonlySet<string> = new Set(['$defs', 'definitions']);
/** Keywords with one schema or a list of schemas. */
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
const inside: ReadonlySet<string> = new Set([...named, ...nested, ...definitions]);

/** Schemas directly inside a schema, without its definitions. */
export const innerSchemas = (schema: JsonObject): readonly JsonObject[] =>
  Object.entries(schema).flatMap(([keyword, value]) => {
    if (named.has(keyword) && isJsonObject(value)) return Object.values(value).filter(isJsonObject);
    if (!nested.has(keyword)) return [];
    return (Array.isArray(value) ? value : [value]).filter(isJsonObject);
  });

/** Loops beyond are not found, and the provider rejects them. */
const POINTERS_MAX = 2_000;

/** Pointer of the root, https://www.rfc-editor.org/rfc/rfc6901. */
export const ROOT = '#';

/** References of a schema within itself: `#`, `#/$defs/Node`, `#/properties/a`. */
export class References {
  readonly #root: JsonObject;
  readonly #work: SchemaWork;
  readonly #resolved = new Map<string, JsonObject | undefined>();
  #found: ReadonlyMap<string, Loop> | undefined;

  constructor(root: JsonObject, work = new SchemaWork()) {
    this.#root = root;
    this.#work = work;
  }

  /** Returns the schema that a pointer names. Undefined for another document, and for a pointer that leads nowhere. */
  resolve(pointer: string): JsonObject | undefined {
    if (this.#resolved.has(pointer)) return this.#resolved.get(pointer);
    const found = this.#follow(pointer);
    this.#resolved.set(pointer, found);
    return found;
  }

  #follow(pointer: string): JsonObject | undefined {
    const [start, ...names] = pointer.split('/');
    if (start !== ROOT) return undefined;
    let found: JsonValue | undefined = this.#root;
    for (const name of names) found = memberOf(found, unescaped(name));
    return isJsonObject(found) ? found : undefined;
  }

  /** Whether both pointers are part of one loop, so that each schema contains the other. */
  areLooped(one: string, other: string): boolean {
    const loop = this.#loops.get(one)?.number;
    return loop !== undefined && loop === this.#loops.get(other)?.number;
  }

  /** Whether a reference from one pointer of a loop to another leads back. Every way around a loop has such a step. */
  leadsBack(from: string, to: string): boolean {
    return this.areLooped(from, to) && (this.#loops.get(to)?.order ?? 0) <= (this.#loops.get(from)?.order ?? 0);
  }

  /** Number of the loop that each pointer is part of. Pointers outside loops have none. */
  get #loops(): ReadonlyMap<string, Loop> {
    this.#found ??= findLoops(this.#graph());
    return this.#found;
  }

  /** Pointers that each pointer refers to, starting at the root. */
  #graph(): ReadonlyMap<string, ReadonlySet<string>> {
    const graph = new Map<string, ReadonlySet<string>>();
    const waiting = [ROOT];
    for (let pointer = waiting.pop(); pointer !== undefined; pointer = waiting.pop()) {
      if (graph.has(pointer) || graph.size >= POINTERS_MAX) continue;
      const schema = this.resolve(pointer);
      const found = new Set<string>();
      if (schema) this.#collect(schema, found);
      graph.set(pointer, found);
      for (const next of found) waiting.push(next);
    }
    return graph;
  }

  #collect(schema: JsonObject, found: Set<string>): void {
    this.#work.spendOn(schema, inside);
    if (typeof schema.$ref === 'string') found.add(schema.$ref);
    for (const inner of innerSchemas(schema)) this.#collect(inner, found);
  }
}

const memberOf = (value: JsonValue | undefined, name: string): JsonValue | undefined => {
  if (Array.isArray(value)) return /^\d+$/.test(name) ? value[Number(name)] : undefined;
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
};

const unescaped = (name: string): string => {
  const plain = name.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
};

/** Loop that a pointer is part of, and the place of the pointer in a walk through the graph. */
interface Loop {
  readonly number: number;
  readonly order: number;
}

/**
 * Numbers the loops of a graph: its strongly connected components, by Tarjan's algorithm. A node alone is a loop only if
 * it refers to itself.
 */
const findLoops = (graph: ReadonlyMap<string, ReadonlySet<string>>): ReadonlyMap<string, Loop> => {
  const loops = new Map<string, Loop>();
  const order = new Map<string, number>();
  const open = new Set<string>();
  const path: string[] = [];
  const nextOf = (node: string): ReadonlySet<string> => graph.get(node) ?? new Set();
  const visit = (node: string): number => {
    const own = order.size;
    order.set(node, own);
    open.add(node);
    path.push(node);
    const lows = [...nextOf(node)].map((next) => {
      if (!order.has(next)) return visit(next);
      return open.has(next) ? (order.get(next) ?? own) : own;
    });
    const low = lows.reduce((least, value) => Math.min(least, value), own);
    if (low === own) close(node, own);
    return low;
  };
  /** Ends the loop that starts at the node: it and all nodes that were opened after it. */
  const close = (start: string, number: number): void => {
    const members: string[] = [];
    for (let member = path.pop(); member !== undefined; member = member === start ? undefined : path.pop())
      members.push(member);
    for (const member of members) open.delete(member);
    if (members.length === 1 && !nextOf(start).has(start)) return;
    for (const member of members) loops.set(member, { number, order: order.get(member) ?? 0 });
  };
  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return loops;
};
