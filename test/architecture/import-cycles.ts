import type { Source } from './read-imports.ts';

type Graph = ReadonlyMap<string, readonly string[]>;

/** Groups of files that import each other, types included. Each group is sorted and joined by a space. */
export const importCycles = (sources: readonly Source[]): readonly string[] => {
  const graph = withoutEnds(new Map(sources.map(({ path, imports }) => [path, imports])));
  const reached = new Map([...graph.keys()].map((path) => [path, reachableFrom(path, graph)]));
  const groups = [...reached].map(([path, targets]) =>
    [...targets].filter((target) => reached.get(target)?.has(path)).sort(),
  );
  return [...new Set(groups.filter((group) => group.length > 0).map((group) => group.join(' ')))];
};

/** Repeatedly removes files that import no file of the graph. */
const withoutEnds = (graph: Graph): Graph => {
  const inside = [...graph].map(([path, targets]) => [path, targets.filter((it) => graph.has(it))] as const);
  const rest = inside.filter(([, targets]) => targets.length > 0);
  return rest.length === graph.size ? graph : withoutEnds(new Map(rest));
};

const reachableFrom = (start: string, graph: Graph): ReadonlySet<string> => {
  const reached = new Set(graph.get(start));
  for (const path of reached) for (const target of graph.get(path) ?? []) reached.add(target);
  return reached;
};
