import type { Command } from 'commander';
import { type AccountAudit, auditAccount, auditAll } from '../../lambdas/core/ledger/audit.ts';
import { withReading } from '../command-options.ts';
import { failed, unsatisfied } from '../exit.ts';
import { printJson } from '../output.ts';
import { atPlace, type PlaceOptions } from '../place.ts';
import type { Terminal } from '../terminal.ts';
import { steady } from '../with-retries.ts';

interface AuditOptions extends PlaceOptions {
  readonly account?: string;
  readonly json?: true;
}

interface Named {
  readonly account: string;
  readonly record: string | null;
}

interface AuditResult {
  /** Whether every account was compared and no difference was found. */
  readonly ok: boolean;
  readonly accounts: number;
  readonly records: number;
  readonly openHolds: number;
  readonly expiredHolds: number;
  /** Charges above their hold. */
  readonly overage: readonly Named[];
  readonly implausible: readonly Named[];
  /** Ids of accounts that changed during every read, so that their sums could not be compared. */
  readonly unstable: readonly string[];
  readonly findings: readonly (Named & { readonly invariant: string; readonly message: string })[];
}

const audit = (terminal: Terminal, { account, ...options }: AuditOptions): Promise<AuditResult> =>
  atPlace(terminal, options, async ({ stores: { ledger, records } }) => {
    const deps = { store: ledger, records, clock: steady.clock };
    if (account === undefined) return summed(await Array.fromAsync(auditAll(deps)));
    const audited = await auditAccount(deps, account);
    if (!audited) throw failed(`${account}: no such account. List them with \`accounts list\`.`);
    return summed([audited]);
  });

const summed = (audits: readonly AccountAudit[]): AuditResult => {
  const sum = (name: 'records' | 'openHolds' | 'expiredHolds'): number =>
    audits.reduce((total, each) => total + each[name], 0);
  const flagged = (name: 'overage' | 'implausible'): readonly Named[] =>
    audits.flatMap((each) => each[name].map((record) => ({ account: each.accountId, record })));
  const findings = audits.flatMap((each) =>
    each.findings.map(({ recordId, invariant, message }) => ({
      account: each.accountId,
      record: recordId,
      invariant,
      message,
    })),
  );
  const unstable = audits.filter(({ stable }) => !stable).map(({ accountId }) => accountId);
  return {
    ok: findings.length === 0 && unstable.length === 0,
    accounts: audits.length,
    records: sum('records'),
    openHolds: sum('openHolds'),
    expiredHolds: sum('expiredHolds'),
    overage: flagged('overage'),
    implausible: flagged('implausible'),
    unstable,
    findings,
  };
};

const report = async (terminal: Terminal, result: AuditResult): Promise<void> => {
  const { ok, accounts, records, openHolds, expiredHolds, overage, implausible, unstable, findings } = result;
  const lines = [
    ...findings.map(
      ({ account, record, invariant, message }) => `${account}  ${record ?? '-'}  ${invariant}  ${message}`,
    ),
    ...overage.map(({ account, record }) => `${account}  ${record}  flagged  overage`),
    ...implausible.map(({ account, record }) => `${account}  ${record}  flagged  implausible`),
    `${accounts} accounts, ${records} records, ${openHolds} open holds (${expiredHolds} expired): ${ok ? 'ok' : `${findings.length} findings`}`,
  ];
  await terminal.print(lines.map((line) => `${line}\n`).join(''));
  for (const account of unstable) {
    terminal.status(`${account}: changed during every read, so its sums were not compared. Repeat the audit.`);
  }
};

export const addAuditCommand = (program: Command, terminal: Terminal): void => {
  withReading(
    program
      .command('audit')
      .description(
        'compare every account with its charges and credits; exit 1 and one line per finding if they differ',
      ),
  )
    .option('--account <id>', 'audit only this account')
    .option('--table <name>', 'accounts table (ACCOUNTS_TABLE); default: the local gateway in DATA_DIR')
    .option('--endpoint <url>', 'DynamoDB endpoint (DYNAMODB_ENDPOINT); default: AWS in AWS_REGION')
    .action(async (options: AuditOptions) => {
      const result = await audit(terminal, options);
      if (options.json) await printJson(terminal, result);
      else await report(terminal, result);
      if (!result.ok) throw unsatisfied();
    });
};
