import type { Actor, Received } from './actors.ts';
import { ALLOWANCE, type Call, type Clause, costOf, execute, HOLDS_MAX, type Hold, type Tables } from './item.ts';
import { monthsProblemOf } from './months.ts';

export interface Configuration {
  readonly id: string;
  readonly actors: readonly Actor[];
  readonly tables: Tables;
  /** Calls without a reply, or executed twice. */
  readonly faults: number;
  readonly crashes: number;
  /** Number of times that a day, and with it a period, ends. */
  readonly days: number;
}

export interface Found {
  readonly states: number;
  readonly ends: number;
  readonly violation: string | undefined;
}

interface ActorState {
  /** Replies so far, and the time at which each call was made. */
  readonly replies: readonly Received[];
  readonly times: readonly number[];
  readonly crashed: boolean;
}

interface State {
  readonly tables: Tables;
  readonly actors: readonly ActorState[];
  /** Calls whose caller has given them up. Each can be executed at any time, once. */
  readonly late: readonly Call[];
  readonly day: number;
  readonly faults: number;
  readonly crashes: number;
}

/** Visits every state: any call may be executed next, late, twice or without a reply, and any actor may crash. */
export const explore = (configuration: Configuration, without?: Clause): Found => {
  const first: State = {
    tables: configuration.tables,
    actors: configuration.actors.map(() => ({ replies: [], times: [0], crashed: false })),
    late: [],
    day: 0,
    faults: configuration.faults,
    crashes: configuration.crashes,
  };
  const seen = new Set<string>();
  const stack: State[] = [];
  const keep = (state: State): void => {
    const text = JSON.stringify(state);
    if (seen.has(text)) return;
    seen.add(text);
    stack.push(state);
  };
  keep(first);
  let ends = 0;
  for (let state = stack.pop(); state; state = stack.pop()) {
    const waiting = state.actors.map((actor, index) => callOf(configuration.actors[index]!, actor));
    const isEnd = waiting.every((call) => 'result' in call);
    const violation =
      problemOf(state.tables) ??
      monthsProblemOf(state.tables) ??
      resultProblemOf(waiting, state.tables) ??
      (isEnd && state.late.length === 0 ? closingProblemOf(state.tables, without) : undefined);
    if (violation !== undefined) return { states: seen.size, ends, violation };
    if (isEnd) ends += 1;
    nextStates(state, waiting, configuration, without).forEach(keep);
  }
  return { states: seen.size, ends, violation: undefined };
};

type Waiting = { readonly call: Call } | { readonly result: string };

const callOf = (actor: Actor, { replies, times, crashed }: ActorState): Waiting => {
  if (crashed) return { result: 'crashed' };
  let at = 0;
  const running = actor(() => times[at] ?? 0);
  let step = running.next();
  for (const reply of replies) {
    if (step.done) break;
    at += 1;
    step = running.next(reply);
  }
  return step.done ? { result: step.value } : { call: step.value };
};

const nextStates = (
  state: State,
  waiting: readonly Waiting[],
  { days }: Configuration,
  without: Clause | undefined,
): State[] => {
  const next: State[] = [];
  const run = (call: Call) => {
    const tables = structuredClone(state.tables);
    return { tables, reply: execute(tables, call, without) };
  };
  waiting.forEach((one, index) => {
    if ('result' in one) return;
    const { call } = one;
    const answered = (reply: Received) =>
      state.actors.map((actor, other) =>
        other === index ? { ...actor, replies: [...actor.replies, reply], times: [...actor.times, state.day] } : actor,
      );
    const { tables, reply } = run(call);
    next.push({ ...state, tables, actors: answered(reply) });
    if (state.crashes > 0) {
      const actors = state.actors.map((actor, other) => (other === index ? { ...actor, crashed: true } : actor));
      next.push({ ...state, actors, late: [...state.late, call], crashes: state.crashes - 1 });
    }
    if (state.faults === 0 || call.kind === 'read') return;
    const faults = state.faults - 1;
    next.push({ ...state, tables, actors: answered(undefined), faults });
    next.push({ ...state, actors: answered(undefined), late: [...state.late, call], faults });
    // The store's client never sends a hold twice.
    if (call.kind !== 'hold')
      next.push({ ...state, tables, actors: answered(reply), late: [...state.late, call], faults });
  });
  state.late.forEach((call, index) => {
    next.push({ ...state, tables: run(call).tables, late: state.late.toSpliced(index, 1) });
  });
  if (state.day < days) next.push({ ...state, day: state.day + 1 });
  return next;
};

