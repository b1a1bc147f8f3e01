import type { Catalog } from './catalog.ts';
import type { TextModel, TextPriceRow } from './schema.ts';

/** Returns the models that may replace this one on that day, in the order of the catalog (FALL-2). */
export const allowedFallbacks = (catalog: Catalog, primary: TextModel, nowMs: number): readonly TextModel[] =>
  catalog
    .list(nowMs)
    .filter((model) => model.kind === 'text')
    .filter((candidate) => isAllowedFallback(catalog, primary, candidate, nowMs));

/**
 * Whether a model may replace the primary (FALL-2): another model of the same company with at least its protocols, the
 * same input types and capabilities, and no higher price. Both must be available on that day. Limits do not count: a
 * request that exceeds those of the other model is rejected when its turn comes (FALL-6).
 */
export const isAllowedFallback = (
  catalog: Catalog,
  primary: TextModel,
  candidate: TextModel,
  nowMs: number,
): boolean => {
  if (candidate.id === primary.id || candidate.company !== primary.company) return false;
  if (catalog.find(candidate.id, nowMs) !== candidate || catalog.find(primary.id, nowMs) !== primary) return false;
  return (
    includesAll(candidate.protocols, primary.protocols) &&
    sameSet(candidate.inputTypes, primary.inputTypes) &&
    sameCapabilities(candidate.capabilities, primary.capabilities) &&
    isNoDearer(catalog.priceRow(candidate, nowMs), catalog.priceRow(primary, nowMs))
  );
};

const includesAll = (all: readonly string[], wanted: readonly string[]): boolean =>
  wanted.every((name) => all.includes(name));

const sameSet = (one: readonly string[], other: readonly string[]): boolean =>
  includesAll(one, other) && includesAll(other, one);

/**
 * Whether both models have equal capabilities. An entry states every capability. A model with more capabilities counts
 * as another kind of model.
 */
const sameCapabilities = (one: TextModel['capabilities'], other: TextModel['capabilities']): boolean => {
  const others: Readonly<Record<string, unknown>> = other;
  return Object.entries(one).every(([name, able]) => others[name] === able);
};

const isNoDearer = (candidate: TextPriceRow, primary: TextPriceRow): boolean =>
  candidate.unit === primary.unit &&
  dearest(candidate, 'input') <= dearest(primary, 'input') &&
  dearest(candidate, 'output') <= dearest(primary, 'output');

/** Returns the highest rate over all prompt lengths. */
const dearest = ({ rates, tiers }: TextPriceRow, name: 'input' | 'output'): bigint =>
  tiers.reduce((most, tier) => (tier.rates[name] > most ? tier.rates[name] : most), rates[name]);
