/** Longest prefix of a text that is compared, in characters, because a body may hold megabytes. */
const COMPARED = 128;

/** Returns the number of characters to add, remove or replace. Its time grows with the product of the lengths. */
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

/** Share of the characters of a name that a suggestion may change. */
const EDITS_SHARE = 3;

/**
 * Returns the candidate with the fewest edits, ignoring case; the first one if several are equally near. Undefined if
 * every candidate needs more edits than a third of the text's characters.
 */
export const nearestOf = (text: string, candidates: readonly string[]): string | undefined => {
  const wanted = text.slice(0, COMPARED).toLowerCase();
  let best: { readonly candidate: string; readonly edits: number } | undefined;
  for (const candidate of candidates) {
    // Texts need at least as many edits as their lengths differ.
    if (Math.abs(candidate.length - wanted.length) * EDITS_SHARE > wanted.length) continue;
    const edits = editsBetween(wanted, candidate.toLowerCase());
    if (edits * EDITS_SHARE > wanted.length) continue;
    if (!best || edits < best.edits) best = { candidate, edits };
  }
  return best?.candidate;
};
