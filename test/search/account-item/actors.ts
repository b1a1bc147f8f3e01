import { type Call, EPOCH, type Hold, type Item, type MoneyCall, type Outcome, type Reply } from './item.ts';

/** Result of a call. Undefined: no reply came, so the call may have been executed, or may be later. */
export type Received = Reply | undefined;

/** An actor makes one call at a time. It is restarted with its list of replies, so it keeps no state. */
export type Actor = (clock: () => number) => Generator<Call, string, Received>;

const TRIES = 2;

/** Repeats a call that is safe to repeat. Returns undefined if no try has a reply. */
function* repeated(call: Call): Generator<Call, Received, Received> {
  for (let tried = 0; tried < TRIES; tried += 1) {
    const reply = yield call;
    if (reply) return reply;
  }
  return undefined;
}

interface Release {
  readonly withoutCaps?: true;
  /** Whether the release writes statements. */
  readonly months?: true;
}

function* commitAndApply(
  record: Outcome,
  hold: Hold,
  clock: () => number,
  { months, ...release }: Release = {},
): Generator<Call, Outcome | undefined, Received> {
  const committed = (yield* repeated({ kind: 'record', record }))?.record;
  if (!committed) return undefined;
  const call = { kind: 'apply', record: committed, hold, day: clock(), ...release } as const;
  if (months) yield* inMonths(call, clock);
  else yield* repeated(call);
  return committed;
}

/** Makes a call, and then the slow write if the account is in another month. */
function* inMonths(call: Exclude<MoneyCall, { kind: 'read' }>, clock: () => number): Generator<Call, void, Received> {
  for (let tried = 0; tried < TRIES; tried += 1) {
    const day = clock();
    const reply = yield { ...call, day };
    if (reply?.done || (reply && !mayBeSlow(reply.item, call, day))) return;
    if (reply && (yield { kind: 'replace', before: reply.item, write: call, day })?.done) return;
  }
}

const mayBeSlow = ({ holds, months }: Item, call: MoneyCall, day: number): boolean =>
  call.kind === 'apply' ? holds[call.record.id]?.amount === call.hold.amount : months?.month !== day;

/** Result of a request, with its id. */
export type RequestResult = `${'success' | 'failed' | 'unknown' | 'refused'} ${string}`;

export interface RequestPlan {
  readonly id: string;
  readonly amount: number;
  readonly charge: number;
  /** Cost of a release that counts against the allowance. */
  readonly uncollected?: number;
  readonly key?: string;
  /** Whether its release writes statements. */
  readonly months?: true;
}

/** A paid request: hold, provider call, record, apply. Each hold id is sent once. */
export const request = (plan: RequestPlan): Actor =>
  function* play(clock) {
    const uncertain: string[] = [];
    let cap: WantedCap = plan.key === undefined ? undefined : { key: plan.key, period: clock() };
    for (let number = 0; number < 3; number += 1) {
      const day = clock();
      const reply = yield toHold(plan, number, day, cap);
      if (!reply) {
        uncertain.push(idOf(plan, number));
        continue;
      }
      const held = heldBy(reply, idOf(plan, number), uncertain);
      if (held !== undefined) {
        yield* giveUp(uncertain.filter((id) => id !== held));
        return yield* finish(plan, held, reply.item.holds[held] ?? { amount: plan.amount }, clock);
      }
      const next = capFor(reply.item, plan, clock());
      if (JSON.stringify(next) === JSON.stringify(cap)) break;
      cap = next;
    }
    yield* giveUp(uncertain);
    return `refused ${plan.id}` satisfies RequestResult;
  };

const idOf = ({ id }: RequestPlan, number: number): string => `${id}.${number}`;

type WantedCap = Extract<Call, { kind: 'hold' }>['cap'];

const toHold = (plan: RequestPlan, number: number, day: number, cap: WantedCap): Call => ({
  kind: 'hold',
  id: idOf(plan, number),
  previous: number === 0 ? undefined : idOf(plan, number - 1),
  amount: plan.amount,
  day,
  ...(cap && { cap }),
});

const heldBy = ({ done, item }: Reply, id: string, uncertain: readonly string[]): string | undefined =>
  done ? id : uncertain.find((one) => item.holds[one]);

/** Condition for the cap of the item. A period after the day of the request is the present one. */
const capFor = ({ caps }: Item, { key = '' }: RequestPlan, day: number): WantedCap => {
  const cap = caps[key];
  if (!cap) return undefined;
  const period = Math.max(cap.period, cap.period - (cap.period % EPOCH) + day);
  return period === cap.period ? { key, period } : { key, period, ends: cap.period };
};

function* finish(
  { id: requestId, charge, uncollected, months }: RequestPlan,
  id: string,
  hold: Hold,
  clock: () => number,
): Generator<Call, RequestResult, Received> {
  const ending = uncollected === undefined ? { charge, success: true } : { charge: 0, success: false, uncollected };
  const record = { id, ...ending, ...(hold.cap && { cap: hold.cap }) };
  const committed = yield* commitAndApply(record, hold, clock, months && { months });
  if (!committed) return `unknown ${requestId}`;
  return `${committed.success ? 'success' : 'failed'} ${requestId}`;
}

/** Writes a released record for each id that may still be held, so that no charge of it can follow. */
function* giveUp(ids: readonly string[]): Generator<Call, void, Received> {
  for (const id of ids) yield* repeated({ kind: 'record', record: { id, charge: 0, success: false } });
}

const sweeperOf = (release: Release): Actor =>
  function* play(clock) {
    const reply = yield { kind: 'read' };
    for (const [id, hold] of Object.entries(reply?.item.holds ?? {}))
      yield* commitAndApply({ id, charge: 0, success: false }, hold, clock, release);
    return 'swept';
  };

/** Ends every hold that it sees, at any time: an expiry can be at any moment. */
export const sweeper = sweeperOf({});

export const sweeperInMonths = sweeperOf({ months: true });

/** Sweeper of a release that cannot read caps. Also a takeover of that release makes these calls. */
export const sweeperWithoutCaps = sweeperOf({ withoutCaps: true });

/** Makes changes of credit in their order, each in the month of the account. */
export const operatorInMonths = (...calls: readonly Exclude<MoneyCall, { kind: 'read' }>[]): Actor =>
  function* play(clock) {
    for (const call of calls) yield* inMonths(call, clock);
    return 'done';
  };

/** Reads a statement. If a month is over, it closes the month first. */
export const reader: Actor = function* play(clock) {
  for (let tried = 0; tried < TRIES; tried += 1) {
    const before = (yield { kind: 'read' })?.item;
    const day = clock();
    if (!before?.months || before.months.month >= day) continue;
    if ((yield { kind: 'replace', before, write: { kind: 'read' }, day })?.done) return 'read';
  }
  return 'read';
};

/** Makes calls of an operator or a payment provider in their order, each until it has a reply. */
export const operator = (...calls: readonly Call[]): Actor =>
  function* play() {
    for (const call of calls) yield* repeated(call);
    return 'done';
  };
