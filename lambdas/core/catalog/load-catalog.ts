import * as z from 'zod';
import { utcDay } from '../clock.ts';
import { type Catalog, createCatalog } from './catalog.ts';
import {
  CatalogError,
  type CatalogProblem,
  type LoadOptions,
  onlyOf,
  parseMarkup,
  withoutFile,
} from './load-options.ts';
import type { PreparedCatalog } from './prepared-catalog.ts';
import { type ProviderKind, providerKinds, providerSchema } from './providers.ts';
import { entrySchema, type Model, type Provider } from './schema.ts';

const dataSchema = z.strictObject({
  providers: z.strictObject({ providers: z.array(z.unknown()) }),
  companies: z.record(z.string(), z.strictObject({ models: z.array(z.unknown()) })),
});

const namedSchema = z.looseObject({ id: z.string() });

const linkedSchema = z.looseObject({
  id: z.string(),
  company: z.unknown().optional(),
  aliases: z.array(z.string()).optional().catch(undefined),
  lifecycle: z.looseObject({ replacement: z.string().optional() }).optional().catch(undefined),
});

const providerKindSchema = z.looseObject({ kind: z.enum(providerKinds) });

const fieldOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((field, part) => {
    if (typeof part === 'number') return `${field}[${part}]`;
    return field ? `${field}.${String(part)}` : String(part);
  }, '');

/**
 * Returns one problem per unknown field, with the path of the field. A missing value is reported as missing, not as
 * `received undefined`.
 */
const toProblems = (id: string, issue: z.core.$ZodIssue): readonly CatalogProblem[] => {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({
      id,
      field: fieldOf([...issue.path, key]),
      message: 'is not a field of this entry',
    }));
  const message = issue.message.replace(/^Invalid input: expected (.+), received undefined$/, 'is missing ($1)');
  return [{ id, field: fieldOf(issue.path), message }];
};

const nameOf = (raw: unknown, place: string): string => {
  const named = namedSchema.safeParse(raw);
  return named.success && named.data.id ? named.data.id : place;
};

/** Returns null if the entry of the provider is invalid. That problem is reported once, at the provider. */
const kindOf = (raw: unknown): ProviderKind | null => {
  const kind = providerKindSchema.safeParse(raw);
  return kind.success ? kind.data.kind : null;
};

const parseEach = <Parsed>(
  rows: readonly { readonly raw: unknown; readonly place: string }[],
  schema: z.ZodType<Parsed>,
): { readonly parsed: readonly Parsed[]; readonly problems: readonly CatalogProblem[] } => {
  const parsed: Parsed[] = [];
  const problems: CatalogProblem[] = [];
  for (const { raw, place } of rows) {
    const result = schema.safeParse(raw);
    if (result.success) parsed.push(result.data);
    else problems.push(...result.error.issues.flatMap((issue) => toProblems(nameOf(raw, place), issue)));
  }
  return { parsed, problems };
};

const repeated = (
  names: readonly (readonly [id: string, field: string, name: string])[],
): readonly CatalogProblem[] => {
  const owners = new Map<string, string>();
  const problems: CatalogProblem[] = [];
  for (const [id, field, name] of names) {
    const owner = owners.get(name);
    if (owner === undefined) owners.set(name, id);
    else problems.push({ id, field, message: `"${name}" is already used by "${owner}"` });
  }
  return problems;
};

interface Row {
  readonly raw: unknown;
  readonly place: string;
  readonly company: string;
}

/**
 * Returns problems between entries: duplicate names, replacements that do not exist, and entries in the file of another
 * company.
 */
const acrossEntries = (rows: readonly Row[]): readonly CatalogProblem[] => {
  const known = rows.flatMap(({ raw, company }) => {
    const linked = linkedSchema.safeParse(raw);
    return linked.success ? [{ ...linked.data, file: company }] : [];
  });
  const ids = new Set(known.map(({ id }) => id));
  const names = [
    ...known.map(({ id }) => [id, 'id', id] as const),
    ...known.flatMap(({ id, aliases = [] }) => aliases.map((alias, at) => [id, `aliases[${at}]`, alias] as const)),
  ];
  const lost = known.flatMap(({ id, lifecycle }) => {
    const replacement = lifecycle?.replacement;
    if (replacement === undefined || (ids.has(replacement) && replacement !== id)) return [];
    return [{ id, field: 'lifecycle.replacement', message: `"${replacement}" is not another model` }];
  });
  const strays = known.flatMap(({ id, company, file }) =>
    company === undefined || company === file
      ? []
      : [{ id, field: 'company', message: `must be "${file}", the name of its file` }],
  );
  return [...repeated(names), ...lost, ...strays];
};

