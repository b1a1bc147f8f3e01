import {
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { StoreError } from '../../core/errors/store-error.ts';
import type {
  Claim,
  ClaimRef,
  ClaimReply,
  ClaimRequest,
  ClaimStore,
  PreparedAnswer,
  StoredAnswer,
} from '../../core/idempotency/claim-store.ts';
import { type Item, number, readMap, readNumber, readText, text } from './attributes.ts';
import { send } from './failures.ts';

export const claimKey = ({ accountId, keyHash }: ClaimRef): Item => ({ pk: text(`account#${accountId}#${keyHash}`) });

/** Longer than any lease, so that an item is never cleaned away under a request that outlives its key. */
const KEPT_LONGER_SECONDS = 3_600;

/** When the table may clean up, in seconds as its time to live wants them. No condition looks at it. */
const cleanedUpAt = (expiresAtMs: number) => number(Math.ceil(expiresAtMs / 1_000) + KEPT_LONGER_SECONDS);

const toClaimItem = (ref: ClaimRef, claim: Omit<Claim, 'prepared'>): Item => ({
  ...claimKey(ref),
  owner: text(claim.owner),
  leaseUntilMs: number(claim.leaseUntilMs),
  fingerprint: text(claim.fingerprint),
  state: text(claim.state),
  dispatches: number(claim.dispatches),
  expiresAtMs: number(claim.expiresAtMs),
  expiresAt: cleanedUpAt(claim.expiresAtMs),
});

const toClaim = (item: Item): Claim => ({
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

const toPreparedItem = ({ holdId, hash, content }: PreparedAnswer): Item => ({
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

/** DynamoDB reserves both words. */
const claimNames = { '#owner': 'owner', '#state': 'state' };

/** Of this owner, and neither finished nor freed. */
const atWork = '#owner = :owner AND #state IN (:open, :prepared)';
const atWorkOf = (owner: string): Item => ({
  ':owner': text(owner),
  ':open': text('open'),
  ':prepared': text('prepared'),
});
const isAtWork = (claim: Claim, owner: string): boolean =>
  claim.owner === owner && (claim.state === 'open' || claim.state === 'prepared');

const expiryOf = (expiresAtMs: number): Item => ({
  ':expires': number(expiresAtMs),
  ':cleaned': cleanedUpAt(expiresAtMs),
});

interface Change {
  readonly ref: ClaimRef;
  readonly set: string;
  readonly remove?: string;
  readonly condition: string;
  readonly values: Item;
  /** What was set comes back. It costs nothing to ask, but an answer may be among it. */
  readonly returns?: 'UPDATED_NEW';
}

type Changed = { readonly changed: Item } | { readonly refused: Claim | undefined };

/** One conditional update. */
const changeClaim = async (
  client: DynamoDBClient,
  table: string,
  { ref, set, remove, condition, values, returns }: Change,
): Promise<Changed> => {
  const reply = await send(() =>
    client.send(
      new UpdateItemCommand({
        TableName: table,
        Key: claimKey(ref),
        UpdateExpression: `SET ${set}${remove === undefined ? '' : ` REMOVE ${remove}`}`,
        ConditionExpression: condition,
        ExpressionAttributeNames: claimNames,
        ExpressionAttributeValues: values,
        ReturnValues: returns ?? 'NONE',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    ),
  );
  if ('ok' in reply) return { changed: reply.ok.Attributes ?? {} };
  return { refused: reply.conditionFailed && toClaim(reply.conditionFailed) };
};

type TakeOver = Parameters<ClaimStore['takeOver']>[0];
type TakeOverReply = Awaited<ReturnType<ClaimStore['takeOver']>>;

const reopened = '#owner = :new, leaseUntilMs = :lease, #state = :open, expiresAtMs = :expires, expiresAt = :cleaned';
const reopenedAs = ({ owner, leaseUntilMs, expiresAtMs }: TakeOver | ClaimRequest): Item => ({
  ':new': text(owner),
  ':lease': number(leaseUntilMs),
  ':open': text('open'),
  ...expiryOf(expiresAtMs),
});

/** A claim that starts at one dispatch and one that counts on are two writes; between them the item may change its kind. */
const claim = async (client: DynamoDBClient, table: string, request: ClaimRequest): Promise<ClaimReply> => {
  for (let tried = 0; tried < 2; tried += 1) {
    const present = await claimAnew(client, table, request);
    if (!present) return { kind: 'claimed', dispatches: 1 };
    if (!mayGoOn(present, request)) return refusal(present, request);
    const reply = await claimFreed(client, table, request);
    if ('changed' in reply) return { kind: 'claimed', dispatches: readNumber(reply.changed, 'dispatches') };
    if (reply.refused) return refusal(reply.refused, request);
  }
  throw new StoreError('conflict', 'a claim was removed again and again');
};

const refusal = (present: Claim, { owner }: ClaimRequest): ClaimReply =>
  isOwn(present, owner) ? { kind: 'claimed', dispatches: present.dispatches } : { kind: 'refused', claim: present };

/** Answers the claim that stands in the way. */
const claimAnew = async (client: DynamoDBClient, table: string, request: ClaimRequest): Promise<Claim | undefined> => {
  const reply = await send(() =>
    client.send(
      new PutItemCommand({
        TableName: table,
        Item: toClaimItem(request, { ...request, state: 'open', dispatches: 1 }),
        ConditionExpression: 'attribute_not_exists(pk) OR (expiresAtMs <= :now AND leaseUntilMs <= :now)',
        ExpressionAttributeValues: { ':now': number(request.nowMs) },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    ),
  );
  if ('ok' in reply) return undefined;
  if (!reply.conditionFailed) throw new Error('a claim exists, but the store did not show it');
  return toClaim(reply.conditionFailed);
};

const mayGoOn = (present: Claim, { fingerprint, dispatchesMax }: ClaimRequest): boolean =>
  present.state === 'free' && present.fingerprint === fingerprint && present.dispatches < dispatchesMax;

const claimFreed = (client: DynamoDBClient, table: string, request: ClaimRequest): Promise<Changed> =>
  changeClaim(client, table, {
    ref: request,
    set: `${reopened}, dispatches = dispatches + :one`,
    returns: 'UPDATED_NEW',
    condition: '#state = :free AND fingerprint = :fingerprint AND dispatches < :most',
    values: {
      ...reopenedAs(request),
      ':one': number(1),
      ':free': text('free'),
      ':fingerprint': text(request.fingerprint),
      ':most': number(request.dispatchesMax),
    },
  });

const takeOver = async (client: DynamoDBClient, table: string, request: TakeOver): Promise<TakeOverReply> => {
  const reply = await changeClaim(client, table, {
    ref: request,
    set: `${reopened}, dispatches = dispatches + :one`,
    remove: 'prepared',
    returns: 'UPDATED_NEW',
    condition: `${atWork} AND leaseUntilMs <= :now`,
    values: {
      ...reopenedAs(request),
      ...atWorkOf(request.from),
      ':one': number(1),
      ':now': number(request.nowMs),
    },
  });
  if ('changed' in reply) return { kind: 'taken', dispatches: readNumber(reply.changed, 'dispatches') };
  if (reply.refused && isOwn(reply.refused, request.owner))
    return { kind: 'taken', dispatches: reply.refused.dispatches };
  return { kind: 'refused', claim: reply.refused };
};

/** The caller's own write whose reply was lost: nobody else ever has that owner. */
const isOwn = (claim: Claim, owner: string): boolean => claim.owner === owner && claim.state === 'open';

/** Claims on one table. The client may repeat a call. */
export const createClaimStore = (client: DynamoDBClient, table: string): ClaimStore => ({
  claim: (request) => claim(client, table, request),
  renew: async (ref, owner, leaseUntilMs) => {
    // An earlier renewal that lands late must not shorten the lease; its caller is the owner all the same.
    const reply = await changeClaim(client, table, {
      ref,
      set: 'leaseUntilMs = :lease',
      condition: `${atWork} AND leaseUntilMs <= :lease`,
      values: { ...atWorkOf(owner), ':lease': number(leaseUntilMs) },
    });
    return 'changed' in reply || (reply.refused !== undefined && isAtWork(reply.refused, owner));
  },
  prepare: async (ref, owner, prepared, expiresAtMs) => {
    const reply = await changeClaim(client, table, {
      ref,
      set: '#state = :prepared, prepared = :answer, expiresAtMs = :expires, expiresAt = :cleaned',
      condition: atWork,
      values: { ...atWorkOf(owner), ':answer': { M: toPreparedItem(prepared) }, ...expiryOf(expiresAtMs) },
    });
    return 'changed' in reply;
  },
  complete: async (ref, owner) => {
    const reply = await changeClaim(client, table, {
      ref,
      set: '#state = :done',
      condition: '#owner = :owner AND #state IN (:prepared, :done)',
      values: { ':owner': text(owner), ':prepared': text('prepared'), ':done': text('done') },
    });
    return 'changed' in reply;
  },
  free: (ref, owner, dispatches) => free(client, table, ref, owner, dispatches),
  takeOver: (request) => takeOver(client, table, request),
  read: async (ref) => {
    const reply = await send(() =>
      client.send(new GetItemCommand({ TableName: table, Key: claimKey(ref), ConsistentRead: true })),
    );
    return 'ok' in reply && reply.ok.Item ? toClaim(reply.ok.Item) : undefined;
  },
});

const free = async (
  client: DynamoDBClient,
  table: string,
  ref: ClaimRef,
  owner: string,
  dispatches: number,
): Promise<boolean> => {
  if (dispatches > 0) {
    const reply = await changeClaim(client, table, {
      ref,
      set: '#state = :free, dispatches = :dispatches',
      remove: 'prepared',
      condition: atWork,
      values: { ...atWorkOf(owner), ':free': text('free'), ':dispatches': number(dispatches) },
    });
    return 'changed' in reply;
  }
  const reply = await send(() =>
    client.send(
      new DeleteItemCommand({
        TableName: table,
        Key: claimKey(ref),
        ConditionExpression: atWork,
        ExpressionAttributeNames: claimNames,
        ExpressionAttributeValues: atWorkOf(owner),
      }),
    ),
  );
  return 'ok' in reply;
};
