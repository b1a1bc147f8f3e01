import * as z from 'zod';
import type { AccountStore } from '../../core/accounts/account-store.ts';
import { type RotationDependencies, rotateKey } from '../../core/accounts/issue-key.ts';
import type { CurrentKey } from '../../core/accounts/key-ring.ts';
import type { KeyStore } from '../../core/accounts/key-store.ts';
import { keyIdOf, toMasked } from '../../core/accounts/keys.ts';
import { daysLeft, PACE_SPAN_MS } from '../../core/accounts/low-balance.ts';
import { type TopUp, topUpOf } from '../../core/accounts/top-up.ts';
import type { Clock } from '../../core/clock.ts';
import { GatewayError } from '../../core/errors/gateway-error.ts';
import { requestIdOf } from '../../core/ledger/hold.ts';
import { balanceOf, type LedgerStore } from '../../core/ledger/ledger.ts';
import type { LedgerRecords, RecordPage } from '../../core/ledger/records.ts';
import { type RecentSpend, sumRecent } from '../../core/ledger/spend.ts';
import { formatUsd, PICOS_PER_USD } from '../../core/money/usd.ts';
import { firstIdAt } from '../../core/request-id.ts';
import { retryUntilDefinite } from '../../core/retry.ts';
import { type Exchange, initDataOf, json, type RouteHandler, timeOfRequest } from '../../http/exchange.ts';
import { orUnavailable, toAccountObject } from '../account-reads.ts';
import { usdAmount } from '../optional-fields.ts';
import { parseWith } from '../parse.ts';

export interface AppAccountDependencies {
  readonly accountIdOf: AccountIdOf;
  readonly accounts: Pick<AccountStore, 'profile'>;
  readonly keys: Pick<KeyStore, 'currentKey'>;
  readonly ledgerStore: Pick<LedgerStore, 'readAccount'>;
  readonly ledgerRecords: LedgerRecords;
  /** Text or link for topping up. */
  readonly topUpText: string | undefined;
}

/** Upper limit for the records that the spend rate is computed from. Only the latest ones count. */
const PACE_RECORDS_MAX = 5_000;

/** GET /app/api/account (KEY-4). */
export const createGetAppAccount =
  ({ accountIdOf, accounts, keys, ledgerStore, ledgerRecords, topUpText }: AppAccountDependencies): RouteHandler =>
  async (exchange) => {
    const accountId = await accountIdOf(exchange);
    const nowMs = exchange.startedAtMs;
    const lately = { fromHoldId: firstIdAt(nowMs - PACE_SPAN_MS), recordsMax: PACE_RECORDS_MAX };
    const [account, profile, key, recent, oldest] = await orUnavailable(
      Promise.all([
        ledgerStore.readAccount(accountId),
        accounts.profile(accountId),
        keys.currentKey(accountId),
        sumRecent(ledgerRecords, accountId, lately),
        ledgerRecords.listRecords(accountId, { limit: 1, isOldestFirst: true }),
      ]),
    );
    if (!account || !profile) throw new Error('the account of a bot chat is missing');
    const spans = { spanMs: spanOf(recent, nowMs), historyMs: historyOf(oldest, nowMs) };
    return json(200, {
      ...toAccountObject(account),
      days_left: daysLeft({ balancePicos: balanceOf(account), spentPicos: recent.costPicos, ...spans }),
      threshold_usd: formatUsd(profile.thresholdPicos),
      key: key ? toKeyObject(key) : null,
      ...toTopUpFields(topUpOf(topUpText, accountId)),
    });
  };

const toTopUpFields = (topUp: TopUp | undefined) => ({
  top_up_url: topUp && 'url' in topUp ? topUp.url : null,
  top_up_text: topUp && 'text' in topUp ? topUp.text : null,
});

/** Time since the oldest request of the account that has ended, in ms. 0 without one. */
const historyOf = ({ records: [oldest] }: RecordPage, nowMs: number): number =>
  oldest ? Math.max(0, nowMs - timeOfRequest(requestIdOf(oldest.holdId))) : 0;

/** Time span of the records in ms: the whole week, or the time since the oldest request that was read. */
const spanOf = ({ cutAtHoldId }: RecentSpend, nowMs: number): number =>
  cutAtHoldId === undefined ? PACE_SPAN_MS : Math.max(0, nowMs - timeOfRequest(requestIdOf(cutAtHoldId)));

const toKeyObject = ({ hash, label, issuedAtMs, isRevoked }: CurrentKey) => ({
  id: keyIdOf(hash),
  masked: toMasked(label),
  issued_at: new Date(issuedAtMs).toISOString(),
  revoked: isRevoked,
});

/** Account id of the user who opened the mini app. Throws `not_found` before the account exists, and 503. */
export type AccountIdOf = (exchange: Exchange) => Promise<string>;

export const createAccountIdOf =
  (accounts: Pick<AccountStore, 'chat'>): AccountIdOf =>
  async (exchange) => {
    const chat = await orUnavailable(accounts.chat(initDataOf(exchange).chatId));
    if (!chat) throw new GatewayError('not_found', 'Send /start to the bot first. It opens your account.');
    exchange.summary.accountId = chat.accountId;
    return chat.accountId;
  };

export interface RotateKeyDependencies extends RotationDependencies {
  readonly accountIdOf: AccountIdOf;
}

const keyIdMessage = 'must be the id of the key to replace, as the account shows it';

export const rotationBody = z.strictObject({ key_id: z.string(keyIdMessage).regex(/^[0-9a-f]{16}$/, keyIdMessage) });

const REPLACEMENT_UNCERTAIN =
  'The key may have been replaced. Read the account again, then replace the key that it shows.';

/** POST /app/api/key (KEY-2): only this response shows the new API key. */
export const createRotateKey =
  (deps: RotateKeyDependencies): RouteHandler =>
  async (exchange) => {
    const accountId = await deps.accountIdOf(exchange);
    const { key_id: keyId } = parseWith(rotationBody, exchange.body?.json);
    const { apiKey, id, label } = await orUnavailable(rotateKey(deps, { accountId, keyId }), REPLACEMENT_UNCERTAIN);
    return json(200, { key: apiKey, id, masked: toMasked(label) });
  };

export interface ThresholdDependencies {
  readonly accountIdOf: AccountIdOf;
  readonly accounts: Pick<AccountStore, 'setThreshold'>;
  readonly clock: Clock;
  readonly random: () => number;
}

export const thresholdBody = z.strictObject({
  threshold_usd: usdAmount({ leastPicos: 0n, mostPicos: 1_000_000n * PICOS_PER_USD, example: '2.5' }),
});

const ACCOUNT_UNAVAILABLE = 'The account cannot be reached now. Retry later.';

/** POST /app/api/threshold (KEY-3): sets the balance at which a notification is sent. 0 turns it off. */
export const createSetThreshold =
  (deps: ThresholdDependencies): RouteHandler =>
  async (exchange) => {
    const accountId = await deps.accountIdOf(exchange);
    const { threshold_usd: picos } = parseWith(thresholdBody, exchange.body?.json);
    const setting = retryUntilDefinite(deps, () => deps.accounts.setThreshold(accountId, picos));
    const reply = await orUnavailable(setting, ACCOUNT_UNAVAILABLE);
    if (reply === 'no-account') throw new Error('the account of a bot chat is missing');
    return json(200, { threshold_usd: formatUsd(picos) });
  };
