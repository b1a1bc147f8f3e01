import { lonelyActor, type Missing } from './lonely.ts';
import { goesToStore, isWrite, type Op } from './operations.ts';
import type { Node } from './program.ts';
import { A_CRASH, A_FAULT, ACTORS, BUDGET, crashesOf, faultsOf, NETWORK, type Space, timeOf, WORLD } from './space.ts';

/** How one state follows from another. `lands`: a call in flight is executed. */
export type Way =
  | 'answered'
  | 'reply lost'
  | 'no answer, may land'
  | 'refused'
  | 'executed, and once more'
  | 'dies'
  | 'lands'
  | 'time';

export interface Move {
  readonly way: Way;
  /** -1 for a change of the world without an actor. */
  readonly actor: number;
  readonly op: number;
}

interface Reply {
  readonly way: Way;
  readonly reply: number;
  readonly faults: number;
  readonly world?: number;
  readonly lands?: boolean;
}

/** Enumerates all next states of a state. */
export class Moves {
  /** Nodes to compute before the moves of a state are known. The state must then be visited again. */
  readonly missing: Missing[] = [];
  /** The next state, valid during the callback. */
  readonly next: Int32Array;
  readonly #space: Space;
  readonly #reduced: boolean;
  readonly #tell: (way: Way, actor: number, op: number) => void;
  #row: Int32Array;

  constructor(space: Space, reduced: boolean, tell: (way: Way, actor: number, op: number) => void) {
    this.#space = space;
    this.#reduced = reduced;
    this.#tell = tell;
    this.next = new Int32Array(space.width);
    this.#row = this.next;
  }

  /** Returns false if only calls in flight can still change the state. */
  from(row: Int32Array): boolean {
    this.#row = row;
    if (this.#reduced) {
      const actor = lonelyActor(this.#space, row, this.missing);
      if (actor !== -1) return this.#call(actor, this.#nodeOf(actor), 0);
      if (this.missing.length > 0) return true;
    }
    let any = false;
    for (let actor = 0; actor < this.#space.programs.length; actor += 1) if (this.#act(actor)) any = true;
    this.#land();
    return this.#passTime() || any;
  }

  #nodeOf(actor: number): Node {
    return this.#space.graph.node(this.#row[ACTORS + actor] ?? 0);
  }

  #act(actor: number): boolean {
    const node = this.#nodeOf(actor);
    if (node.pending.length === 0 || node.notBefore > timeOf(this.#row)) return false;
    let any = false;
    for (let index = 0; index < node.pending.length; index += 1) if (this.#call(actor, node, index)) any = true;
    if (crashesOf(this.#row) > 0 && node.parent) this.#die(actor, node);
    return any;
  }

  /** Returns false if this call cannot get a reply yet. */
  #call(actor: number, node: Node, index: number): boolean {
    const { configuration, graph, worlds } = this.#space;
    const number = node.pending[index]?.op ?? 0;
    const op = graph.ops.at(number);
    if (op.kind === 'timer' && op.dueMs > (configuration.timesMs[timeOf(this.#row)] ?? 0)) return false;
    if (op.kind === 'putNote' && !configuration.outbox)
      throw new Error('an outbox entry in a configuration without outbox');
    const steps = worlds.after(this.#row[WORLD] ?? 0, number);
    if (steps.length === 0) return false;
    const refused = configuration.actors[actor]?.refused?.(op) ?? false;
    if (refused) this.#reply(actor, node, index, { way: 'refused', reply: this.#space.unavailable, faults: 0 });
    else this.#answer(actor, node, index, steps);
    if (faultsOf(this.#row) > 0 && goesToStore(op)) this.#fail(actor, node, index, op, steps, refused);
    return true;
  }

  #answer(actor: number, node: Node, index: number, steps: readonly number[]): void {
    for (let pair = 0; pair < steps.length; pair += 2) {
      const [world = 0, reply = 0] = [steps[pair], steps[pair + 1]];
      this.#reply(actor, node, index, { way: 'answered', reply, faults: 0, world });
    }
  }

  #fail(actor: number, node: Node, index: number, op: Op, [world = 0, reply = 0]: readonly number[], refused: boolean) {
    const { graph, throttled, unavailable } = this.#space;
    const write = isWrite(op);
    const faults = 1;
    this.#reply(actor, node, index, { way: 'no answer, may land', reply: unavailable, faults, lands: write });
    if (write) this.#reply(actor, node, index, { way: 'reply lost', reply: unavailable, faults, world });
    if (write && op.kind !== 'hold' && !refused) {
      this.#reply(actor, node, index, { way: 'executed, and once more', reply, faults, world, lands: true });
    }
    const unanswered = node.program.after(node, index, unavailable, timeOf(this.#row));
    if (unanswered !== -1 && graph.node(unanswered).readKind) {
      this.#reply(actor, node, index, { way: 'refused', reply: throttled, faults });
    }
  }

  /** Adds the replies to a call. If the actor then reads the clock, later times are possible. */
  #reply(actor: number, node: Node, index: number, reply: Reply): void {
    const { configuration, graph } = this.#space;
    const now = timeOf(this.#row);
    const last = configuration.lateReplies ? configuration.timesMs.length - 1 : now;
    for (let time = now; time <= last; time += 1) {
      const child = node.program.after(node, index, reply.reply, time);
      if (child === -1) this.missing.push({ node, index, reply: reply.reply, time });
      else this.#goTo(actor, child, node.pending[index]?.op ?? 0, reply);
      // The first run shows whether the actor reads the clock at all.
      if (time === now && (child === -1 || !graph.node(child).readClock)) return;
    }
  }

  #goTo(actor: number, child: number, op: number, { way, faults, world, lands }: Reply): void {
    const { next } = this;
    next.set(this.#row);
    if (world !== undefined) next[WORLD] = world;
    if (lands) next[NETWORK] = this.#space.network.with(this.#row[NETWORK] ?? 0, op);
    next[BUDGET] = (this.#row[BUDGET] ?? 0) - faults * A_FAULT;
    next[ACTORS + actor] = child;
    this.#tell(way, actor, op);
  }

  #die(actor: number, node: Node): void {
    this.next.set(this.#row);
    this.next[BUDGET] = (this.#row[BUDGET] ?? 0) - A_CRASH;
    this.next[ACTORS + actor] = this.#space.graph.end(node.program, node.returned);
    this.#tell('dies', actor, node.pending[0]?.op ?? 0);
  }

  #land(): void {
    const { network, worlds } = this.#space;
    const before = this.#row[NETWORK] ?? 0;
    const ops = network.opsOf(before);
    for (let index = 0; index < ops.length; index += 1) {
      const op = ops[index] ?? 0;
      const world = this.#row[WORLD] ?? 0;
      this.next.set(this.#row);
      this.next[WORLD] = worlds.after(world, op)[0] ?? world;
      this.next[NETWORK] = network.without(before, index);
      this.#tell('lands', -1, op);
    }
  }

  #passTime(): boolean {
    if (timeOf(this.#row) + 1 >= this.#space.configuration.timesMs.length) return false;
    this.next.set(this.#row);
    this.next[BUDGET] = (this.#row[BUDGET] ?? 0) + 1;
    this.#tell('time', -1, -1);
    return true;
  }
}
