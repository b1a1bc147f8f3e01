import type { Claim, ClaimRef, StoredAnswer } from './claim-store.ts';
import type { IdempotencyPorts } from './idempotency-ports.ts';
import { readPrepared } from './stored-answer.ts';

/** The answer of a claim, if the record of its hold has committed it. Throws StoreError. */
export const committedAnswer = async (
  { answers, ledger }: IdempotencyPorts,
  { accountId }: ClaimRef,
  { state, prepared }: Claim,
): Promise<StoredAnswer | undefined> => {
  if (!prepared) return undefined;
  if (state !== 'done') {
    const record = await ledger.store.readRecord(accountId, prepared.holdId);
    if (record?.answer !== prepared.hash) return undefined;
  }
  return readPrepared(answers, prepared);
};
