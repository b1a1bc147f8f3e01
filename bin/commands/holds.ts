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

/** Later than any sweep. Databases know no infinite numbers. */
const END_OF_TIME_MS = Number.MAX_SAFE_INTEGER;

const columns = ['account', 'hold', 'amount_usd', 'expires_at', 'expired'];

export const addHoldsCommands = (program: Command, terminal: Terminal): void => {
  const holds = program.command('holds').description('money that is reserved for requests under way');
  withReading(holds.command('list').description('open holds'))
    .option('--account <id>', 'of this account alone')
    .option('--expired', 'those alone whose time is over and that the sweeper has not released')
    .action(async (options: ListOptions) => {
      const rows = await atPlace(terminal, options, (place) => listHolds(place, options));
      await printList(terminal, options.json === true, { rows, columns, nothing: 'no open holds' });
    });
  withMoney(
    holds
      .command('release <account> <hold>')
      .description('end a hold: its money goes back, unless it has been charged'),
  )
    .option('--force', 'also while its request may still run, which then goes unpaid')
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
  // An account with an open hold stands in the sweeper's list.
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
  refuseWhileRunning(hold, options);
  const deps = toLedgerDependencies(place);
  const known = (await deps.store.readRecord(accountId, holdId)) ?? (await deps.outbox.read(holdId))?.record;
  if (options.dryRun) {
    printDryRun(terminal);
    return toResult({ before, holdId, hold, record: known, repeated: false });
  }
  const instead =
    known?.outcome === 'settled' ? `, which has been charged with ${formatUsd(known.amountPicos)} USD` : '';
  await confirmWrite(terminal, options, `End the hold ${holdId} of ${formatUsd(hold.amountPicos)} USD${instead}?`);
  await logOperation(place, accountId, `holds release ${holdId}`, options);
  const record = await resolveHoldById(deps, { accountId, holdId, reason: own });
  await apply(deps, record, hold.amountPicos);
  if (record.outcome === 'settled')
    terminal.status('It had been charged: the charge counts, and only what was left goes back.');
  return toResult({ before, holdId, hold, record, after: await readAccount(place, accountId), repeated: false });
};

/** By this a repeat of the same release is known, and the owner of the account is told. */
const reasonOf = ({ ref }: MoneyOptions): string => `operator:${ref}`;

/** This machine's clock and that of whoever holds it. */
const CLOCKS_APART_MS = 60_000;

const refuseWhileRunning = ({ expiresAtMs }: Hold, { force }: ReleaseOptions): void => {
  if (force || expiresAtMs + CLOCKS_APART_MS <= Date.now()) return;
  throw refused(`Its request may still run: it expires at ${toTime(expiresAtMs)}. Only --force releases it before.`);
};

const ended = (account: Account, holdId: string, own: string, record: ChargeRecord | undefined) => {
  if (!record) throw failed(`${account.id} has no hold ${holdId}.`);
  if (record.reason === own) return toResult({ before: account, holdId, hold: undefined, record, repeated: true });
  const what =
    record.outcome === 'settled' ? `charged with ${formatUsd(record.amountPicos)} USD` : `released (${record.reason})`;
  throw refused(`The hold ${holdId} has been ${what} already. Nothing was changed.`);
};

interface Outcome {
  readonly before: Account;
  readonly after?: Account;
  readonly holdId: string;
  readonly hold: Hold | undefined;
  /** Undefined where there is none yet: it would be released. */
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
