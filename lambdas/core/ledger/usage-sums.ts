import { inputTokensOf, outputTokensOf } from '../pricing/count-prices.ts';
import type { ChargeRecord } from './ledger.ts';

/** Sums of charged requests with equal names. A name is undefined if the requests have none. */
export interface UsageCell {
  readonly model?: string | undefined;
  /** Public id of the API key. */
  readonly keyId?: string | undefined;
  readonly endUser?: string | undefined;
  /** Whether the cell merges the API keys and end users that its day has no room for. */
  readonly isOther?: true;
  readonly requests: number;
  readonly amountPicos: bigint;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/**
 * Stored sums of a period: a UTC day such as `2026-11-26`, or `KEYS_PERIOD`. They cover the requests from the start of
 * the period up to `fromId`, except those with an open hold. Each record is read once. A charge that comes later is a
 * late charge, which is added once.
 */
export interface UsageSums {
  readonly period: string;
  readonly cells: readonly UsageCell[];
  /** Id from which the next read continues. Undefined: the whole period was read. */
  readonly fromId?: string | undefined;
  /** Increases by one with every write, and is 1 after the first one. 0: sums of a release without revisions. */
  readonly revision: number;
}

/** Period of the sums by API key since the account exists. */
export const KEYS_PERIOD = 'keys';

/** Collects sums by group. The store keeps the order of the cells. */
export interface CellSums {
  add(record: ChargeRecord): void;
  cells(): readonly UsageCell[];
}

type Names = Pick<UsageCell, 'model' | 'keyId' | 'endUser' | 'isOther'>;

/**
 * Limit on the cells of a day with names of their own, in bytes: about 400 cells. Ninety-two days are then at most 5 MB
 * of the table, or 1,250 read units.
 */
const DAY_BYTES_MAX = 50_000;

/** Bytes of a stored cell besides its names. */
const CELL_BYTES = 100;

/**
 * Sums of a day by model, API key and end user. When they reach `DAY_BYTES_MAX`, requests with further combinations are
 * added to one more cell of their model.
 */
export const createDaySums = (cells: readonly UsageCell[] = []): CellSums => {
  const sums = toMap(cells);
  let bytes = cells.reduce((sum, cell) => sum + (cell.isOther ? 0 : bytesOf(cell)), 0);
  const namesFor = ({ model, keyId, endUser }: ChargeRecord): Names => {
    const names: Names = { model, keyId, endUser };
    if (sums.has(idOf(names))) return names;
    const more = bytesOf(names);
    if (bytes + more > DAY_BYTES_MAX) return { model, isOther: true };
    bytes += more;
    return names;
  };
  return {
    add: (record) => addTo(sums, namesFor(record), record),
    cells: () => [...sums.values()],
  };
};

/** An account has at most 50 API keys, and the other places keep replaced ones. */
const KEYS_MAX = 500;

/** Sums by API key. Drops the key whose latest request is the oldest when there are more than `KEYS_MAX`. */
export const createKeySums = (cells: readonly UsageCell[] = []): CellSums => {
  const sums = toMap(cells);
  return {
    add: (record) => {
      if (record.keyId === undefined) return;
      const names = { keyId: record.keyId };
      const present = sums.get(idOf(names));
      // The order of the map is that of the latest requests.
      sums.delete(idOf(names));
      if (present) sums.set(idOf(names), present);
      addTo(sums, names, record);
      const [oldest] = sums.keys();
      if (sums.size > KEYS_MAX && oldest !== undefined) sums.delete(oldest);
    },
    cells: () => [...sums.values()],
  };
};

export type UsageGroup = 'day' | 'model' | 'key' | 'end_user';

/** Sums of one group. Only fields of the groups that were requested are set. */
export interface SummaryRow extends UsageCell {
  readonly day?: string;
}

/** Merges the cells of days into rows: by day, then the highest amount first. */
export const groupCells = (
  days: ReadonlyMap<string, readonly UsageCell[]>,
  groups: ReadonlySet<UsageGroup>,
): readonly SummaryRow[] => {
  const rows = new Map<string, SummaryRow>();
  for (const [day, cells] of days) {
    for (const cell of cells) {
      const names: Names & { readonly day?: string } = {
        ...(groups.has('day') && { day }),
        ...(groups.has('model') && { model: cell.model }),
        ...(groups.has('key') && { keyId: cell.keyId }),
        ...(groups.has('end_user') && { endUser: cell.endUser }),
        ...((groups.has('key') || groups.has('end_user')) && cell.isOther && { isOther: true }),
      };
      const id = `${names.day ?? ''} ${idOf(names)}`;
      rows.set(id, { ...names, ...sumOf(rows.get(id), cell) });
    }
  }
  return [...rows.values()].toSorted(byDayAndAmount);
};

const byDayAndAmount = (one: SummaryRow, other: SummaryRow): number => {
  const days = compare(one.day ?? '', other.day ?? '');
  if (days !== 0) return days;
  if (one.amountPicos !== other.amountPicos) return one.amountPicos > other.amountPicos ? -1 : 1;
  return compare(idOf(one), idOf(other));
};

const compare = (one: string, other: string): number => (one === other ? 0 : one < other ? -1 : 1);

const idOf = ({ model, keyId, endUser, isOther }: Names): string =>
  JSON.stringify([model ?? null, keyId ?? null, endUser ?? null, isOther === true]);

const bytesOf = ({ model = '', keyId = '', endUser = '' }: Names): number =>
  CELL_BYTES + Buffer.byteLength(model) + Buffer.byteLength(keyId) + Buffer.byteLength(endUser);

const toMap = (cells: readonly UsageCell[]): Map<string, UsageCell> => new Map(cells.map((cell) => [idOf(cell), cell]));

type Sums = Omit<UsageCell, keyof Names>;

const sumOf = (one: Sums | undefined, other: Sums): Sums => ({
  requests: (one?.requests ?? 0) + other.requests,
  amountPicos: (one?.amountPicos ?? 0n) + other.amountPicos,
  inputTokens: (one?.inputTokens ?? 0) + other.inputTokens,
  outputTokens: (one?.outputTokens ?? 0) + other.outputTokens,
});

const addTo = (sums: Map<string, UsageCell>, names: Names, { amountPicos, usage = {} }: ChargeRecord): void => {
  const added = {
    requests: 1,
    amountPicos,
    inputTokens: inputTokensOf(usage) ?? 0,
    outputTokens: outputTokensOf(usage) ?? 0,
  };
  const id = idOf(names);
  sums.set(id, { ...names, ...sumOf(sums.get(id), added) });
};
