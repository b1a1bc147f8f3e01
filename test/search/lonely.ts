import { isSettledFor } from './operations.ts';
import type { Node } from './program.ts';
import { ACTORS, faultsOf, type Space, timeOf, WORLD } from './space.ts';

/** An answer whose consequences for the actor have to be found out. */
export interface Missing {
  readonly node: Node;
  readonly index: number;
  readonly reply: number;
  readonly time: number;
}

/**
 * An actor whose next call has an answer that is settled for good and changes nothing, who waits for nothing else, then asks for no time
 * and tells nobody anything: whatever others do, they can do after it as well. It goes first then, and only it. An actor that dies before
 * it could as well die after it. -1 when there is none, or when it is not known yet.
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

/** Whatever is answered. At the last of the times nobody can tell when the clock is asked. */
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
    return (!child.readClock || isLast) && !child.readKind && !child.ended && child.told === node.told;
  });
};
