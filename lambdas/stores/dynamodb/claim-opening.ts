import { type DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { StoreError } from '../../core/errors/store-error.ts';
import type { Claim, ClaimReply, ClaimRequest, ClaimStore } from '../../core/idempotency/claim-store.ts';
import { type Item, number, readNumber, text } from './attributes.ts';
import { toClaim, toClaimItem } from './claim-item.ts';
import { atWork, atWorkOf, type Changed, changeClaim, expiryOf } from './claim-update.ts';
import { send } from './failures.ts';

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
export const claim = async (client: DynamoDBClient, table: string, request: ClaimRequest): Promise<ClaimReply> => {
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

export const takeOver = async (client: DynamoDBClient, table: string, request: TakeOver): Promise<TakeOverReply> => {
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
