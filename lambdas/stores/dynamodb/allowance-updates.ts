import { utcDay } from '../../core/clock.ts';
import {
  isOnProbation,
  isTogether,
  possibleUseOf,
  REPAID_TIMES,
  SILENT_DEADLINES_FREE,
  SILENT_DEADLINES_MAX,
} from '../../core/ledger/allowance.ts';
import type { ChargeRecord } from '../../core/ledger/ledger.ts';
import type { CapUpdate } from './cap-items.ts';
import type { WriteResult } from './dynamodb.ts';
import { toAccount } from './ledger-items.ts';

/**
 * How closing a hold counts its uncollected amount without a read. `within`: the amount stays within the allowance.
 * `onProbation`: the account is on probation, which the amount prolongs. `silentAtMs`: a deadline without content of the
 * group that started then is free.
 */
export type Raise = 'within' | 'onProbation' | { readonly silentAtMs: number };

const raises = {
  within: {
    set: ', uncollected = uncollected + :use',
    condition:
      ' AND uncollectedDay = :today AND uncollected <= :most AND (attribute_not_exists(probationUntil) OR probationUntil <= spent)',
  },
  onProbation: {
    set: ', uncollected = uncollected + :use, probationUntil = probationUntil + :repaid',
    condition: ' AND uncollectedDay = :today AND probationUntil > spent',
  },
} as const;

/** A deadline without content uses the allowance only if this many were counted. */
const ARE_SILENT = ' AND uncollectedSilent = :silent';

interface Closing {
  readonly record: ChargeRecord;
  /** Caller's clock in Unix ms. */
  readonly nowMs: number;
  /** Undefined: `within`. */
  readonly raise?: Raise;
}

/** Returns the parts of the update that raise the counter of uncollected amounts. Empty if the record changes none. */
export const toRaise = ({
  record,
  nowMs,
  raise = 'within',
}: Closing): Pick<CapUpdate, 'set' | 'condition' | 'values'> => {
  const use = possibleUseOf(record);
  if (use === undefined) return { set: '', condition: '', values: {} };
  if (typeof raise === 'object') {
    return {
      set: ', uncollected = uncollected + :use, uncollectedFree = uncollectedFree + :use',
      condition: ' AND uncollectedDay = :today AND uncollectedSilentAt = :silentAt AND uncollectedSilent <= :silent',
      values: {
        ':use': use,
        ':today': utcDay(nowMs),
        ':silentAt': raise.silentAtMs,
        ':silent': SILENT_DEADLINES_FREE,
      },
    };
  }
  const { set, condition } = raises[raise];
  const { allowancePicos = use, silentDeadline } = record;
  return {
    set,
    condition: condition + (silentDeadline ? ARE_SILENT : ''),
    values: {
      ':use': use,
      ':today': utcDay(nowMs),
      ...(raise === 'within' ? { ':most': allowancePicos - use } : { ':repaid': REPAID_TIMES * use }),
      ...(silentDeadline && { ':silent': SILENT_DEADLINES_MAX }),
    },
  };
};

/** Returns how the amount counts if the refused write found the hold open and the account in a state of its own. */
export const otherRaiseOf = (reply: WriteResult, record: ChargeRecord, nowMs: number): Raise | undefined => {
  if (possibleUseOf(record) === undefined || 'written' in reply || !reply.conditionFailed) return undefined;
  const account = toAccount(reply.conditionFailed);
  const { uncollected } = account;
  if (!account.holds.has(record.holdId)) return undefined;
  if (record.silentDeadline && uncollected?.day === utcDay(nowMs) && isTogether(uncollected, record.holdId, nowMs)) {
    const { silentDeadlines = 0, silentAtMs, freePicos } = uncollected;
    const mayBeFree = silentDeadlines <= SILENT_DEADLINES_FREE && freePicos !== undefined;
    if (mayBeFree && silentAtMs !== undefined) return { silentAtMs };
  }
  return isOnProbation(account) ? 'onProbation' : undefined;
};
