import { parseUsd } from '../money/usd.ts';
import type { Model } from './schema.ts';

export interface CatalogProblem {
  /** Id of the catalog entry, or its position in the file if it has none. */
  readonly id: string;
  /** Path such as `prices[0].rates.input`; empty for a problem of the whole entry. */
  readonly field: string;
  readonly message: string;
}

/** Contains every problem, so that one run shows all of them. */
export class CatalogError extends Error {
  override readonly name = 'CatalogError';
  readonly problems: readonly CatalogProblem[];

  constructor(problems: readonly CatalogProblem[]) {
    super(
      `The catalog is invalid:\n${problems.map(({ id, field, message }) => `${id}  ${field}  ${message}`).join('\n')}`,
    );
    this.problems = problems;
  }
}

export interface LoadOptions {
  /** Factor on every price: a decimal string above 0, default "1" (BILL-3). */
  readonly markup?: string;
  /** Companies whose models are served. All companies by default. */
  readonly companies?: readonly string[] | undefined;
}

/** Returns the factor in units of 1e-12. Throws a CatalogError. */
export const parseMarkup = (text = '1'): bigint => {
  const refuse = (message: string): never => {
    throw new CatalogError([{ id: 'catalog', field: 'markup', message }]);
  };
  try {
    const markup = parseUsd(text);
    return markup > 0n ? markup : refuse(`"${text}" must be above 0`);
  } catch (error) {
    if (error instanceof CatalogError) throw error;
    return refuse(`"${text}" is not a decimal number`);
  }
};

export const withoutFile = (companies: readonly string[], known: readonly string[]): readonly CatalogProblem[] =>
  companies
    .filter((company) => !known.includes(company))
    .map((company) => `"${company}" must be one of ${known.join(', ')}`)
    .map((message) => ({ id: 'catalog', field: 'companies', message }));

/**
 * Disables the models of companies that are not served. Their providers stay known, because requests there may still be
 * running.
 */
export const onlyOf =
  (companies: readonly string[]) =>
  (model: Model): Model =>
    companies.includes(model.company) ? model : { ...model, enabled: false };
