/** Amounts are integer pico-USD (1e-12 USD) as `bigint`. The API uses decimal strings (BILL-3, BILL-15). */
export const PICOS_PER_USD = 1_000_000_000_000n;

const DECIMALS = 12;
const form = /^(-?)(0|[1-9]\d{0,14})(?:\.(\d{1,12}))?$/;

/**
 * Parses a plain decimal string of USD. Throws a RangeError for any other text, including exponents and a 13th decimal.
 */
export const parseUsd = (text: string): bigint => {
  const match = form.exec(text);
  if (!match) throw new RangeError(`"${text}" is not a decimal amount in USD with at most ${DECIMALS} decimals`);
  const [, sign, whole = '0', fraction = ''] = match;
  const picos = BigInt(whole) * PICOS_PER_USD + BigInt(fraction.padEnd(DECIMALS, '0'));
  return sign === '-' ? -picos : picos;
};

/** Returns the shortest exact decimal form: no exponent, no trailing zeros, no point without decimals. */
export const formatUsd = (picos: bigint): string => {
  const absolute = picos < 0n ? -picos : picos;
  const fraction = (absolute % PICOS_PER_USD).toString().padStart(DECIMALS, '0').replace(/0+$/, '');
  return `${picos < 0n ? '-' : ''}${absolute / PICOS_PER_USD}${fraction && `.${fraction}`}`;
};
