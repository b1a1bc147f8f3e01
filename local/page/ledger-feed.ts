import type { ChargeRecord } from '../../lambdas/core/ledger/ledger.ts';
import { type Account, balanceOf, heldOf } from '../../lambdas/core/ledger/ledger.ts';
import { formatUsd } from '../../lambdas/core/money/usd.ts';
import type { AccountNumbers, LedgerEvent } from './ui/wire.ts';

/** One write of an account, from any process. */
export interface LedgerChange {
  /** Undefined for a new account. */
  readonly before: Account | undefined;
  readonly after: Account;
  /** Unix milliseconds. */
  readonly at: number;
  /** The charge record of a hold that the write closed. */
  readonly recordOf: (holdId: string) => ChargeRecord | undefined;
}

export type LedgerFeed = (change: LedgerChange) => void;

/** Publishes the money movements of each write of an account, in the order of the writes. Ignores a repeated change. */
export function createLedgerFeed(publish: (event: LedgerEvent) => void): LedgerFeed {
  const versions = new Map<string, number>();
  return (change) => {
    const { id, version } = change.after;
    if (version < (versions.get(id) ?? 0)) return;
    versions.set(id, version + 1);
    for (const event of eventsOf(change)) publish(event);
  };
}

const nothing = (account: Account): Account => ({
  ...account,
  availablePicos: 0n,
  creditedPicos: 0n,
  spentPicos: 0n,
  holds: new Map(),
});

function eventsOf({ before: known, after, at, recordOf }: LedgerChange): readonly LedgerEvent[] {
  const before = known ?? nothing(after);
  const write = { account: after.id, at, numbers: toNumbers(after) };
  const creditedPicos = after.creditedPicos - before.creditedPicos;
  const placed = [...after.holds].filter(([id]) => !before.holds.has(id));
  const gone = [...before.holds].filter(([id]) => !after.holds.has(id));
  return [
    ...(creditedPicos > 0n ? [{ ...write, kind: 'credited' as const, amount_usd: formatUsd(creditedPicos) }] : []),
    ...(creditedPicos < 0n ? [{ ...write, kind: 'returned' as const, amount_usd: formatUsd(-creditedPicos) }] : []),
    ...placed.map(([hold, { amountPicos }]) => ({
      ...write,
      kind: 'held' as const,
      hold,
      amount_usd: formatUsd(amountPicos),
    })),
    ...gone.map(([hold, { amountPicos }]) => {
      const record = recordOf(hold);
      const amount_usd = formatUsd(record?.amountPicos ?? after.spentPicos - before.spentPicos);
      const kind = record?.outcome === 'released' ? ('released' as const) : ('settled' as const);
      const { model, reason } = record ?? {};
      return { ...write, kind, hold, held_usd: formatUsd(amountPicos), amount_usd, model, reason };
    }),
  ];
}

export const toNumbers = (account: Account): AccountNumbers => ({
  account: account.id,
  balance_usd: formatUsd(balanceOf(account)),
  available_usd: formatUsd(account.availablePicos),
  held_usd: formatUsd(heldOf(account)),
  open_holds: account.holds.size,
});
