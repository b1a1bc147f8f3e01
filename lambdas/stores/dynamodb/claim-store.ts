import { StoreError } from '../../core/errors/store-error.ts';
import {
  type Claim,
  type ClaimRef,
  type ClaimReply,
  type ClaimRequest,
  type ClaimStore,
  type PreparedAnswer,
  type StoredResponse,
  toKnownClaim,
} from '../../core/idempotency/claim-store.ts';
import type { DynamoDB } from './dynamodb.ts';
import { type Item, readMap, readNumber, readText } from './item.ts';

export const claimKey = ({ accountId, keyHash }: ClaimRef): Item => ({ pk: `account#${accountId}#${keyHash}` });

/** Longer than any lease, so that an item is never removed while its request runs. */
const KEPT_LONGER_SECONDS = 3_600;

/** Time to live of the item, in Unix seconds. No condition reads it. */
const cleanedUpAt = (expiresAtMs: number) => Math.ceil(expiresAtMs / 1_000) + KEPT_LONGER_SECONDS;

const toClaimItem = (ref: ClaimRef, claim: Omit<Claim, 'prepared'>): Item => ({
  ...claimKey(ref),
  owner: claim.owner,
  leaseUntilMs: claim.leaseUntilMs,
  fingerprint: claim.fingerprint,
  state: claim.state,
  dispatches: claim.dispatches,
  expiresAtMs: claim.expiresAtMs,
  expiresAt: cleanedUpAt(claim.expiresAtMs),
});

const toClaim = (item: Item): Claim =>
  toKnownClaim(
    {
      owner: readText(item, 'owner'),
      leaseUntilMs: readNumber(item, 'leaseUntilMs'),
      fingerprint: readText(item, 'fingerprint'),
      dispatches: readNumber(item, 'dispatches'),
      expiresAtMs: readNumber(item, 'expiresAtMs'),
      prepared: item.prepared === undefined ? undefined : toPrepared(readMap(item, 'prepared')),
    },
    readText(item, 'state'),
  );

const toPreparedItem = ({ holdId, hash, content }: PreparedAnswer): Item => ({
  holdId,
  hash,
  ...('objectName' in content ? { objectName: content.objectName } : { answer: toAnswerItem(content) }),
});

const toAnswerItem = ({ status, headers, body }: StoredResponse): Item => ({
  status,
  headers: { ...headers },
  body,
});

const toPrepared = (item: Item): PreparedAnswer => ({
  holdId: readText(item, 'holdId'),
  hash: readText(item, 'hash'),
  content:
    item.objectName === undefined ? toAnswer(readMap(item, 'answer')) : { objectName: readText(item, 'objectName') },
});

const toAnswer = (item: Item): StoredResponse => {
  const headers = readMap(item, 'headers');
  return {
    status: readNumber(item, 'status'),
    headers: Object.fromEntries(Object.keys(headers).map((name) => [name, readText(headers, name)])),
    body: readText(item, 'body'),
  };
};

/** DynamoDB reserves both words. */
const claimNames = { '#owner': 'owner', '#state': 'state' };

/** Claim of this owner that is neither finished nor freed. */
const atWork = '#owner = :owner AND #state IN (:open, :prepared)';
const atWorkOf = (owner: string): Item => ({
  ':owner': owner,
  ':open': 'open',
  ':prepared': 'prepared',
});
const isAtWork = (claim: Claim, owner: string): boolean =>
  claim.owner === owner && (claim.state === 'open' || claim.state === 'prepared');

const expiryOf = (expiresAtMs: number): Item => ({
  ':expires': expiresAtMs,
  ':cleaned': cleanedUpAt(expiresAtMs),
});

interface Change {
  readonly ref: ClaimRef;
  readonly set: string;
  readonly remove?: string;
  readonly condition: string;
  readonly values: Item;
  /** Attributes that the result includes. DynamoDB does not charge for them, but they can be as large as a response. */
  readonly returns?: 'UPDATED_NEW';
}

type Changed = { readonly changed: Item } | { readonly refused: Claim | undefined };

/** Sends one conditional update. */
const changeClaim = async (
  db: DynamoDB,
  table: string,
  { ref, set, remove, condition, values, returns }: Change,
): Promise<Changed> => {
  const reply = await db.update({
    table,
    key: claimKey(ref),
    update: `SET ${set}${remove === undefined ? '' : ` REMOVE ${remove}`}`,
    condition,
    names: claimNames,
    values,
    returns: returns ?? 'NONE',
    onFailure: 'ALL_OLD',
  });
  if ('written' in reply) return { changed: reply.written };
  return { refused: reply.conditionFailed && toClaim(reply.conditionFailed) };
};

type TakeOver = Parameters<ClaimStore['takeOver']>[0];
type TakeOverReply = Awaited<ReturnType<ClaimStore['takeOver']>>;

const reopened = '#owner = :new, leaseUntilMs = :lease, #state = :open, expiresAtMs = :expires, expiresAt = :cleaned';
const reopenedAs = ({ owner, leaseUntilMs, expiresAtMs }: TakeOver | ClaimRequest): Item => ({
  ':new': owner,
  ':lease': leaseUntilMs,
  ':open': 'open',
  ...expiryOf(expiresAtMs),
});

/**
 * A new claim and one that counts a further dispatch are different writes. The item can change its state between them.
 */
