import { setTimeout as sleep } from 'node:timers/promises';
import type { Account } from '../../../lambdas/core/ledger/ledger.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { errorSchema } from '../../support/gateway-chat.ts';
import { until } from '../../support/gateway-process.ts';
import type { ServerGroup } from '../../support/server-group.ts';
import { capComplaints } from '../capped-account.ts';
import { isGood, postUntilDeath, type Received } from './client.ts';
import { orderOf, type Round } from './life.ts';
import { ADDRESS, CHECK, RECORD, RENEW } from './scenarios.ts';

const LIMIT_MS = 60_000;

/** Repeats a request with an idempotency key until its claim is free or its response is stored (IDEM-4). */
export async function repeatUntilAnswered(server: TestGateway, round: Round): Promise<Received> {
  return until(
    `a response for the key of ${nameOf(round)}`,
    async () => {
      const received = await postUntilDeath(server.url, '127.0.0.1', orderOf(round));
      // On a busy machine the provider may exceed its deadline, and a store its time. The request then frees its claim.
      const busy = [503, 504].includes(received.status) || codeOf(received) === 'idempotency_in_progress';
      if (busy) await sleep(200);
      return busy ? undefined : received;
    },
    LIMIT_MS,
  );
}

const codeOf = ({ text }: Received): string | undefined =>
  errorSchema.safeParse(JSON.parse(text || 'null')).data?.error.code;

export const nameOf = ({ number, scenario, point, capped, endsDay }: Round): string => {
  const where =
    point === undefined
      ? 'at random'
      : point.kind === 'call'
        ? `${point.side} ${point.name}`
        : `after ${point.events} events`;
  const cap = capped ? `, with a cap${endsDay ? ' whose day ends' : ''}` : '';
  return `round ${number}, ${scenario.title}, killed ${where}${cap}`;
};

/** Whether the charge was committed. Undefined if the progress of the request is unknown. */
const isCommitted = ({ scenario, point, met }: Round): boolean | undefined => {
  if (point === undefined || !met) return undefined;
  if (point.kind === 'vendor') return false;
  const { name, side } = point;
  // A late record is executed after another process has ended the hold.
  if (name === RECORD) return side === 'after';
  if (name === 'accounts apply' || name === 'idempotency complete') return true;
  return scenario.calls.includes(name) && !atOnce(name) ? false : undefined;
};

/** Whether few requests or none wait for this call. Its server is killed when the call arrives. */
export const atOnce = (name: string): boolean => [ADDRESS, RENEW, CHECK].includes(name);

export const untilSwept = (group: ServerGroup, round: Round): Promise<Account> =>
  until(
    `the end of the holds of ${nameOf(round)}`,
    async () => {
      const now = await group.store.readAccount(round.account.accountId);
      return now?.holds.size === 0 ? now : undefined;
    },
    LIMIT_MS,
  );

export interface Verdict {
  readonly complaints: readonly string[];
  readonly charges: number;
  readonly served: boolean;
}

/** Returns the problems of a round after its holds have ended. `repeats`: the responses to its repeats. */
export async function judge(
  group: ServerGroup,
  round: Round,
  terms: { readonly fundsPicos: bigint; readonly pricePicos: bigint; readonly repeats: readonly Received[] },
): Promise<Verdict> {
  const { accountId } = round.account;
  const account = await untilSwept(group, round);
  const { findings, stable } = await group.audit(accountId);
  const records = await group.recordsOf(accountId);
  const settled = records.filter(({ outcome }) => outcome === 'settled');
  const ofCap = round.capped ? capComplaints(account, records, round.capped) : [];
  const { fundsPicos, pricePicos, repeats } = terms;
  const served = round.received !== undefined && isGood(round.received);
  const committed = isCommitted(round);
  const due = round.scenario.keyed || served || committed ? 1 : committed === undefined ? undefined : 0;
  const rules: readonly (readonly [string, boolean])[] = [
    [`the audit finds ${findings.map(({ message }) => message)}`, findings.length === 0 && stable],
    [
      `${settled.length} charges, due ${due ?? '0 or 1'}`,
      settled.length <= 1 && settled.length === (due ?? settled.length),
    ],
    [
      `the charges are ${settled.map(({ amountPicos }) => amountPicos)}`,
      settled.every((one) => one.amountPicos === pricePicos),
    ],
    [ofCap.join(', '), ofCap.length === 0],
    [`spent ${account.spentPicos}`, account.spentPicos === pricePicos * BigInt(settled.length)],
    [`available ${account.availablePicos}`, account.availablePicos === fundsPicos - account.spentPicos],
    ...(round.scenario.keyed ? keyRules(round, repeats, served, committed) : []),
  ];
  const complaints = rules.filter(([, holds]) => !holds).map(([complaint]) => `${nameOf(round)}: ${complaint}`);
  return { complaints, charges: settled.length, served };
}

const keyRules = (
  { received, vendorCalls }: Round,
  repeats: readonly Received[],
  served: boolean,
  committed: boolean | undefined,
): readonly (readonly [string, boolean])[] => {
  const bodies = new Set([...(served && received ? [received] : []), ...repeats].map(({ text }) => text));
  const fresh = repeats.filter(({ headers }) => headers['idempotent-replayed'] === undefined).length;
  const got = repeats.map(({ status, text }) => `${status} ${text.slice(0, 120)}`);
  const once = served || committed === true;
  return [
    [`the repeats got ${got}`, repeats.length > 0 && repeats.every(isGood)],
    [`${bodies.size} different responses`, bodies.size === 1],
    [`${fresh} of the repeats were executed again`, fresh <= (once ? 0 : 1)],
    [`the provider was called ${vendorCalls.length} times`, vendorCalls.length === 1 || !once],
  ];
};
