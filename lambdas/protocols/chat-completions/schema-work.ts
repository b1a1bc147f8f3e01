import { invalidRequest } from '../../core/errors/gateway-error.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts';

/** Nodes of all schemas of a request that are read or copied, at most about a second of work. Text counts as nodes too. */
const NODES_MAX = 600_000;
/** Nodes that a visit of a schema costs in addition to its keywords. */
const VISIT_NODES = 8;
const CHARACTERS_PER_NODE = 8;
/** Definitions that are merged into other schemas. A small body could become a large one. */
const INLINED_CHARACTERS_MAX = 1_000_000;
/** Keywords that are written into descriptions. Schemas inside each other could repeat them. */
const NOTED_CHARACTERS_MAX = 100_000;
/** Schemas inside each other, written out. A body has at most 64 levels, and each has up to four forms. */
const DEPTH_MAX = 300;

/**
 * Limits the work for the schemas of one request (CHAT-8). References can name one schema many times, so the work for a
 * body that is within its own limits would block the process.
 */
export class SchemaWork {
  readonly #weights = new WeakMap<object, number>();
  #param: string;
  #nodesLeft = NODES_MAX;
  #inlinedLeft = INLINED_CHARACTERS_MAX;
  #notedLeft = NOTED_CHARACTERS_MAX;

  /** `param` is the field of the schema, as in the request. */
  constructor(param = 'schema') {
    this.#param = param;
  }

  /** The same limits for the schema in another field. */
  at(param: string): this {
    this.#param = param;
    return this;
  }

  /** Throws a 400 for too much work. */
  spend(nodes: number): void {
    this.#nodesLeft -= nodes;
    if (this.#nodesLeft < 0) throw this.#tooLarge();
  }

  /** Counts a schema without those inside it, which `inner` names by their keywords. */
  spendOn(schema: JsonObject, inner: ReadonlySet<string>): void {
    let nodes = VISIT_NODES;
    for (const [keyword, value] of Object.entries(schema)) {
      nodes += 1 + (inner.has(keyword) ? lengthOf(value) : this.#weightOf(value));
    }
    this.spend(nodes);
  }

  /** Counts a whole value. */
  spendOnAll(value: JsonValue | undefined): void {
    this.spend(this.#weightOf(value));
  }

  /** Text of a value, which counts as work. */
  textOf(value: JsonValue | undefined): string {
    this.spendOnAll(value);
    return JSON.stringify(value) ?? '';
  }

  checkDepth(depth: number): void {
    if (depth > DEPTH_MAX) throw this.#tooLarge();
  }

  /** Whether a definition can be merged into one more schema. */
  canInline(characters: number): boolean {
    this.#inlinedLeft -= characters;
    return this.#inlinedLeft >= 0;
  }

  /** Whether a text can be added to a description. */
  canNote(characters: number): boolean {
    if (characters > this.#notedLeft) return false;
    this.#notedLeft -= characters;
    return true;
  }

  /** Nodes of a value. Each object is counted once, so that a repeated schema takes no time to count. */
  #weightOf(value: JsonValue | undefined): number {
    if (typeof value === 'string') return 1 + Math.floor(value.length / CHARACTERS_PER_NODE);
    if (typeof value !== 'object' || value === null) return 1;
    const known = this.#weights.get(value);
    if (known !== undefined) return known;
    let weight = 1;
    if (isJsonObject(value)) {
      for (const [name, member] of Object.entries(value)) weight += this.#weightOf(name) + this.#weightOf(member);
    } else for (const item of value) weight += this.#weightOf(item);
    this.#weights.set(value, weight);
    return weight;
  }

  #tooLarge(): Error {
    const problem = 'too large to rewrite for this model, or has too many references.';
    return invalidRequest(this.#param, `${this.#param}: ${problem} Send a smaller schema.`);
  }
}

const lengthOf = (value: JsonValue | undefined): number => {
  if (Array.isArray(value)) return value.length;
  return isJsonObject(value) ? Object.keys(value).length : 1;
};
