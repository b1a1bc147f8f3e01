import { settleOutbox, sweep } from '../support/strict-tending.ts';
import { ledgerDependencies } from './ports.ts';
import type { Graph } from './program.ts';
import type { Worlds } from './space.ts';
import { execute } from './world.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;

/** Runs worker and sweeper without faults, long after all other actors, and returns the resulting world. */
export class Closing {
  readonly #graph: Graph;
  readonly #worlds: Worlds;
  readonly #known = new Map<number, number>();

  constructor(graph: Graph, worlds: Worlds) {
    this.#graph = graph;
    this.#worlds = worlds;
  }

  async close(world: number): Promise<number> {
    const known = this.#known.get(world);
    if (known !== undefined) return known;
    const closed = await this.#run(world);
    this.#known.set(world, closed);
    return closed;
  }

  async #run(number: number): Promise<number> {
    let world = this.#worlds.at(number);
    let nowMs = (this.#graph.timesMs.at(-1) ?? 0) + DAY_MS;
    const deps = ledgerDependencies({
      clock: { now: () => nowMs, after: () => () => undefined },
      tell: () => undefined,
      call: async (op) => {
        const [step] = execute(world, op);
        if (!step) throw new Error(`${op.kind} has no result`);
        world = step.world;
        return step.answer;
      },
    });
    for (let round = 0; round < 3; round += 1) {
      await sweep(deps);
      await settleOutbox(deps);
      nowMs += DAY_MS;
    }
    return this.#worlds.numberOf(world);
  }
}
