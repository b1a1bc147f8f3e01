import type { Clock } from '../clock.ts';
import { StoreError } from '../errors/store-error.ts';
import { type Finding, findingsOf } from './audit-findings.ts';
import { type AuditStores, type Reading, readStably } from './audit-reading.ts';
import { accountIds, type LedgerRecords } from './ledger-records.ts';

export interface AuditPorts extends AuditStores {
  readonly clock: Clock;
}

/** What is audited from one account to the next. */
export interface AllAuditPorts extends AuditPorts {
  readonly records: AuditPorts['records'] & Pick<LedgerRecords, 'accountPlaces'>;
}

export interface AccountAudit {
  readonly accountId: string;
  /** False: the account was written to all the time, and its sums could not be compared. */
  readonly stable: boolean;
  readonly records: number;
  readonly openHolds: number;
  readonly expiredHolds: number;
  /** Hold ids of charges above their hold (BILL-7). */
  readonly overage: readonly string[];
  /** Hold ids of charges whose counts could not be true (BILL-7). */
  readonly implausible: readonly string[];
  readonly findings: readonly Finding[];
}

const READINGS = 4;

/**
 * Compares an account with what was written down about it. It may be in use: what is found is looked at once more, from scratch, and
 * told only if it is still so. Undefined when there is no such account. Throws StoreError.
 */
export const auditAccount = async (ports: AuditPorts, accountId: string): Promise<AccountAudit | undefined> => {
  try {
    return await readUntilSure(ports, accountId);
  } catch (error) {
    if (error instanceof StoreError || !(error instanceof Error)) throw error;
    return unreadable(accountId, error);
  }
};

const readUntilSure = async (ports: AuditPorts, accountId: string): Promise<AccountAudit | undefined> => {
  let earlier: readonly Finding[] = [];
  for (let read = 1; ; read += 1) {
    const reading = await readStably(ports, accountId);
    if (!reading) return undefined;
    const nowMs = ports.clock.now();
    const found = findingsOf(reading, nowMs);
    const confirmed = found.filter((finding) => earlier.some((before) => same(before, finding)));
    const stable = reading.stable && confirmed.length === found.length;
    if (stable || read === READINGS) return { ...toAudit(reading, nowMs, confirmed), stable };
    earlier = found;
  }
};

/** All accounts, one after the other. */
export async function* auditAll(ports: AllAuditPorts): AsyncGenerator<AccountAudit, void> {
  for await (const accountId of accountIds(ports.records)) {
    const audit = await auditAccount(ports, accountId);
    if (audit) yield audit;
  }
}

const same = (one: Finding, other: Finding): boolean =>
  one.invariant === other.invariant && one.recordId === other.recordId && one.differencePicos === other.differencePicos;

const toAudit = (
  { account, records }: Reading,
  nowMs: number,
  findings: readonly Finding[],
): Omit<AccountAudit, 'stable'> => {
  const flagged = (flag: 'overage' | 'implausible'): readonly string[] =>
    [...records.values()].filter((record) => record[flag]).map(({ holdId }) => holdId);
  return {
    accountId: account.id,
    records: records.size,
    openHolds: account.holds.size,
    expiredHolds: [...account.holds.values()].filter(({ expiresAtMs }) => expiresAtMs <= nowMs).length,
    overage: flagged('overage'),
    implausible: flagged('implausible'),
    findings,
  };
};

const unreadable = (accountId: string, { message }: Error): AccountAudit => ({
  accountId,
  stable: true,
  records: 0,
  openHolds: 0,
  expiredHolds: 0,
  overage: [],
  implausible: [],
  findings: [{ accountId, recordId: null, invariant: 'readable', message }],
});
