/** Beyond this an id is not compared in full: a body may hold megabytes. */
const COMPARED = 128;

/** Letters to add, remove or replace. Takes time by the product of the lengths. */
export const editsBetween = (left: string, right: string): number => {
  let above = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (const [row, letter] of [...left].entries()) {
    const current = [row + 1];
    for (const [column, other] of [...right].entries()) {
      const replaced = (above[column] ?? 0) + (letter === other ? 0 : 1);
      current.push(Math.min(replaced, (above[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1));
    }
    above = current;
  }
  return above.at(-1) ?? 0;
};

/** The candidate the fewest edits away, upper and lower case alike; the first one of equals; undefined without candidates. */
export const nearestOf = (text: string, candidates: readonly string[]): string | undefined => {
  const wanted = text.slice(0, COMPARED).toLowerCase();
  let best: { readonly candidate: string; readonly edits: number } | undefined;
  for (const candidate of candidates) {
    const edits = editsBetween(wanted, candidate.toLowerCase());
    if (!best || edits < best.edits) best = { candidate, edits };
  }
  return best?.candidate;
};
