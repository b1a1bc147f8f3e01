import { formatUsd } from '../money/usd.ts';
import { type Cap, parsePeriod, periodNameOf } from './caps.ts';
import type { Account, ChargeRecord } from './ledger.ts';

export interface CapProblem {
  /** Id of the API key. */
  readonly keyId: string;
  readonly message: string;
  /** Rest of the cap less the expected one, in pico-USD. */
  readonly differencePicos: bigint;
}

/**
 * Compares each cap with the charges and open holds of its latest period: they and the rest add up to the limit. An
 * earlier period, to which a clock was set back, may have been forgotten in the meantime. A cap of a newer release is
 * left to it.
 */
export const capProblems = (account: Account, records: Iterable<ChargeRecord>): readonly CapProblem[] => {
  if (account.caps.size === 0) return [];
  const used = usedByCap(account, records);
  return [...account.caps].flatMap(([keyId, cap]) => {
    const parts = parsePeriod(cap.period);
    if (!parts) return [];
    const [name, leftPicos] = latestPeriodOf(cap);
    const expectedPicos = cap.limitPicos - (used.get(nameOf(keyId, `${parts.epoch}:${name}`)) ?? 0n);
    const differencePicos = leftPicos - expectedPicos;
    if (differencePicos === 0n) return [];
    const message = `of the cap of API key ${keyId} ${formatUsd(leftPicos)} USD is left, its charges and holds leave ${formatUsd(expectedPicos)} USD`;
    return [{ keyId, message, differencePicos }];
  });
};

const latestPeriodOf = ({ period, leftPicos, kept = new Map() }: Cap): readonly [name: string, leftPicos: bigint] =>
  [...kept].reduce((latest, other) => (other[0] > latest[0] ? other : latest), [periodNameOf(period), leftPicos]);

const nameOf = (keyId: string, period: string): string => `${keyId} ${period}`;

/** Sums the charges of closed holds, and the open holds, by cap and period. Pico-USD. */
const usedByCap = ({ holds }: Account, records: Iterable<ChargeRecord>): ReadonlyMap<string, bigint> => {
  const used = new Map<string, bigint>();
  const add = (cap: ChargeRecord['cap'], amountPicos: bigint): void => {
    if (!cap) return;
    const name = nameOf(cap.keyId, cap.period);
    used.set(name, (used.get(name) ?? 0n) + amountPicos);
  };
  for (const { cap, amountPicos } of holds.values()) add(cap, amountPicos);
  for (const { holdId, cap, amountPicos } of records) if (!holds.has(holdId)) add(cap, amountPicos);
  return used;
};
