import type { CloudEvent } from '../../core/event-publisher.ts';
import { requestIdOf } from '../../core/ledger/hold.ts';
import type { ChargeRecord } from '../../core/ledger/ledger.ts';
import type { WrittenCharge } from '../../core/ledger/records.ts';
import { formatUsd } from '../../core/money/usd.ts';
import { toUsageRow, type UsageRow } from './usage-row.ts';

/** Types of usage events. Another form of the data gets another type. */
export const USAGE_RECORDED = 'usage.recorded.v1';
export const USAGE_UNREADABLE = 'usage.unreadable.v1';

/** Receipt of `GET /api/usage`, and the fields that only an operator sees. */
export interface UsageData extends UsageRow {
  readonly account_id: string;
  /** Provider's bill by the catalog: a decimal string in USD. Null if it is not known, as in a released request. */
  readonly provider_cost_usd: string | null;
}

/** Names a charge record that this release cannot read. Its receipt must be read in another way. */
export interface UnreadableData {
  readonly account_id: string;
  readonly request_id: string;
}

export type UsageEvent = CloudEvent &
  (
    | { readonly type: typeof USAGE_RECORDED; readonly data: UsageData }
    | { readonly type: typeof USAGE_UNREADABLE; readonly data: UnreadableData }
  );

/**
 * Returns the event of a charge record (OPS-20). The id derives from the record, so every delivery has the same one.
 * Returns undefined for an id that was closed while its request placed a hold: that request continued under another id
 * or was rejected, so no receipt shows it.
 */
export const toUsageEvent = (written: WrittenCharge, source: string): UsageEvent | undefined => {
  const { accountId, holdId, record } = written;
  if (record?.reason === 'given_up') return undefined;
  const requestId = requestIdOf(holdId);
  const envelope = {
    specversion: '1.0',
    id: `${accountId}/${holdId}`,
    source,
    subject: requestId,
    datacontenttype: 'application/json',
  } as const;
  const recorded = record && toDataOrUndefined(record);
  return recorded
    ? { ...envelope, ...recorded, type: USAGE_RECORDED }
    : { ...envelope, type: USAGE_UNREADABLE, data: { account_id: accountId, request_id: requestId } };
};

/** A record whose times or amounts are impossible is as unreadable as one without them. */
const toDataOrUndefined = (record: ChargeRecord): { readonly time: string; readonly data: UsageData } | undefined => {
  try {
    return {
      time: new Date(record.at).toISOString(),
      data: {
        account_id: record.accountId,
        ...toUsageRow(record),
        provider_cost_usd: record.costPicos === undefined ? null : formatUsd(record.costPicos),
      },
    };
  } catch {
    return undefined;
  }
};
