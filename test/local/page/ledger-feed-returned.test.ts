import { expect, test } from 'vitest';
import type { Account } from '../../../lambdas/core/ledger/ledger.ts';
import { createLedgerFeed } from '../../../local/page/ledger-feed.ts';
import type { LedgerEvent } from '../../../local/page/ui/wire.ts';

const account = (creditedPicos: bigint, version: number): Account => ({
  id: 'a',
  status: 'active',
  availablePicos: creditedPicos,
  creditedPicos,
  returnedPicos: 0n,
  spentPicos: 0n,
  holds: new Map(),
  version,
  caps: new Map(),
});

test('KEY-7 money that is taken back is an event with its amount and the balance', () => {
  const events: LedgerEvent[] = [];
  const feed = createLedgerFeed((event) => events.push(event));
  const recordOf = () => undefined;
  feed({ before: undefined, after: account(3_000_000_000_000n, 1), at: 1, recordOf });
  feed({ before: account(3_000_000_000_000n, 1), after: account(-1_000_000_000_000n, 2), at: 2, recordOf });
  expect(events.map(({ kind, amount_usd, numbers }) => [kind, amount_usd, numbers.balance_usd])).toEqual([
    ['credited', '3', '3'],
    ['returned', '4', '-1'],
  ]);
});
