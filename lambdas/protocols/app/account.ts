import type { AccountStore, CurrentKey } from '../../core/accounts/account-store.ts';
import { daysLeft, PACE_SPAN_MS } from '../../core/accounts/days-left.ts';
import { keyIdOf, toMasked } from '../../core/accounts/keys.ts';
import { requestIdOf } from '../../core/ledger/hold.ts';
import type { LedgerStore } from '../../core/ledger/ledger.ts';
import { balanceOf } from '../../core/ledger/ledger.ts';
import type { LedgerRecords } from '../../core/ledger/records.ts';
import { type RecentSpend, sumRecent } from '../../core/ledger/spend.ts';
import { formatUsd } from '../../core/money/usd.ts';
import { firstIdAt, json, type RouteHandler, timeOfRequest } from '../../http/exchange.ts';
import { toAccountObject } from '../account-object.ts';
import { orUnavailable } from '../account-reads.ts';
import type { AccountIdOf } from './account-of-chat.ts';

export interface AppAccountPorts {
  readonly accountIdOf: AccountIdOf;
  readonly accounts: Pick<AccountStore, 'profile' | 'currentKey'>;
  readonly ledgerStore: Pick<LedgerStore, 'readAccount'>;
  readonly ledgerRecords: LedgerRecords;
}

/** Of an account that has more in a week the latest tell its pace. */
const PACE_RECORDS_MAX = 5_000;

/** GET /app/api/account (KEY-4). */
export const createGetAppAccount =
  ({ accountIdOf, accounts, ledgerStore, ledgerRecords }: AppAccountPorts): RouteHandler =>
  async (exchange) => {
    const accountId = await accountIdOf(exchange);
    const nowMs = exchange.startedAtMs;
    const lately = { fromHoldId: firstIdAt(nowMs - PACE_SPAN_MS), recordsMax: PACE_RECORDS_MAX };
    const [account, profile, key, recent] = await orUnavailable(
      Promise.all([
        ledgerStore.readAccount(accountId),
        accounts.profile(accountId),
        accounts.currentKey(accountId),
        sumRecent(ledgerRecords, accountId, lately),
      ]),
    );
    if (!account || !profile) throw new Error('the account of a chat is missing');
    const spanMs = spanOf(recent, nowMs);
    return json(200, {
      ...toAccountObject(account),
      days_left: daysLeft({ balancePicos: balanceOf(account), spentPicos: recent.costPicos, spanMs }),
      threshold_usd: formatUsd(profile.thresholdPicos),
      key: key ? toKeyObject(key) : null,
    });
  };

/** The whole week, or the time since the oldest request that was read. */
const spanOf = ({ cutAtHoldId }: RecentSpend, nowMs: number): number =>
  cutAtHoldId === undefined ? PACE_SPAN_MS : Math.max(0, nowMs - timeOfRequest(requestIdOf(cutAtHoldId)));

const toKeyObject = ({ hash, label, issuedAtMs, isRevoked }: CurrentKey) => ({
  id: keyIdOf(hash),
  masked: toMasked(label),
  issued_at: new Date(issuedAtMs).toISOString(),
  revoked: isRevoked,
});
