import type { Configuration } from './configuration.ts';
import { Judge } from './judge.ts';
import { Moves, type Way } from './moves.ts';
import { describe } from './operations.ts';
import { ACTORS, NETWORK, Space, timeOf, WORLD } from './space.ts';
import { StateTable } from './state-table.ts';

export interface Limits {
  readonly states: number;
  readonly ms: number;
  /** `breadth` finds the shortest path to a violation. */
  readonly order: 'breadth' | 'depth';
  /** Whether to skip call orders that cannot matter. See `lonelyActor`. */
  readonly reduced: boolean;
}

export interface Found {
  readonly states: number;
  readonly ends: number;
  readonly ms: number;
  /** Whether the search visited every state. */
  readonly complete: boolean;
  /** The first path to each violation. */
  readonly violations: readonly Finding[];
  /** Findings that are documented exceptions, not violations. */
  readonly documented: readonly Finding[];
}

export interface Finding {
  readonly what: string;
  /** Number of states with this finding. For a violation, only the first is counted. */
  readonly states: number;
  readonly trace: readonly string[];
}

/** Explores every state that can follow from the first state of a configuration. */
export class Search {
  readonly #space: Space;
  readonly #table: StateTable;
  readonly #judge: Judge;
  readonly #row: Int32Array;
  readonly #stack: number[] = [];
  #breadth = false;
  #taken = 0;
  #from = -1;
  #ends = 0;

  constructor(configuration: Configuration) {
    this.#space = new Space(configuration);
    this.#judge = new Judge(this.#space);
    this.#table = new StateTable(this.#space.width);
    this.#row = new Int32Array(this.#space.width);
  }

  async run({ states, ms, order, reduced }: Limits, violationsMax = 1): Promise<Found> {
    const started = performance.now();
    this.#breadth = order === 'breadth';
    const moves: Moves = new Moves(this.#space, reduced, () => this.#keep(moves.next));
    this.#keep(await this.#space.first());
    let over = false;
    for (let index = this.#take(); index !== undefined && !over; index = this.#take()) {
      this.#from = index;
      this.#table.read(index, this.#row);
      const goesOn = moves.from(this.#row);
      // Waits only if a node is unknown, because an unnecessary wait would take longer than the rest of the step.
      if (moves.missing.length > 0 || !goesOn) await this.#finish(index, moves);
      over = this.#judge.violations.size >= violationsMax || this.#table.count >= states;
      if (index % 4096 === 0 && performance.now() - started > ms) over = true;
    }
    return {
      states: this.#table.count,
      ends: this.#ends,
      ms: performance.now() - started,
      complete: !over,
      violations: await this.#tell(this.#judge.violations),
      documented: await this.#tell(this.#judge.documented),
    };
  }

  /** Runs actors whose next step is unknown, or judges a state in which no actor can act. */
  async #finish(index: number, moves: Moves): Promise<void> {
    const goesOn = await this.#complete(moves);
    if (goesOn) return;
    this.#ends += 1;
    const returned = Array.from(this.#row.slice(ACTORS), (id) => this.#space.graph.node(id).returned);
    await this.#judge.end(index, this.#row[WORLD] ?? 0, this.#row[NETWORK] ?? 0, returned);
  }

  async #complete(moves: Moves): Promise<boolean> {
    for (;;) {
      for (const { node, index, reply, time } of moves.missing.splice(0)) {
        await node.program.extend(node, index, reply, time);
      }
      const goesOn = moves.from(this.#row);
      if (moves.missing.length === 0) return goesOn;
    }
  }

  #take(): number | undefined {
    if (!this.#breadth) return this.#stack.pop();
    if (this.#taken === this.#table.count) return undefined;
    this.#taken += 1;
    return this.#taken - 1;
  }

  #keep(next: Int32Array): void {
    this.#sortTwins(next);
    if (!this.#table.add(next, this.#from)) return;
    const index = this.#table.count - 1;
    if (!this.#breadth) this.#stack.push(index);
    this.#judge.state(index, next);
  }

  #sortTwins(row: Int32Array): void {
    for (const [one, other] of this.#space.fakes) {
      const [first = 0, second = 0] = [row[one], row[other]];
      if (first <= second) continue;
      row[one] = second;
      row[other] = first;
    }
  }

  async #tell(findings: ReadonlyMap<string, { readonly state: number; readonly states: number }>): Promise<Finding[]> {
    const returned: Finding[] = [];
    for (const [what, { state, states }] of findings) returned.push({ what, states, trace: await this.#trace(state) });
    return returned;
  }

  /** Returns the moves that led to a state. */
  async #trace(state: number): Promise<readonly string[]> {
    const way = [state];
    for (let at = this.#table.parentOf(state); at !== -1; at = this.#table.parentOf(at)) way.unshift(at);
    const lines: string[] = [];
    const wanted = new Int32Array(this.#space.width);
    for (const [step, index] of way.slice(1).entries()) {
      this.#table.read(index, wanted);
      this.#table.read(way[step] ?? 0, this.#row);
      let line: string | undefined;
      const moves: Moves = new Moves(this.#space, false, (how, actor, op) => {
        const next = moves.next.slice();
        this.#sortTwins(next);
        if (next.every((cell, column) => cell === wanted[column])) line ??= this.#lineOf(how, actor, op, moves.next);
      });
      await this.#complete(moves);
      lines.push(line ?? 'an unknown move');
    }
    return lines;
  }

  #lineOf(way: Way, actor: number, op: number, next: Int32Array): string {
    const { configuration, graph } = this.#space;
    if (way === 'time') return `time advances to ${(configuration.timesMs[timeOf(next)] ?? 0) / 1_000} s`;
    const call = describe(graph.ops.at(op));
    if (way === 'lands') return `executed late: ${call}`;
    const name = configuration.actors[actor]?.name ?? '';
    if (way === 'dies') return `${name} crashes before: ${call}`;
    const before = graph.node(this.#row[ACTORS + actor] ?? 0);
    const after = graph.node(next[ACTORS + actor] ?? 0);
    const returned = after.returned === before.returned ? null : graph.returned.at(after.returned);
    const says = returned ? `; returns to its client: ${returned.kind} ${returned.content}` : '';
    const sleeps = after.notBefore > timeOf(next) ? '; then sleeps' : '';
    return `${name}: ${call}${way === 'answered' ? '' : ` [${way}]`}${says}${sleeps}`;
  }
}
