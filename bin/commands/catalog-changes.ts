import { parseUsd } from '../../lambdas/core/money/usd.ts';

export interface Change {
  readonly id: string;
  /** Path of the value, such as `prices[from 2026-12-01].rates.input`. */
  readonly field: string;
  /** Value before the change; null if the field is new. */
  readonly old: string | null;
  readonly new: string | null;
  /** Change of a price in percent; null for other fields and for prices without a comparable value. */
  readonly percent: number | null;
}

export interface Changes {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly Change[];
}

type Entry = Readonly<Record<string, unknown>>;

const isEntry = (value: unknown): value is Entry =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Indexes the entries by id. The lists need not be valid: entries without an id are skipped. */
export const byId = (lists: readonly unknown[]): ReadonlyMap<string, Entry> => {
  const found = new Map<string, Entry>();
  for (const entry of lists.flat()) if (isEntry(entry) && typeof entry.id === 'string') found.set(entry.id, entry);
  return found;
};

export const compare = (before: ReadonlyMap<string, Entry>, after: ReadonlyMap<string, Entry>): Changes => ({
  added: [...after.keys()].filter((id) => !before.has(id)),
  removed: [...before.keys()].filter((id) => !after.has(id)),
  changed: [...after].flatMap(([id, entry]) => {
    const earlier = before.get(id);
    return earlier ? compareEntry(id, earlier, entry) : [];
  }),
});

const compareEntry = (id: string, before: Entry, after: Entry): readonly Change[] => {
  const [olds, news] = [flatten(before), flatten(after)];
  const fields = new Set([...olds.keys(), ...news.keys()]);
  return [...fields].flatMap((field) => {
    const [old, now] = [olds.get(field) ?? null, news.get(field) ?? null];
    return old === now ? [] : [{ id, field, old, new: now, percent: percentOf(field, old, now) }];
  });
};

/** Returns each value by its path. A list of plain values counts as one value. */
const flatten = (value: unknown, path = ''): ReadonlyMap<string, string> => {
  const parts = partsOf(value, path);
  if (!parts) return new Map([[path, typeof value === 'string' ? value : JSON.stringify(value)]]);
  return new Map(parts.flatMap(([name, part]) => [...flatten(part, name)]));
};

const partsOf = (value: unknown, path: string): readonly (readonly [string, unknown])[] | undefined => {
  if (isEntry(value)) return Object.entries(value).map(([name, part]) => [path ? `${path}.${name}` : name, part]);
  if (!Array.isArray(value) || !value.every(isEntry)) return undefined;
  const names = value.map(nameOf);
  // Name the rows if possible: with indexes, a row added or removed at the front would change every later path.
  const areNames = names.every((name) => name !== undefined) && new Set(names).size === names.length;
  return value.map((part, at) => [`${path}[${areNames ? names[at] : at}]`, part]);
};

/**
 * Returns what distinguishes a price row, tier, size band or upstream from the others in its list; undefined for other
 * rows.
 */
const nameOf = (row: Entry): string | undefined => {
  if ('unit' in row) return row.from === undefined ? 'first' : `from ${row.from}`;
  if ('aboveInputTokens' in row) return `above ${row.aboveInputTokens}`;
  if ('perImage' in row) return `to ${row.maxPixels ?? 'any'}`;
  return 'provider' in row && 'model' in row ? `${row.provider} ${row.model} ${row.when ?? ''}`.trimEnd() : undefined;
};

const HUNDREDTHS = 10_000n;

const percentOf = (field: string, old: string | null, now: string | null): number | null => {
  if (!field.startsWith('prices[') || old === null || now === null) return null;
  try {
    const [from, to] = [parseUsd(old), parseUsd(now)];
    return from > 0n ? Number(((to - from) * HUNDREDTHS) / from) / 100 : null;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
};
