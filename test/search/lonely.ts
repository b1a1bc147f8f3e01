import { isSettledFor } from './operations.ts';
import type { Node } from './program.ts';
import { ACTORS, faultsOf, type Space, timeOf, WORLD } from './space.ts';

/** A reply whose effect on the actor is still unknown. */
export interface Missing {
  readonly node: Node;
  readonly index: number;
  readonly reply: number;
  readonly time: number;
}

/**
 * Returns an actor whose next step can go first, or -1 if there is none or it is unknown. Its only pending call has a
 * permanent reply and changes nothing; after it, the actor reads no clock and returns nothing to its client. So other
 * actors can do the same after it as before it, and a crash before the call equals a crash after it.
 */
export const lonelyActor = (space: Space, row: Int32Array, missing: Missing[]): number => {
  const { configuration, graph, programs, worlds } = space;
  const time = timeOf(row);
  const { records } = worlds.at(row[WORLD] ?? 0);
  for (let actor = 0; actor < programs.length; actor += 1) {
    const node = graph.node(row[ACTORS + actor] ?? 0);
    const [only, another] = node.pending;
    if (!only || another || node.notBefore > time) continue;
    const op = graph.ops.at(only.op);
    const refused = configuration.actors[actor]?.refused?.(op) ?? false;
    if (!refused && !isSettledFor(op, records, configuration.outbox ?? false)) continue;
    if (staysQuiet(space, row, node, refused, missing)) return actor;
  }
  return -1;
};

/** Whether the actor stays quiet after every possible reply. At the last time, a clock read has no effect. */
const staysQuiet = (
  { configuration, graph, unavailable, worlds }: Space,
  row: Int32Array,
  node: Node,
  refused: boolean,
  missing: Missing[],
): boolean => {
  const time = timeOf(row);
  const isLast = time + 1 === configuration.timesMs.length;
  const [, answer = 0] = worlds.after(row[WORLD] ?? 0, node.pending[0]?.op ?? 0);
  const replies = [...(refused ? [] : [answer]), ...(refused || faultsOf(row) > 0 ? [unavailable] : [])];
  return replies.every((reply) => {
    const id = node.program.after(node, 0, reply, time);
    if (id === -1) {
      missing.push({ node, index: 0, reply, time });
      return false;
    }
    const child = graph.node(id);
    return (!child.readClock || isLast) && !child.readKind && !child.ended && child.returned === node.returned;
  });
};
