import { setImmediate as nextTurn } from 'node:timers/promises';
import { Interned } from './canonical.ts';
import type { Op, Reply } from './operations.ts';
import { type Body, type ClientResult, type Event, type Pending, Run } from './run-actor.ts';

/** A waiting actor after a history of replies, with all its pending calls. */
export interface Node {
  readonly id: number;
  readonly program: Program;
  readonly parent: Node | undefined;
  readonly event: Event | undefined;
  readonly pending: readonly Pending[];
  /** 0 without a result for the client. */
  readonly returned: number;
  readonly ended: boolean;
  /** Whether the actor read the clock after its last reply. */
  readonly readClock: boolean;
  /** Whether the actor read the kind of an error. */
  readonly readKind: boolean;
  /** Index into the times. The actor slept until then. */
  readonly notBefore: number;
  /** Node ids by reply. */
  readonly next: Map<number, number>;
}

/** Everything known about the actors of one configuration. */
export class Graph {
  readonly nodes: Node[] = [];
  readonly ops = new Interned<Op>();
  readonly replies = new Interned<Reply>();
  readonly returned = new Interned<ClientResult | null>();
  readonly timesMs: readonly number[];
  /** Whether timers longer than a retry pause fire. */
  readonly timers: boolean;
  readonly #ends = new Map<string, number>();

  constructor(timesMs: readonly number[], timers: boolean) {
    this.timesMs = timesMs;
    this.timers = timers;
    this.returned.numberOf(null);
  }

  node(id: number): Node {
    const node = this.nodes[id];
    if (!node) throw new Error(`node ${id} does not exist`);
    return node;
  }

  add(node: Omit<Node, 'id' | 'next'>): number {
    this.nodes.push({ ...node, id: this.nodes.length, next: new Map() });
    return this.nodes.length - 1;
  }

  /** Merges all histories with the same end: no difference between them matters. */
  end(program: Program, returned: number): number {
    const key = `${program.name} ${returned}`;
    const known = this.#ends.get(key);
    if (known !== undefined) return known;
    const id = this.add({
      program,
      parent: undefined,
      event: undefined,
      pending: [],
      returned,
      ended: true,
      readClock: false,
      readKind: false,
      notBefore: 0,
    });
    this.#ends.set(key, id);
    return id;
  }
}

/** Time in the key of a reply if the actor does not read the clock. */
const ANY_TIME = 15;
const CALLS = 8;

const keyOf = (index: number, reply: number, time: number): number => (reply * CALLS + index) * 16 + time;

/** Tree of an actor's behavior by replies. Every new reply runs the actor again from its start. */
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

  /** Returns the node after a reply to a pending call, or -1 if it is unknown. */
  after(node: Node, index: number, reply: number, time: number): number {
    return node.next.get(keyOf(index, reply, ANY_TIME)) ?? node.next.get(keyOf(index, reply, time)) ?? -1;
  }

  async extend(node: Node, index: number, reply: number, time: number): Promise<void> {
    if (this.after(node, index, reply, time) !== -1) return;
    const pending = node.pending[index];
    if (!pending || index >= CALLS || time >= ANY_TIME) throw new Error('no such pending call');
    const event = { call: pending.call, reply, time };
    const log = [event];
    for (let at = node; at.event && at.parent; at = at.parent) log.unshift(at.event);
    const run = await this.#run(log);
    node.next.set(keyOf(index, reply, run.readClock ? time : ANY_TIME), this.#add(node, event, run));
  }

  #add(parent: Node | undefined, event: Event | undefined, run: Run): number {
    if (run.bug) throw run.bug;
    const returned = this.graph.returned.numberOf(run.returned ?? null);
    if (run.ended && run.pending.length === 0) return this.graph.end(this, returned);
    const { pending, ended, readClock, readKind } = run;
    const notBefore = readClock ? (event?.time ?? 0) : (parent?.notBefore ?? 0);
    return this.graph.add({ program: this, parent, event, pending, returned, ended, readClock, readKind, notBefore });
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
