import type { Command } from 'commander';
import type { ChargeRecord } from '../../lambdas/core/ledger/ledger.ts';
import { type Account, balanceOf, type Hold } from '../../lambdas/core/ledger/ledger.ts';
import { resolveHoldById } from '../../lambdas/core/ledger/release.ts';
import { apply } from '../../lambdas/core/ledger/resolve.ts';
import { formatUsd } from '../../lambdas/core/money/usd.ts';
import { readAccount, toTime } from '../account-facts.ts';
import { type MoneyOptions, type ReadOptions, withMoney, withReading } from '../command-options.ts';
import { failed, refused } from '../exit.ts';
import { toLedgerDependencies } from '../ledger-at.ts';
import { printFacts, printList } from '../output.ts';
import { atPlace, type Place } from '../place.ts';
import type { Terminal } from '../terminal.ts';
import { logOperation } from '../with-retries.ts';
import { confirmWrite, printDryRun } from '../writes.ts';

interface ListOptions extends ReadOptions {
  readonly account?: string;
  readonly expired?: true;
}

interface ReleaseOptions extends MoneyOptions {
  readonly force?: true;
}

/** Timestamp later than the next sweep of every hold. It is finite, because DynamoDB does not store infinity. */
const END_OF_TIME_MS = Number.MAX_SAFE_INTEGER;

const columns = ['account', 'hold', 'amount_usd', 'expires_at', 'expired'];

export const addHoldsCommands = (program: Command, terminal: Terminal): void => {
  const holds = program.command('holds').description('list and release holds: money reserved for running requests');
  withReading(holds.command('list').description('list open holds'))
    .option('--account <id>', 'only holds of this account')
    .option('--expired', 'only expired holds that the sweeper has not released yet')
    .action(async (options: ListOptions) => {
      const rows = await atPlace(terminal, options, (place) => listHolds(place, options));
      await printList(terminal, options.json === true, { rows, columns, nothing: 'no open holds' });
    });
  withMoney(
    holds
      .command('release <account> <hold>')
      .description('end a hold and release its money; a committed charge still applies'),
  )
    .option('--force', 'also if its request may still be running; that request is then not charged')
    .action(async (accountId: string, holdId: string, options: ReleaseOptions) => {
      const result = await atPlace(terminal, options, (place) =>
        release(place, terminal, { accountId, holdId, options }),
      );
      await printFacts(terminal, options.json === true, result);
    });
};

const listHolds = async (place: Place, { account, expired }: ListOptions) => {
  const now = Date.now();
  const { ledger } = place.stores;
  // The sweeper's list contains every account with an open hold.
  const due = account === undefined ? await ledger.due(END_OF_TIME_MS) : [];
  const accounts = account === undefined ? [] : [await readAccount(place, account)];
  for (const { accountId } of due) {
    const found = await ledger.readAccount(accountId);
    if (found) accounts.push(found);
  }
  return accounts
    .flatMap(({ id, holds }) => [...holds].map(([holdId, hold]) => ({ id, holdId, ...hold })))
    .toSorted((one, other) => one.expiresAtMs - other.expiresAtMs)
    .map(({ id, holdId, amountPicos, expiresAtMs }) => ({
      account: id,
      hold: holdId,
      amount_usd: formatUsd(amountPicos),
      expires_at: toTime(expiresAtMs),
      expired: expiresAtMs <= now,
    }))
    .filter((row) => !expired || row.expired);
};

interface Release {
  readonly accountId: string;
  readonly holdId: string;
  readonly options: ReleaseOptions;
}

const release = async (place: Place, terminal: Terminal, { accountId, holdId, options }: Release) => {
  const before = await readAccount(place, accountId);
  const hold = before.holds.get(holdId);
  const own = reasonOf(options);
  if (!hold) return ended(before, holdId, own, await place.stores.ledger.readRecord(accountId, holdId));
  refuseUnlessOwn(holdId, hold);
  refuseWhileRunning(hold, options);
  const deps = toLedgerDependencies(place);
  const known = (await deps.store.readRecord(accountId, holdId)) ?? (await deps.outbox.read(holdId))?.record;
  if (options.dryRun) {
    printDryRun(terminal);
    return toResult({ before, holdId, hold, record: known, repeated: false });
  }
  const instead =
    known?.outcome === 'settled' ? ` A charge of ${formatUsd(known.amountPicos)} USD is committed and will apply.` : '';
  await confirmWrite(terminal, options, `End the hold ${holdId} of ${formatUsd(hold.amountPicos)} USD?${instead}`);
  await logOperation(place, accountId, `holds release ${holdId}`, options);
  const record = await resolveHoldById(deps, { accountId, holdId, reason: own });
  await apply(deps, record, hold.amountPicos);
  if (record.outcome === 'settled')
    terminal.status('The hold has a committed charge. The charge was applied, and only the rest was released.');
  return toResult({ before, holdId, hold, record, after: await readAccount(place, accountId), repeated: false });
};

/** Reason stored in the record. It identifies a repeat of the same release, and the account's owner sees it. */
const reasonOf = ({ ref }: MoneyOptions): string => `operator:${ref}`;

/** Largest assumed difference between this clock and the clock of the function that placed the hold, in ms. */
const CLOCKS_APART_MS = 60_000;

const refuseUnlessOwn = (holdId: string, { isNewer }: Hold): void => {
  if (isNewer)
    throw refused(`${holdId}: stored in a form of a newer release, which must close it. Deploy that release again.`);
};

const refuseWhileRunning = ({ expiresAtMs }: Hold, { force }: ReleaseOptions): void => {
  if (force || expiresAtMs + CLOCKS_APART_MS <= Date.now()) return;
  throw refused(
    `The request of this hold may still be running. The hold expires at ${toTime(expiresAtMs)}. Use --force to release it earlier.`,
  );
};

const ended = (account: Account, holdId: string, own: string, record: ChargeRecord | undefined) => {
  if (!record) throw failed(`${holdId}: no such hold of ${account.id}. List the open holds with \`holds list\`.`);
  if (record.reason === own) return toResult({ before: account, holdId, hold: undefined, record, repeated: true });
  const what =
    record.outcome === 'settled' ? `charged with ${formatUsd(record.amountPicos)} USD` : `released (${record.reason})`;
  throw refused(`${holdId}: already ${what}. Nothing was changed.`);
};

interface Outcome {
  readonly before: Account;
  readonly after?: Account;
  readonly holdId: string;
  readonly hold: Hold | undefined;
  /** Undefined in a dry run of a hold that has no record yet. */
  readonly record: ChargeRecord | undefined;
  readonly repeated: boolean;
}

const toResult = ({ before, after = before, holdId, hold, record, repeated }: Outcome) => ({
  account: before.id,
  hold: holdId,
  amount_usd: hold ? formatUsd(hold.amountPicos) : null,
  outcome: record?.outcome ?? 'released',
  charged_usd: formatUsd(record?.amountPicos ?? 0n),
  repeated,
  balance_before_usd: formatUsd(balanceOf(before)),
  balance_after_usd: formatUsd(balanceOf(after)),
  available_before_usd: formatUsd(before.availablePicos),
  available_after_usd: formatUsd(after.availablePicos),
});
