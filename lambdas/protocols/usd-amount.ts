import * as z from 'zod';
import { formatUsd, parseUsd } from '../core/money/usd.ts';
import { showAs } from './bounded.ts';

interface AmountBounds {
  /** Pico-USD, both included. */
  readonly leastPicos: bigint;
  readonly mostPicos: bigint;
  /** An amount that a client may have meant. */
  readonly example: string;
}

/** An amount of USD in a body, read into pico-USD: a decimal string, never a number, which could not be told exactly. */
export const usdAmount = ({ leastPicos, mostPicos, example }: AmountBounds) => {
  const message = `must be a decimal string of USD such as "${example}", from ${formatUsd(leastPicos)} to ${formatUsd(mostPicos)}, with at most 12 decimals`;
  const amount = z.string(message).transform((text, context): bigint => {
    const picos = toPicos(text);
    if (picos !== undefined && picos >= leastPicos && picos <= mostPicos) return picos;
    context.issues.push({ code: 'custom', message: `${message}.`, input: undefined });
    return z.NEVER;
  });
  return showAs(amount, { kind: 'schema', schema: { type: 'string', pattern: patternOf(leastPicos, mostPicos) } });
};

/** For a greatest amount that is a power of ten, and a least one of 0 or of any amount above it. */
const patternOf = (leastPicos: bigint, mostPicos: bigint): string => {
  const most = formatUsd(mostPicos);
  const below = `(0|[1-9]\\d{0,${most.length - 2}})(\\.\\d{1,12})?`;
  return `^${leastPicos > 0n ? '(?!0(\\.0+)?$)' : ''}(${below}|${most}(\\.0{1,12})?)$`;
};

const toPicos = (text: string): bigint | undefined => {
  try {
    return parseUsd(text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return undefined;
  }
};
