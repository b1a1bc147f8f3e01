import { parseUsd } from '../../lambdas/core/money/usd.ts';

export interface Change {
  readonly id: string;
  /** Such as `prices[from 2026-12-01].rates.input`. */
  readonly field: string;
  /** Null where there is none. */
  readonly old: string | null;
  readonly new: string | null;
  /** Of a price that rose or fell; null for all else. */
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

/** Whatever has an id, from lists of which nobody has said yet that they are valid. */
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

/** Every single value by its path; a list of plain values is one. */
const flatten = (value: unknown, path = ''): ReadonlyMap<string, string> => {
  const parts = partsOf(value, path);
  if (!parts) return new Map([[path, typeof value === 'string' ? value : JSON.stringify(value)]]);
  return new Map(parts.flatMap(([name, part]) => [...flatten(part, name)]));
};

const partsOf = (value: unknown, path: string): readonly (readonly [string, unknown])[] | undefined => {
  if (isEntry(value)) return Object.entries(value).map(([name, part]) => [path ? `${path}.${name}` : name, part]);
  if (!Array.isArray(value) || !value.every(isEntry)) return undefined;
  const names = value.map(nameOf);
  // A row that comes first or goes must not make all rows behind it look changed.
  const areNames = names.every((name) => name !== undefined) && new Set(names).size === names.length;
  return value.map((part, at) => [`${path}[${areNames ? names[at] : at}]`, part]);
};

/** What tells a row of prices, a tier of it, a band of sizes or an upstream from its like. */
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