const claim = async (db: DynamoDB, table: string, request: ClaimRequest): Promise<ClaimReply> => {
  for (let tried = 0; tried < 2; tried += 1) {
    const present = await claimAnew(db, table, request);
    if (!present) return { kind: 'claimed', dispatches: 1 };
    if (!mayGoOn(present, request)) return refusal(present, request);
    const reply = await claimFreed(db, table, request);
    if ('changed' in reply) return { kind: 'claimed', dispatches: readNumber(reply.changed, 'dispatches') };
    if (reply.refused) return refusal(reply.refused, request);
  }
  throw new StoreError('conflict', 'a claim was removed again and again');
};

const refusal = (present: Claim, { owner }: ClaimRequest): ClaimReply =>
  isOwn(present, owner) ? { kind: 'claimed', dispatches: present.dispatches } : { kind: 'refused', claim: present };

/** Returns the claim that blocks this one; undefined if the write succeeded. */
const claimAnew = async (db: DynamoDB, table: string, request: ClaimRequest): Promise<Claim | undefined> => {
  const reply = await db.put({
    table,
    item: toClaimItem(request, { ...request, state: 'open', dispatches: 1 }),
    condition: 'attribute_not_exists(pk) OR (expiresAtMs <= :now AND leaseUntilMs <= :now)',
    values: { ':now': request.nowMs },
    onFailure: 'ALL_OLD',
  });
  if ('written' in reply) return undefined;
  if (!reply.conditionFailed) throw new Error('a claim exists, but the store did not show it');
  return toClaim(reply.conditionFailed);
};

const mayGoOn = (present: Claim, { fingerprint, dispatchesMax }: ClaimRequest): boolean =>
  present.state === 'free' && present.fingerprint === fingerprint && present.dispatches < dispatchesMax;

const claimFreed = (db: DynamoDB, table: string, request: ClaimRequest): Promise<Changed> =>
  changeClaim(db, table, {
    ref: request,
    set: `${reopened}, dispatches = dispatches + :one`,
    returns: 'UPDATED_NEW',
    condition: '#state = :free AND fingerprint = :fingerprint AND dispatches < :most',
    values: {
      ...reopenedAs(request),
      ':one': 1,
      ':free': 'free',
      ':fingerprint': request.fingerprint,
      ':most': request.dispatchesMax,
    },
  });

const takeOver = async (db: DynamoDB, table: string, request: TakeOver): Promise<TakeOverReply> => {
  const reply = await changeClaim(db, table, {
    ref: request,
    set: `${reopened}, dispatches = dispatches + :one`,
    remove: 'prepared',
    returns: 'UPDATED_NEW',
    condition: `${atWork} AND leaseUntilMs <= :now`,
    values: {
      ...reopenedAs(request),
      ...atWorkOf(request.from),
      ':one': 1,
      ':now': request.nowMs,
    },
  });
  if ('changed' in reply) return { kind: 'taken', dispatches: readNumber(reply.changed, 'dispatches') };
  if (reply.refused && isOwn(reply.refused, request.owner))
    return { kind: 'taken', dispatches: reply.refused.dispatches };
  return { kind: 'refused', claim: reply.refused };
};

/** Whether the caller itself wrote this claim, in a call whose reply was lost. Each request has its own owner id. */
const isOwn = (claim: Claim, owner: string): boolean => claim.owner === owner && claim.state === 'open';

/** Claims on one table. The database can repeat a call. */
export const createClaimStore = (db: DynamoDB, table: string): ClaimStore => ({
  claim: (request) => claim(db, table, request),
  renew: async (ref, owner, leaseUntilMs) => {
    // An earlier renewal that arrives late must not shorten the lease. Its caller is still the owner.
    const reply = await changeClaim(db, table, {
      ref,
      set: 'leaseUntilMs = :lease',
      condition: `${atWork} AND leaseUntilMs <= :lease`,
      values: { ...atWorkOf(owner), ':lease': leaseUntilMs },
    });
    return 'changed' in reply || (reply.refused !== undefined && isAtWork(reply.refused, owner));
  },
  stageResponse: async (ref, owner, prepared, expiresAtMs) => {
    const reply = await changeClaim(db, table, {
      ref,
      set: '#state = :prepared, prepared = :answer, expiresAtMs = :expires, expiresAt = :cleaned',
      condition: atWork,
      values: { ...atWorkOf(owner), ':answer': toPreparedItem(prepared), ...expiryOf(expiresAtMs) },
    });
    return 'changed' in reply;
  },
  complete: async (ref, owner) => {
    const reply = await changeClaim(db, table, {
      ref,
      set: '#state = :done',
      condition: '#owner = :owner AND #state IN (:prepared, :done)',
      values: { ':owner': owner, ':prepared': 'prepared', ':done': 'done' },
    });
    return 'changed' in reply;
  },
  free: (ref, owner, dispatches) => free(db, table, ref, owner, dispatches),
  takeOver: (request) => takeOver(db, table, request),
  read: async (ref) => {
    const item = await db.get(table, claimKey(ref));
    return item && toClaim(item);
  },
});

const free = async (
  db: DynamoDB,
  table: string,
  ref: ClaimRef,
  owner: string,
  dispatches: number,
): Promise<boolean> => {
  if (dispatches > 0) {
    const reply = await changeClaim(db, table, {
      ref,
      set: '#state = :free, dispatches = :dispatches',
      remove: 'prepared',
      condition: atWork,
      values: { ...atWorkOf(owner), ':free': 'free', ':dispatches': dispatches },
    });
    return 'changed' in reply;
  }
  const reply = await db.delete({
    table,
    key: claimKey(ref),
    condition: atWork,
    names: claimNames,
    values: atWorkOf(owner),
  });
  return 'written' in reply;
};
