import type { Language } from './language.ts';

/** Amounts are decimal strings and never floating-point numbers here. Calculations use integers of 1e-12 USD. */
const DECIMALS = 12;
const form = /^(-?)(\d+)(?:\.(\d{1,12}))?$/;

export const parseUsd = (text: string): bigint => {
  const [, sign, whole, fraction = ''] = form.exec(text) ?? [];
  if (whole === undefined) throw new SyntaxError('not an amount in USD');
  const picos = BigInt(whole + fraction.padEnd(DECIMALS, '0'));
  return sign === '-' ? -picos : picos;
};

export const formatPicos = (picos: bigint): string => {
  const absolute = (picos < 0n ? -picos : picos).toString().padStart(DECIMALS + 1, '0');
  const fraction = absolute.slice(-DECIMALS).replace(/0+$/, '');
  return `${picos < 0n ? '-' : ''}${absolute.slice(0, -DECIMALS)}${fraction && `.${fraction}`}`;
};

export const addUsd = (amounts: readonly string[]): string =>
  formatPicos(amounts.reduce((sum, amount) => sum + parseUsd(amount), 0n));

/** For `sort`: the smaller amount first. */
export const compareUsd = (left: string, right: string): number => {
  const difference = parseUsd(left) - parseUsd(right);
  return difference === 0n ? 0 : difference < 0n ? -1 : 1;
};

/** A written amount without rounding. The digits after the cents may be shown smaller. */
export interface WrittenUsd {
  readonly before: string;
  readonly main: string;
  readonly rest: string;
  readonly after: string;
}

interface Writing {
  readonly language: Language;
  /** `$8.00` instead of `$8`. */
  readonly withCents?: boolean;
}

export const writeUsd = (amount: string, { language, withCents = false }: Writing): WrittenUsd => {
  const [, sign = '', whole = '0', fraction = ''] = form.exec(amount) ?? [];
  const digits = fraction === '' && !withCents ? '' : fraction.padEnd(2, '0');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, language === 'ru' ? '\u00a0' : ',');
  const point = digits === '' ? '' : language === 'ru' ? ',' : '.';
  const written = { main: grouped + point + digits.slice(0, 2), rest: digits.slice(2) };
  const minus = sign && '\u2212';
  return language === 'ru'
    ? { before: minus, ...written, after: '\u00a0$' }
    : { before: `${minus}$`, ...written, after: '' };
};

export const usdText = (amount: string, writing: Writing): string => {
  const { before, main, rest, after } = writeUsd(amount, writing);
  return before + main + rest + after;
};

/** Converts typed text, with a point or a comma, for the gateway. Undefined if it is not an amount. */
export const readTypedUsd = (typed: string): string | undefined => {
  const text = typed
    .trim()
    .replace(/^\$|\$$/g, '')
    .trim()
    .replace(',', '.');
  return /^\d{1,9}(\.\d{1,6})?$/.test(text) ? formatPicos(parseUsd(text)) : undefined;
};
