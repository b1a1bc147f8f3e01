import { Interned } from './canonical.ts';
import type { Configuration } from './configuration.ts';
import type { Answer } from './operations.ts';
import { Graph, Program } from './program.ts';
import { execute, type Step, type World } from './world.ts';

/** Caches worlds and the results of calls to them. */
export class Worlds {
  readonly #graph: Graph;
  readonly #worlds = new Interned<World>();
  readonly #steps: (readonly number[] | undefined)[][] = [];

  constructor(graph: Graph) {
    this.#graph = graph;
  }

  numberOf(world: World): number {
    return this.#worlds.numberOf(world);
  }

  at(number: number): World {
    return this.#worlds.at(number);
  }

  get count(): number {
    return this.#worlds.values.length;
  }

  /** Returns pairs of a world number and a reply number: one pair for each possible result of the call. */
  after(world: number, op: number): readonly number[] {
    const known = this.#steps[world]?.[op];
    if (known) return known;
    const steps = execute(this.at(world), this.#graph.ops.at(op)).filter(({ answer }) => !isIdle(answer));
    const numbers = steps.flatMap((step) => this.#toNumbers(step));
    const row = this.#steps[world] ?? [];
    this.#steps[world] = row;
    row[op] = numbers;
    return numbers;
  }

  #toNumbers({ world, answer }: Step): readonly [number, number] {
    return [this.numberOf(world), this.#graph.replies.numberOf({ kind: 'answer', answer })];
  }
}

/**
 * Whether a list is empty. Sweeper and worker wait for a non-empty list, because reading an empty one changes nothing.
 */
const isIdle = (answer: Answer): boolean =>
  (answer.kind === 'due' && answer.due.length === 0) || (answer.kind === 'listNotes' && answer.holdIds.length === 0);

/** Calls in flight whose actor no longer waits. The same call can occur twice. */
export class Network {
  readonly #sets = new Interned<readonly number[]>();

  constructor() {
    this.#sets.numberOf([]);
  }

  opsOf(network: number): readonly number[] {
    return this.#sets.at(network);
  }

  with(network: number, op: number): number {
    return this.#sets.numberOf([...this.opsOf(network), op].sort((one, other) => one - other));
  }

  without(network: number, index: number): number {
    return this.#sets.numberOf(this.opsOf(network).filter((_op, other) => other !== index));
  }
}

/** Columns of a state. */
export const WORLD = 0;
export const NETWORK = 1;
/** Time, remaining faults and remaining crashes, four bits each. */
export const BUDGET = 2;
/** First column of the actors' nodes. */
export const ACTORS = 3;

export const timeOf = (row: Int32Array): number => (row[BUDGET] ?? 0) & 15;
export const faultsOf = (row: Int32Array): number => ((row[BUDGET] ?? 0) >> 4) & 15;
export const crashesOf = (row: Int32Array): number => ((row[BUDGET] ?? 0) >> 8) & 15;
export const A_FAULT = 1 << 4;
export const A_CRASH = 1 << 8;

/** Everything that the states of one configuration refer to. */
export class Space {
  readonly configuration: Configuration;
  readonly graph: Graph;
  readonly worlds: Worlds;
  readonly network = new Network();
  /** One program per actor. Interchangeable actors share one. */
  readonly programs: readonly Program[];
  /** Pairs of columns with interchangeable actors. */
  readonly fakes: readonly (readonly [number, number])[];
  readonly unavailable: number;
  readonly throttled: number;

  constructor(configuration: Configuration) {
    this.configuration = configuration;
    this.graph = new Graph(configuration.timesMs, configuration.timers ?? false);
    this.worlds = new Worlds(this.graph);
    this.unavailable = this.graph.replies.numberOf({ kind: 'unavailable' });
    this.throttled = this.graph.replies.numberOf({ kind: 'throttled' });
    const programs = new Map<string, Program>();
    this.programs = configuration.actors.map(({ name, program = name, body }) => {
      const present = programs.get(program) ?? new Program(this.graph, program, body);
      programs.set(program, present);
      return present;
    });
    this.fakes = this.programs.flatMap((program, index) => {
      const before = index === 0 ? -1 : this.programs.lastIndexOf(program, index - 1);
      return before === -1 ? [] : [[ACTORS + before, ACTORS + index] as const];
    });
  }

  get width(): number {
    return ACTORS + this.programs.length;
  }

  async first(): Promise<Int32Array> {
    const { world, faults, crashes } = this.configuration;
    const row = new Int32Array(this.width);
    row[WORLD] = this.worlds.numberOf(world);
    row[BUDGET] = faults * A_FAULT + crashes * A_CRASH;
    for (const [index, program] of this.programs.entries()) row[ACTORS + index] = await program.root();
    return row;
  }
}
