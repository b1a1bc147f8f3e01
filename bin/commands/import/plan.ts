import type { AccountStore } from '../../../lambdas/core/accounts/account-store.ts';
import type { LedgerStore } from '../../../lambdas/core/ledger/ledger.ts';
import { type Account, balanceOf } from '../../../lambdas/core/ledger/ledger.ts';
import type { LedgerRecords } from '../../../lambdas/core/ledger/records.ts';
import { formatUsd } from '../../../lambdas/core/money/usd.ts';
import type { ImportRow, RefusedRow } from './rows.ts';

export interface PlanDependencies {
  readonly ledger: Pick<LedgerStore, 'readAccount'>;
  readonly records: Pick<LedgerRecords, 'readCredits'>;
  readonly accounts: Pick<AccountStore, 'chat'>;
}

export interface PlannedRow extends ImportRow {
  /** Whether the row opens a new account. */
  readonly opens: boolean;
  /** Whether an earlier run of the same import has credited the account. */
  readonly isDone: boolean;
  readonly balanceBeforePicos: bigint;
}

export const refOf = (batch: string, { account }: Pick<ImportRow, 'account'>): string => `import:${batch}:${account}`;

/** Plans a row from the current state of its account. Returns a rejected row if they conflict. Throws StoreError. */
export const planRow = async (
  deps: PlanDependencies,
  batch: string,
  row: ImportRow,
): Promise<PlannedRow | RefusedRow> => {
  const refuse = (reason: string): RefusedRow => ({ line: row.line, account: row.account, reason });
  const account = await deps.ledger.readAccount(row.account);
  const taken = await chatProblem(deps, account, row);
  if (taken) return refuse(taken);
  if (!account) return { ...row, opens: true, isDone: false, balanceBeforePicos: 0n };
  const credits = await deps.records.readCredits(row.account);
  const earlier = credits.find(({ ref }) => ref === refOf(batch, row));
  if (earlier && (earlier.type !== 'credit' || earlier.amountPicos !== row.balancePicos)) {
    return refuse(
      `balance_usd: this import has already credited ${formatUsd(earlier.amountPicos)} USD. Use that amount, or another --ref`,
    );
  }
  return { ...row, opens: false, isDone: earlier !== undefined, balanceBeforePicos: balanceOf(account) };
};

const chatProblem = async (
  { accounts }: PlanDependencies,
  account: Account | undefined,
  { account: accountId, chatId }: ImportRow,
): Promise<string | undefined> => {
  if (chatId === undefined) return undefined;
  const chat = await accounts.chat(chatId);
  if (chat)
    return chat.accountId === accountId
      ? undefined
      : `chat_id: already belongs to the account ${chat.accountId}. Correct or remove it`;
  return account && 'chat_id: the account exists with another chat or none. Remove the chat_id';
};
