import type { CircuitStore } from '../../core/circuit/circuit-store.ts';
import { number, text } from './attributes.ts';
import type { CircuitCalls } from './circuit-calls.ts';
import { openingValues, setOpening, stateId, toState } from './circuit-items.ts';

const OWNED = 'probedBy = :owner';

/** The state item of a circuit: every write is conditional, and a probe's on its lease. */
export const createCircuitStates = ({
  update,
  holds,
  remove,
}: CircuitCalls): Pick<CircuitStore, 'open' | 'lease' | 'renew' | 'giveBack' | 'judge' | 'close'> => ({
  open: (key, opening, nowMs, expiresAtMs) =>
    holds(stateId(key), {
      UpdateExpression: `${setOpening} REMOVE probedBy, leaseUntil`,
      ConditionExpression: 'attribute_not_exists(pk) OR expiresAt <= :now',
      ExpressionAttributeValues: {
        ...openingValues(opening, expiresAtMs),
        ':now': number(Math.floor(nowMs / 1_000)),
      },
    }),
  lease: async (key, { owner, leaseUntilMs }, nowMs) => {
    const reply = await update(stateId(key), {
      UpdateExpression: 'SET probedBy = :owner, leaseUntil = :until',
      ConditionExpression: 'openUntil <= :now AND (attribute_not_exists(probedBy) OR leaseUntil <= :now)',
      ExpressionAttributeValues: { ':owner': text(owner), ':until': number(leaseUntilMs), ':now': number(nowMs) },
      ReturnValues: 'ALL_NEW',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    const leased = 'ok' in reply ? toState(reply.ok.Attributes, nowMs) : undefined;
    return leased ? { leased } : { refused: 'ok' in reply ? undefined : toState(reply.conditionFailed, nowMs) };
  },
  renew: (key, owner, leaseUntilMs) =>
    holds(stateId(key), {
      UpdateExpression: 'SET leaseUntil = :until',
      ConditionExpression: OWNED,
      ExpressionAttributeValues: { ':owner': text(owner), ':until': number(leaseUntilMs) },
    }),
  giveBack: (key, owner) =>
    holds(stateId(key), {
      UpdateExpression: 'REMOVE probedBy, leaseUntil',
      ConditionExpression: OWNED,
      ExpressionAttributeValues: { ':owner': text(owner) },
    }),
  judge: (key, owner, opening, expiresAtMs) =>
    holds(stateId(key), {
      UpdateExpression: `${setOpening} REMOVE probedBy, leaseUntil`,
      ConditionExpression: OWNED,
      ExpressionAttributeValues: { ...openingValues(opening, expiresAtMs), ':owner': text(owner) },
    }),
  close: (key, owner) => remove(stateId(key), OWNED, { ':owner': text(owner) }),
});
