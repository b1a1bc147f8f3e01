import * as z from 'zod';
import { formatUsd, parseUsd } from '../core/money/usd.ts';

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
  return z.string(message).transform((text, context): bigint => {
    const picos = toPicos(text);
    if (picos !== undefined && picos >= leastPicos && picos <= mostPicos) return picos;
    context.issues.push({ code: 'custom', message: `${message}.`, input: undefined });
    return z.NEVER;
  });
};

const toPicos = (text: string): bigint | undefined => {
  try {
    return parseUsd(text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return undefined;
  }
};
