import type { Claim, ClaimRef, PreparedAnswer, StoredAnswer } from '../../core/idempotency/claim-store.ts';
import { type Item, number, readMap, readNumber, readText, text } from './attributes.ts';

export const claimKey = ({ accountId, keyHash }: ClaimRef): Item => ({ pk: text(`account#${accountId}#${keyHash}`) });

/** Longer than any lease, so that an item is never cleaned away under a request that outlives its key. */
const KEPT_LONGER_SECONDS = 3_600;

/** When the table may clean up, in seconds as its time to live wants them. No condition looks at it. */
export const cleanedUpAt = (expiresAtMs: number) => number(Math.ceil(expiresAtMs / 1_000) + KEPT_LONGER_SECONDS);

export const toClaimItem = (ref: ClaimRef, claim: Omit<Claim, 'prepared'>): Item => ({
  ...claimKey(ref),
  owner: text(claim.owner),
  leaseUntilMs: number(claim.leaseUntilMs),
  fingerprint: text(claim.fingerprint),
  state: text(claim.state),
  dispatches: number(claim.dispatches),
  expiresAtMs: number(claim.expiresAtMs),
  expiresAt: cleanedUpAt(claim.expiresAtMs),
});

export const toClaim = (item: Item): Claim => ({
  owner: readText(item, 'owner'),
  leaseUntilMs: readNumber(item, 'leaseUntilMs'),
  fingerprint: readText(item, 'fingerprint'),
  state: toState(readText(item, 'state')),
  dispatches: readNumber(item, 'dispatches'),
  expiresAtMs: readNumber(item, 'expiresAtMs'),
  prepared: item.prepared === undefined ? undefined : toPrepared(readMap(item, 'prepared')),
});

const toState = (value: string): Claim['state'] => {
  if (value === 'open' || value === 'prepared' || value === 'done' || value === 'free') return value;
  throw new Error(`a stored claim has the unknown state "${value}"`);
};

export const toPreparedItem = ({ holdId, hash, content }: PreparedAnswer): Item => ({
  holdId: text(holdId),
  hash: text(hash),
  ...('objectName' in content ? { objectName: text(content.objectName) } : { answer: { M: toAnswerItem(content) } }),
});

const toAnswerItem = ({ status, headers, body }: StoredAnswer): Item => ({
  status: number(status),
  headers: { M: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, text(value)])) },
  body: text(body),
});

const toPrepared = (item: Item): PreparedAnswer => ({
  holdId: readText(item, 'holdId'),
  hash: readText(item, 'hash'),
  content:
    item.objectName === undefined ? toAnswer(readMap(item, 'answer')) : { objectName: readText(item, 'objectName') },
});

const toAnswer = (item: Item): StoredAnswer => {
  const headers = readMap(item, 'headers');
  return {
    status: readNumber(item, 'status'),
    headers: Object.fromEntries(Object.keys(headers).map((name) => [name, readText(headers, name)])),
    body: readText(item, 'body'),
  };
};
