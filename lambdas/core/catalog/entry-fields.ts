import * as z from 'zod';
import { modelKindsOf, type ProviderKind, providerKindsOf, wireSchema } from './providers.ts';

/**
 * Context for checking a catalog entry: the factor on every price, in units of 1e-12, and the kind of each provider by
 * id. The kind is null if the provider's own entry has no valid kind.
 */
export interface EntryContext {
  readonly markup: bigint;
  readonly providerKinds: ReadonlyMap<string, ProviderKind | null>;
}

const types = z.array(z.enum(['text', 'image', 'audio', 'video', 'json', 'embedding'])).min(1);

const source = z.strictObject({
  fact: z.string().min(1),
  url: z.string().min(1),
  /** A day, a month, a year, or two months such as `2026-09/10`, as precise as the source. */
  asOf: z.string().regex(/^\d{4}(-\d{2}(-\d{2}|\/\d{2})?)?$/),
  level: z.enum(['official', 'secondary', 'derived', 'unverified']),
});

const upstreams = (kind: string, { providerKinds }: EntryContext) =>
  z
    .array(
      z
        .strictObject({
          provider: z.string(),
          model: z.string().min(1),
          wire: wireSchema,
          /**
           * Condition of the upstream. The first enabled upstream whose condition holds is used. `otherwise` holds for
           * every request, like `always`, and states that earlier upstreams have conditions.
           */
          when: z.enum(['always', 'tools_unless_effort_none', 'otherwise']).default('always'),
          enabled: z.boolean().default(true),
        })
        .superRefine((upstream, context) => {
          const refuse = (field: string, message: string) =>
            context.addIssue({ code: 'custom', path: [field], message });
          const provider = providerKinds.get(upstream.provider);
          if (provider === undefined) refuse('provider', `unknown provider "${upstream.provider}"`);
          else if (provider && !providerKindsOf(upstream.wire).includes(provider))
            refuse('wire', `"${upstream.wire}" is not a wire of providers of kind "${provider}"`);
          if (!modelKindsOf(upstream.wire).includes(kind))
            refuse('wire', `"${upstream.wire}" does not support models of kind "${kind}"`);
        }),
    )
    .min(1)
    .superRefine((list, context) => {
      // If all upstreams of an entry are off, the model is listed and a call returns an error (AUD-2).
      const last = list.findLastIndex((upstream) => upstream.enabled);
      if (list[last]?.when === 'tools_unless_effort_none')
        context.addIssue({
          code: 'custom',
          path: [last, 'when'],
          message: 'must be "always" or "otherwise" for the last enabled upstream',
        });
    });

const dayAfter = (day: string): string => new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);

interface Span {
  readonly from?: string | undefined;
  readonly until?: string | undefined;
}

const spanProblem = (
  before: Span | undefined,
  { from, until }: Span,
): readonly [field: string, message: string] | undefined => {
  if (from && until && until < from) return ['until', `${until} is before ${from}, the value of "from"`];
  if (!before) return undefined;
  if (!before.until) return ['from', 'overlaps the previous row, which has no until'];
  const due = dayAfter(before.until);
  return from === due
    ? undefined
    : ['from', `must be ${due}, the day after the previous row ends, not ${from ?? 'absent'}`];
};

/** Price rows, in order of time and without gaps. Only the first may lack `from`, and only the last `until`. */
export const priceList = <Row extends z.ZodType<Span>>(row: Row) =>
  z
    .array(row)
    .min(1)
    .superRefine((rows, context) => {
      for (const [index, span] of rows.entries()) {
        const problem = spanProblem(rows[index - 1], span);
        if (problem) context.addIssue({ code: 'custom', path: [index, problem[0]], message: problem[1] });
      }
    });

/** Fields of every catalog entry, of any kind. */
export const entryFields = (kind: string, context: EntryContext) => ({
  enabled: z.boolean(),
  id: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,127}$/),
  /** Unix seconds. */
  created: z.int().positive(),
  ownedBy: z.string().min(1),
  company: z.string().min(1),
  aliases: z.array(z.string().min(1)).default([]),
  upstreams: upstreams(kind, context),
  inputTypes: types,
  outputTypes: types,
  /** Fields beyond the protocol's list that the provider of this model accepts and does not bill. */
  extraFields: z.array(z.string().regex(/^[a-z][a-z0-9_]*$/)).default([]),
  lifecycle: z.strictObject({
    /** First UTC day on which the model is no longer served. */
    shutdownDate: z.iso.date().nullable(),
    replacement: z.string().optional(),
    note: z.string().min(1).optional(),
  }),
  /** False if the provider never reports usage, so that missing usage raises no alarm (BILL-10). */
  reportsUsage: z.boolean().default(true),
  sources: z.array(source).min(1),
  verification: z.enum(['official_page_or_sdk', 'secondary_only', 'partly_derived', 'partly_unverified']),
  note: z.string().min(1).optional(),
});