const requestOf = ({ id }: { readonly id: string }): string => id.split('.')[0] ?? '';

const sum = (amounts: readonly number[]): number => amounts.reduce((all, one) => all + one, 0);

/** Returns what is wrong in the tables. */
const problemOf = ({ item, records, credits, returns, others, counted }: Tables): string | undefined => {
  const holds = Object.entries(item.holds);
  const closed = Object.values(records).filter(({ id }) => !item.holds[id]);
  const charges = Object.values(records).filter(({ success }) => success);
  const charged = sum(closed.map(({ charge }) => charge));
  const returned = sum(Object.values(credits).map((credit) => credit.returned));
  const taken = sum(Object.values(returns).map(({ amount }) => amount));
  const net =
    sum(Object.values(credits).map(({ amount }) => amount)) -
    taken +
    sum(Object.values(others).map(({ change }) => change));
  const reversed = Object.values(returns).filter((one) => one.reversed);
  /** Money that was taken back can be held or spent already, except by a debit that must be covered. */
  const wasTaken = taken > 0 || Object.values(others).some(({ change, covered }) => change < 0 && !covered);
  const reversals = Object.values(others).filter(({ change }) => change > 0);
  const openReturns = sum(Object.values(returns).map(({ amount, reversed }) => (reversed ? 0 : amount)));
  const isCapWrong = Object.entries(item.caps).some(([key, { left, limit, period }]) => {
    const counts = ({ cap }: Pick<Hold, 'cap'>): boolean => cap?.key === key && cap.period === period;
    const held = sum(
      Object.values(item.holds)
        .filter(counts)
        .map(({ amount }) => amount),
    );
    return left + held + sum(closed.filter(counts).map(({ charge }) => charge)) !== limit;
  });
  const cost = costOf(counted, item.uncollected.day);
  const isExact = !Object.values(counted).some(({ isBehind }) => isBehind);
  const problems: readonly (readonly [string, boolean])[] = [
    [
      'available plus held is not the balance',
      item.available + sum(holds.map(([, { amount }]) => amount)) !== item.credited - item.spent,
    ],
    ['spent is not the sum of the charges', item.spent !== charged],
    ['credited is not the net sum of credits', item.credited !== net],
    ['returned is not the sum of the open returns', returned !== openReturns],
    ['a refund is reversed', reversed.some(({ type }) => type === 'refund')],
    ['the reversals are not those of the chargebacks', reversals.length !== reversed.length],
    ['more is returned than was credited', Object.values(credits).some((one) => one.returned > one.amount)],
    ['there are too many holds', holds.length > HOLDS_MAX],
    ['a request has two charges', new Set(charges.map(requestOf)).size < charges.length],
    ['the money that can be spent is below zero', item.available < 0 && !wasTaken],
    ['a cap does not match its holds and charges', isCapWrong],
    ['a cap is exceeded', Object.values(item.caps).some(({ left }) => left < 0)],
    ['the counter lacks uncollected amounts of its day', item.uncollected.used < cost],
    ['the counter has amounts of another day', isExact && item.uncollected.used !== cost],
    ['an exceeded allowance started no probation', cost > ALLOWANCE && item.probationUntil === 0],
    ['the allowance did not reject a hold', holds.some(([, { wrongly }]) => wrongly !== undefined)],
  ];
  return problems.find(([, isWrong]) => isWrong)?.[0];
};

/** Compares the result of each request with the charges of that request. */
const resultProblemOf = (waiting: readonly Waiting[], { records }: Tables): string | undefined => {
  const charged = new Set(
    Object.values(records)
      .filter(({ success }) => success)
      .map(requestOf),
  );
  for (const one of waiting) {
    const [result, id = ''] = 'result' in one ? one.result.split(' ') : [];
    if (result === 'success' && !charged.has(id)) return `${id} succeeded and was not charged`;
    if ((result === 'failed' || result === 'refused') && charged.has(id)) return `${id} ${result} and was charged`;
  }
  return undefined;
};

/** Whether the sweeper of the latest release can close every open hold, and all sums match afterwards. */
const closingProblemOf = (tables: Tables, without: Clause | undefined): string | undefined => {
  const end = structuredClone(tables);
  for (const [id, hold] of Object.entries(tables.item.holds)) {
    const { record } = execute(end, { kind: 'record', record: { id, charge: 0, success: false } }, without);
    if (record) execute(end, { kind: 'apply', record, hold, day: end.item.uncollected.day }, without);
  }
  return Object.keys(end.item.holds).length > 0
    ? 'a hold can never be closed'
    : (problemOf(end) ?? monthsProblemOf(end));
};