const parseData = (data: unknown) => {
  const result = dataSchema.safeParse(data);
  if (result.success) return result.data;
  throw new CatalogError(result.error.issues.flatMap((issue) => toProblems('catalog', issue)));
};

/**
 * Loads `{ providers: <providers.json>, companies: { <file name>: <its content> } }`. Throws a CatalogError (CAT-5).
 */
export const loadCatalog = (data: unknown, options: LoadOptions = {}): Catalog => {
  const markup = parseMarkup(options.markup ?? '1');
  const raw = parseData(data);
  const { companies = Object.keys(raw.companies) } = options;
  const providerRows = raw.providers.providers.map((row, index) => ({ raw: row, place: `providers[${index}]` }));
  const providers = parseEach<Provider>(providerRows, providerSchema);
  const providersById = new Map(providerRows.map((row) => [nameOf(row.raw, row.place), kindOf(row.raw)]));

  const rows = Object.entries(raw.companies).flatMap(([company, { models }]) =>
    models.map((entry, index) => ({ raw: entry, place: `${company}.models[${index}]`, company })),
  );
  const entries = parseEach<Model>(rows, entrySchema({ markup, providerKinds: providersById }));

  const providerNames = providerRows.map(
    (row) => [nameOf(row.raw, row.place), 'id', nameOf(row.raw, row.place)] as const,
  );
  const problems = [
    ...withoutFile(companies, Object.keys(raw.companies)),
    ...providers.problems,
    ...repeated(providerNames),
    ...entries.problems,
    ...acrossEntries(rows),
  ];
  if (problems.length > 0) throw new CatalogError(problems);
  return createCatalog(entries.parsed.map(onlyOf(companies)), providers.parsed, markup);
};

/**
 * Checks the catalog files and returns a prepared catalog in JSON. Throws a CatalogError for an invalid catalog (CAT-5),
 * and for a price that is not a whole number of pico-USD without a markup.
 */
export const prepareCatalog = (data: unknown): string => {
  const { entries, providers } = loadCatalog(data);
  const prepared: PreparedCatalog = { companies: Object.keys(parseData(data).companies), providers, entries };
  return JSON.stringify(prepared, (_name, value: unknown) =>
    typeof value === 'bigint' ? { picos: value.toString() } : value,
  );
};

const MS_PER_DAY = 86_400_000;

const SHUTDOWN_NOTICE_DAYS = 60;

const PRICE_NOTICE_DAYS = 30;

const lifecycleWarning = ({ id, lifecycle }: Model, today: string, horizon: string): readonly CatalogProblem[] => {
  const { shutdownDate, replacement } = lifecycle;
  if (!shutdownDate || shutdownDate > horizon) return [];
  const verb = shutdownDate <= today ? 'was shut down' : 'shuts down';
  const message = `${verb} on ${shutdownDate}, ${replacement ? `replacement ${replacement}` : 'no replacement'}`;
  return [{ id, field: 'lifecycle.shutdownDate', message }];
};

const priceWarnings = ({ id, prices }: Model, today: string, horizon: string): readonly CatalogProblem[] =>
  prices.flatMap(({ until }, index) => {
    if (!until || until < today || until > horizon) return [];
    const after =
      index + 1 < prices.length ? 'the next row applies after it' : 'no row follows: the model has no price after it';
    return [{ id, field: `prices[${index}].until`, message: `this price ends with ${until}; ${after}` }];
  });

/**
 * Returns warnings about enabled, valid entries: shutdowns that are past or near, prices that end soon, and facts
 * without a source.
 */
export const catalogWarnings = (catalog: Catalog, nowMs: number): readonly CatalogProblem[] => {
  const today = utcDay(nowMs);
  const inDays = (days: number) => utcDay(nowMs + days * MS_PER_DAY);
  return catalog.entries
    .filter((model) => model.enabled)
    .flatMap((model) => [
      ...lifecycleWarning(model, today, inDays(SHUTDOWN_NOTICE_DAYS)),
      ...priceWarnings(model, today, inDays(PRICE_NOTICE_DAYS)),
      ...(model.verification === 'partly_unverified'
        ? [{ id: model.id, field: 'verification', message: 'some facts have no source' }]
        : []),
    ]);
};
