import { toMasked } from '../../core/accounts/keys.ts';
import { topUpOf } from '../../core/accounts/top-up.ts';
import { type Account, balanceOf, heldOf } from '../../core/ledger/ledger.ts';
import { formatUsd } from '../../core/money/usd.ts';
import { retryUntilDefinite } from '../../core/retry.ts';
import type { BotContext, BotDependencies } from '../bot-context.ts';
import { appButton } from '../bot-context.ts';
import { html } from '../html.ts';

type OfAccount = (visit: BotContext, accountId: string) => Promise<void>;

/** Runs a command that needs an account. A user without an account gets instructions to create one. */
export const withAccount =
  (command: OfAccount) =>
  (visit: BotContext): Promise<void> =>
    visit.accountId === undefined ? visit.tell(visit.texts.startFirst()) : command(visit, visit.accountId);

export const createBalance =
  (deps: BotDependencies): OfAccount =>
  async (visit, accountId) => {
    const account = await retryUntilDefinite(deps, () => deps.ledgerStore.readAccount(accountId));
    if (!account) throw new Error('the account of a chat is missing');
    await visit.tell(visit.texts.balance(toFacts(account)), appButton(deps, visit.texts));
  };

const toFacts = (account: Account) => ({
  balance: formatUsd(balanceOf(account)),
  available: formatUsd(account.availablePicos),
  held: formatUsd(heldOf(account)),
  openHolds: account.holds.size,
  isBlocked: account.status === 'blocked',
});

export const createShowKey =
  (deps: BotDependencies): OfAccount =>
  async (visit, accountId) => {
    const key = await retryUntilDefinite(deps, () => deps.keys.currentKey(accountId));
    if (!key) return visit.tell(visit.texts.keyRevoked(), appButton(deps, visit.texts));
    const { label, issuedAtMs, isRevoked } = key;
    await visit.tell(visit.texts.key({ masked: toMasked(label), issuedAtMs, isRevoked }), appButton(deps, visit.texts));
  };

export const createTopUp =
  ({ topUpText }: BotDependencies): OfAccount =>
  async (visit, accountId) => {
    const { texts } = visit;
    const topUp = topUpOf(topUpText, accountId);
    if (topUp === undefined) return visit.tell(texts.topUpUnknown(accountId));
    if ('url' in topUp) return visit.tell(texts.topUpLink(), { label: texts.payNow, url: topUp.url });
    await visit.tell(html`${topUp.text}`);
  };
