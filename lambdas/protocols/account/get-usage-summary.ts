import type { Actor } from '../../core/accounts/key-change.ts';
import { type KeyNameDependencies, readKeyNames } from '../../core/accounts/key-list.ts';
import { utcDay } from '../../core/clock.ts';
import { invalidRequest } from '../../core/errors/gateway-error.ts';
import type { SummaryDependencies } from '../../core/ledger/usage-periods.ts';
import { summarizeDays } from '../../core/ledger/usage-summary.ts';
import { groupCells, type SummaryRow, type UsageCell, type UsageGroup } from '../../core/ledger/usage-sums.ts';
import { formatUsd } from '../../core/money/usd.ts';
import { admissionOf, type Exchange, json, type RouteHandler } from '../../http/exchange.ts';
import { orUnavailable } from '../account-reads.ts';
import { csvFile, toCsvTable } from '../csv.ts';
import { type Format, formatParameters, readDay, readFormat, refuseUnknown } from './usage-query.ts';

type Query = Readonly<Record<string, string | undefined>>;

export const summaryParameters = ['group_by', 'from', 'to', ...formatParameters] as const;
export const usageGroups = ['day', 'model', 'key', 'end_user'] as const satisfies readonly UsageGroup[];

const DAY_MS = 86_400_000;
const DAYS_DEFAULT = 30;
const DAYS_MAX = 92;
/** Limit on rows, so that the response is below 6 MB, the limit of AWS Lambda. */
const ROWS_MAX = 5_000;

interface SummaryQuery {
  readonly fromDay: string;
  readonly toDay: string;
  readonly groups: ReadonlySet<UsageGroup>;
  readonly format: Format;
}

/** Throws the 400 that names the parameter. An empty parameter counts as absent. */
export const readSummaryQuery = (query: Query, nowMs: number): SummaryQuery => {
  refuseUnknown(query, summaryParameters);
  const toMs = query.to ? readDay('to', query.to) : Date.parse(utcDay(nowMs));
  const fromMs = query.from ? readDay('from', query.from) : toMs - (DAYS_DEFAULT - 1) * DAY_MS;
  if (toMs < fromMs) throw invalidRequest('to', 'to: must not be earlier than from.');
  if (toMs - fromMs >= DAYS_MAX * DAY_MS) {
    throw invalidRequest('from', `from: must be at most ${DAYS_MAX - 1} days before to. Use a shorter range.`);
  }
  return { fromDay: utcDay(fromMs), toDay: utcDay(toMs), groups: readGroups(query), format: readFormat(query) };
};

const readGroups = ({ group_by: text }: Query): ReadonlySet<UsageGroup> => {
  const names = text ? text.split(',') : ['day'];
  return new Set(
    names.map((name) => {
      const found = usageGroups.find((known) => known === name);
      if (found) return found;
      throw invalidRequest('group_by', `group_by: must be one or several of ${usageGroups.join(', ')}, with commas.`);
    }),
  );
};

/** GET /api/usage/summary (BILL-23): charges and tokens by day, model, API key and end user. */
export const createGetUsageSummary =
  (
    deps: SummaryDependencies & KeyNameDependencies,
    accountIdOf: (exchange: Exchange) => string | Promise<string> = (exchange) => admissionOf(exchange).accountId,
  ): RouteHandler =>
  async (exchange) => {
    const accountId = await accountIdOf(exchange);
    const { groups, format, ...range } = readSummaryQuery(
      exchange.event.queryStringParameters ?? {},
      exchange.startedAtMs,
    );
    const read = Promise.all([
      summarizeDays(deps, accountId, range),
      groups.has('key') ? readKeyNames(deps, accountId, actorOf(exchange)) : NO_NAMES,
    ]);
    const [summaries, keyNames] = await orUnavailable(read);
    if (!summaries) throw new Error('the account of a summary is missing');
    const rows = groupCells(summaries.days, groups);
    if (rows.length > ROWS_MAX) {
      throw invalidRequest(
        'group_by',
        `group_by: the summary has more than ${ROWS_MAX} rows. Use fewer groups, or a shorter range.`,
      );
    }
    const [total = NO_ROW] = groupCells(summaries.days, new Set());
    const named = rows.map((row) => ({ ...row, keyName: keyNames.get(row.keyId ?? '') }));
    const summary = { ...toSummaryObject(range, groups, named, total), ...toCompleteness(summaries.incompleteDays) };
    if (format === 'json') return json(200, summary);
    const table = toSummaryCsv(groups, named, summary.complete);
    return csvFile(`usage-${range.fromDay}-${range.toDay}.csv`, table, format);
  };

/** A request without an API key comes from the owner's mini app. */
const actorOf = ({ admission }: Exchange): Actor => (admission ? { keyId: admission.key.keyId } : 'owner');

const NO_NAMES: ReadonlyMap<string, string> = new Map();

interface NamedRow extends SummaryRow {
  /** Undefined if the row has no API key, the key was deleted, or the caller may not read its name. */
  readonly keyName?: string | undefined;
}

const NO_ROW: SummaryRow = { requests: 0, amountPicos: 0n, inputTokens: 0, outputTokens: 0 };

const toCompleteness = (incompleteDays: readonly string[]) => ({
  complete: incompleteDays.length === 0,
  incomplete_days: incompleteDays,
});

const toSummaryObject = (
  { fromDay, toDay }: Pick<SummaryQuery, 'fromDay' | 'toDay'>,
  groups: ReadonlySet<UsageGroup>,
  rows: readonly NamedRow[],
  total: SummaryRow,
) => ({
  object: 'usage_summary' as const,
  from: fromDay,
  to: toDay,
  group_by: usageGroups.filter((group) => groups.has(group)),
  total: toSums(total),
  data: rows.map((row) => ({ ...Object.fromEntries(namesOf(groups, row)), ...toSums(row) })),
});

/** Returns the names of a row in the order of the groups. `other`: the row merges keys and end users. */
const namesOf = (
  groups: ReadonlySet<UsageGroup>,
  { day, model, keyId, keyName, endUser, isOther }: NamedRow,
): readonly (readonly [name: string, value: string | boolean | null])[] => [
  ...(groups.has('day') ? ([['day', day ?? null]] as const) : []),
  ...(groups.has('model') ? ([['model', model ?? null]] as const) : []),
  ...(groups.has('key')
    ? ([
        ['key_id', keyId ?? null],
        ['key_name', keyName ?? null],
      ] as const)
    : []),
  ...(groups.has('end_user') ? ([['end_user', endUser ?? null]] as const) : []),
  ...(groups.has('key') || groups.has('end_user') ? ([['other', isOther ?? false]] as const) : []),
];

const toSums = ({ requests, amountPicos, inputTokens, outputTokens }: UsageCell) => ({
  requests,
  cost_usd: formatUsd(amountPicos),
  input_tokens: inputTokens,
  output_tokens: outputTokens,
});

/** RFC 4180 with a header line. The columns depend only on the groups. */
const toSummaryCsv = (groups: ReadonlySet<UsageGroup>, rows: readonly NamedRow[], isComplete: boolean): string =>
  toCsvTable(
    [...namesOf(groups, NO_ROW).map(([name]) => name), ...Object.keys(toSums(NO_ROW)), 'complete'],
    rows.map((row) => [...namesOf(groups, row).map(([, value]) => value), ...Object.values(toSums(row)), isComplete]),
  );
