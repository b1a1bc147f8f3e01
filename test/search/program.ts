import { setImmediate as nextTurn } from 'node:timers/promises';
import { Interned } from './canonical.ts';
import type { Op, Reply } from './operations.ts';
import { type Body, type Event, type Pending, Run, type Told } from './run-actor.ts';

/** An actor that stands still: all its calls that wait for an answer, after a certain history of answers. */
export interface Node {
  readonly id: number;
  readonly program: Program;
  readonly parent: Node | undefined;
  readonly event: Event | undefined;
  readonly pending: readonly Pending[];
  /** 0 while nothing has been told. */
  readonly told: number;
  readonly ended: boolean;
  /** Since its last answer the actor has asked for the time. */
  readonly readClock: boolean;
  /** The actor has made a difference between the kinds of errors. */
  readonly readKind: boolean;
  /** Index into the times: it has been asleep until then. */
  readonly notBefore: number;
  /** By answer: node ids. */
  readonly next: Map<number, number>;
}

/** Everything that has been found out about actors, for one configuration. */
export class Graph {
  readonly nodes: Node[] = [];
  readonly ops = new Interned<Op>();
  readonly replies = new Interned<Reply>();
  readonly told = new Interned<Told | null>();
  readonly timesMs: readonly number[];
  /** Whether timers that are longer than a pause between tries are ever heard of. */
  readonly timers: boolean;
  readonly #ends = new Map<string, number>();

  constructor(timesMs: readonly number[], timers: boolean) {
    this.timesMs = timesMs;
    this.timers = timers;
    this.told.numberOf(null);
  }

  node(id: number): Node {
    const node = this.nodes[id];
    if (!node) throw new Error(`there is no node ${id}`);
    return node;
  }

  add(node: Omit<Node, 'id' | 'next'>): number {
    this.nodes.push({ ...node, id: this.nodes.length, next: new Map() });
    return this.nodes.length - 1;
  }

  /** All ways to the same end are one node: nothing of them can matter any more. */
  end(program: Program, told: number): number {
    const key = `${program.name} ${told}`;
    const known = this.#ends.get(key);
    if (known !== undefined) return known;
    const id = this.add({
      program,
      parent: undefined,
      event: undefined,
      pending: [],
      told,
      ended: true,
      readClock: false,
      readKind: false,
      notBefore: 0,
    });
    this.#ends.set(key, id);
    return id;
  }
}

/** Stands for any time in the key of an answer: the actor did not ask. */
const ANY_TIME = 15;
const CALLS = 8;

const keyOf = (index: number, reply: number, time: number): number => (reply * CALLS + index) * 16 + time;

/** One kind of actor, as a tree of what it does after which answers. It is run anew from its beginning for every new answer. */
export class Program {
  readonly name: string;
  readonly graph: Graph;
  readonly #body: Body;
  #root: number | undefined;

  constructor(graph: Graph, name: string, body: Body) {
    this.graph = graph;
    this.name = name;
    this.#body = body;
  }

  async root(): Promise<number> {
    this.#root ??= this.#add(undefined, undefined, await this.#run([]));
    return this.#root;
  }

  /** The node after an answer to the call of this index, or -1 when nobody has tried. */
  after(node: Node, index: number, reply: number, time: number): number {
    return node.next.get(keyOf(index, reply, ANY_TIME)) ?? node.next.get(keyOf(index, reply, time)) ?? -1;
  }

  async extend(node: Node, index: number, reply: number, time: number): Promise<void> {
    if (this.after(node, index, reply, time) !== -1) return;
    const pending = node.pending[index];
    if (!pending || index >= CALLS || time >= ANY_TIME) throw new Error('no such call');
    const event = { call: pending.call, reply, time };
    const log = [event];
    for (let at = node; at.event && at.parent; at = at.parent) log.unshift(at.event);
    const run = await this.#run(log);
    node.next.set(keyOf(index, reply, run.readClock ? time : ANY_TIME), this.#add(node, event, run));
  }

  #add(parent: Node | undefined, event: Event | undefined, run: Run): number {
    if (run.bug) throw run.bug;
    const told = this.graph.told.numberOf(run.told ?? null);
    if (run.ended && run.pending.length === 0) return this.graph.end(this, told);
    const { pending, ended, readClock, readKind } = run;
    const notBefore = readClock ? (event?.time ?? 0) : (parent?.notBefore ?? 0);
    return this.graph.add({ program: this, parent, event, pending, told, ended, readClock, readKind, notBefore });
  }

  async #run(log: readonly Event[]): Promise<Run> {
    const run = new Run(this.graph);
    run.begin(this.#body);
    await nextTurn();
    for (const event of log) {
      run.answer(event);
      await nextTurn();
    }
    return run;
  }
}
