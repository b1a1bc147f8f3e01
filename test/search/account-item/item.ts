import { type Books, book, close, inMonth, type Months, sumsOf } from './months.ts';

/**
 * The account item: what it stores, and every conditional write of it and of the records of credit. Amounts are small whole numbers. Each
 * clause of a condition can be removed, to check that the search finds the mistake.
 */
export interface Item {
  available: number;
  /** Credits plus reversals, minus refunds and chargebacks. */
  credited: number;
  spent: number;
  holds: Record<string, Hold>;
  /** Uncollected amounts of one UTC day (BILL-21), and those of the day that was counted before it. */
  uncollected: { day: number; used: number; other?: { readonly day: number; readonly used: number } };
  /** Spent amount at which a probation ends. */
  probationUntil: number;
  /** API keys with a cap: their cap, and what is left of it in the period. A period is a day, plus `EPOCH` per epoch. */
  caps: Record<string, { left: number; limit: number; period: number }>;
  /** Only in configurations with statements. */
  months?: Months;
}

export interface Hold {
  readonly amount: number;
  /** Why the allowance should have rejected it. Only the checks read it. */
  readonly wrongly?: 'beyond the daily limit' | 'beside others on probation';
  /** API key with a cap, and the period that the hold counts in. */
  readonly cap?: { readonly key: string; readonly period: number };
}

/** Committed outcome of a hold. */
export interface Outcome {
  readonly id: string;
  readonly charge: number;
  readonly success: boolean;
  readonly cap?: Hold['cap'];
  /** Estimated cost of a release that a client can provoke. */
  readonly uncollected?: number;
}

export interface Tables {
  item: Item;
  records: Record<string, Outcome>;
  /** Credits by reference, with the sum that was returned of each. */
  credits: Record<string, { readonly amount: number; returned: number; readonly month?: number }>;
  /** Refunds and chargebacks by reference. */
  returns: Record<string, Return>;
  /** Changes that no other one names, by reference: a reversal adds its amount, a debit takes it. */
  others: Record<string, { readonly change: number; readonly covered?: true; readonly month?: number }>;
  /** Only in configurations with statements. */
  books?: Books;
  /** Day that the cost of each closed hold counts on. Only the checks read it. */
  counted: Record<string, { readonly day: number; readonly cost: number; readonly isBehind: boolean }>;
}

export interface Return {
  readonly type: 'refund' | 'chargeback';
  readonly of: string;
  readonly amount: number;
  reversed: boolean;
  readonly month?: number;
}

/** More than the days of any configuration. */
export const EPOCH = 100;
export const HOLDS_MAX = 2;
/** Uncollected amount of a day above which a probation starts. */
export const ALLOWANCE = 1;
/** Uncollected amount of a day from which no hold is placed. */
export const DAILY_LIMIT = 3;
/** Charges that end a probation, as a multiple of the uncollected amounts. */
const REPAID_TIMES = 2;

export const clauses = [
  'hold: enough is available',
  'hold: the number of holds is limited',
  'hold: the allowance of the day is left',
  'hold: the amount of its day before a later day counts',
  'hold: an account on probation has no open hold',
  'hold: the cap has the period of the request',
  'hold: the cap covers the amount',
  'record: the hold has no record',
  'apply: the hold is open',
  'apply: a release without caps leaves holds with a cap',
  'apply: the cap still has the period of the hold',
  'apply: the amounts are of one day',
  'apply: a day keeps its amount',
  'apply: the amount starts a probation',
  'apply: the month of the call has begun',
  'credit: the account is in the month of the call',
  'replace: no other write came first',
  'credit: the reference is new',
  'return: the reference is new',
  'return: the credit covers it',
  'reversal: the reference is new',
  'reversal: it is not reversed yet',
  'reversal: it is a chargeback',
  'reversal: it has the amount of the chargeback',
  'debit: the reference is new',
  'debit: enough is available',
  'cap change: the API key has the old cap',
  'new cap: its period is of a new epoch',
] as const;
export type Clause = (typeof clauses)[number];

export type Call =
  | {
      readonly kind: 'hold';
      readonly id: string;
      readonly previous?: string | undefined;
      readonly amount: number;
      readonly day: number;
      /** `ends`: the period that the hold ends. */
      readonly cap?: { readonly key: string; readonly period: number; readonly ends?: number };
    }
  | { readonly kind: 'record'; readonly record: Outcome }
  /** `day`: by the clock of the caller. `withoutCaps`: by a release that cannot read the cap of a hold. */
  | {
      readonly kind: 'apply';
      readonly record: Outcome;
      readonly hold: Hold;
      readonly day: number;
      readonly withoutCaps?: true;
    }
  /** Writes the account that was computed from the state `before`, together with the record of the change. */
  | { readonly kind: 'replace'; readonly before: Item; readonly write: MoneyCall; readonly day: number }
  | { readonly kind: 'read' }
  | { readonly kind: 'credit'; readonly ref: string; readonly amount: number; readonly day?: number }
  | {
      readonly kind: 'return';
      readonly type: Return['type'];
      readonly ref: string;
      readonly of: string;
      readonly amount: number;
      readonly day?: number;
    }
  | {
      readonly kind: 'reverse';
      readonly ref: string;
      readonly of: string;
      readonly amount: number;
      readonly day?: number;
    }
  /** `covered`: the available amount must cover it. */
  | {
      readonly kind: 'debit';
      readonly ref: string;
      readonly amount: number;
      readonly covered?: true;
      readonly day?: number;
    }
  | { readonly kind: 'change-cap'; readonly key: string; readonly from: number; readonly to: number }
  /** A cap of another kind, or one after a removal. */
  | { readonly kind: 'new-cap'; readonly key: string; readonly limit: number };

/** Calls that a replacement can make: a change of the sums, or only the end of a month. */
export type MoneyCall = Extract<Call, { kind: 'apply' | 'credit' | 'return' | 'reverse' | 'debit' | 'read' }>;

export interface Reply {
  readonly done: boolean;
  readonly item: Item;
  /** The record that counts. */
  readonly record?: Outcome;
}

type Holds = (clause: Clause, condition: boolean) => boolean;
type Written = boolean | { readonly done: boolean; readonly record: Outcome | undefined };
type Executors = {
  readonly [Kind in Call['kind']]: (tables: Tables, call: Extract<Call, { kind: Kind }>, holds: Holds) => Written;
};

/** Executes one call atomically. */
export const execute = (tables: Tables, call: Call, without?: Clause): Reply => {
  const holds: Holds = (clause, condition) => clause === without || condition;
  const before = sumsOf(tables.item);
  const written = runOf(call)(tables, call, holds);
  const { done, record } = typeof written === 'boolean' ? { done: written, record: undefined } : written;
  if (done && tables.item.months && call.kind !== 'read' && call.kind !== 'record') tables.item.months.version += 1;
  book(tables, before, call);
  return { done, item: structuredClone(tables.item), ...(record && { record }) };
};

const runOf = (call: Call) => executors[call.kind] as (tables: Tables, call: Call, holds: Holds) => Written;

const executors: Executors = {
  hold: (tables, call, holds) => {
    const { item } = tables;
    const cap = call.cap && item.caps[call.cap.key];
    if (!mayHold(item, call, holds) || (cap && !capCovers(cap, call, holds))) return false;
    const wrongly = wronglyHeld(tables, call);
    item.available -= call.amount;
    const { amount } = call;
    item.holds[call.id] = {
      amount,
      ...wrongly,
      ...(call.cap && { cap: { key: call.cap.key, period: call.cap.period } }),
    };
    if (!cap || !call.cap) return true;
    const { key, period, ends } = call.cap;
    item.caps[key] =
      ends === undefined ? { ...cap, left: cap.left - amount } : { ...cap, left: cap.limit - amount, period };
    return true;
  },
  record: ({ records }, { record }, holds) => {
    const present = records[record.id];
    if (!holds('record: the hold has no record', !present)) return { done: false, record: present };
    records[record.id] = record;
    return { done: true, record };
  },
  apply: (tables, call, holds) => {
    const { months } = tables.item;
    if (months && !holds('apply: the month of the call has begun', months.month >= call.day)) return false;
    if (!call.withoutCaps) return apply(tables, call, holds);
    const cap = tables.item.holds[call.record.id]?.cap;
    const isKnown = holds('apply: a release without caps leaves holds with a cap', !cap);
    return isKnown && apply(tables, { ...call, hold: { amount: call.hold.amount } }, holds);
  },
  replace: (tables, { before, write, day }, holds) => {
    const isFirst = tables.item.months?.version === before.months?.version;
    if (!holds('replace: no other write came first', isFirst)) return false;
    const after = inMonth(structuredClone(before), day);
    const call = 'day' in write || write.kind !== 'read' ? { ...write, day: after.months?.month ?? day } : write;
    const computed: Tables = { ...tables, item: after };
    if (!runOf(call)(computed, call, holds)) return false;
    if (tables.books) close(tables.books, before, after);
    tables.item = computed.item;
    return true;
  },
  read: () => true,
  credit: (tables, { ref, amount, day }, holds) => {
    const { item, credits } = tables;
    if (!holds('credit: the reference is new', isNew(tables, ref)) || !isOf(item, day, holds)) return false;
    credits[ref] = { amount, returned: credits[ref]?.returned ?? 0, ...of(day) };
    move(item, amount);
    return true;
  },
  return: (tables, { type, ref, of: creditRef, amount, day }, holds) => {
    const { item, credits, returns } = tables;
    const credit = credits[creditRef];
    if (!credit || !holds('return: the reference is new', isNew(tables, ref)) || !isOf(item, day, holds)) return false;
    if (!holds('return: the credit covers it', credit.returned + amount <= credit.amount)) return false;
    credit.returned += amount;
    returns[ref] = { type, of: creditRef, amount, reversed: false, ...of(day) };
    move(item, -amount, amount);
    return true;
  },
  reverse: (tables, { ref, of: returnRef, amount, day }, holds) => {
    const { item, credits, returns, others } = tables;
    const back = returns[returnRef];
    if (!back || !holds('reversal: the reference is new', isNew(tables, ref)) || !isOf(item, day, holds)) return false;
    if (!mayReverse(back, amount, holds)) return false;
    back.reversed = true;
    const credit = credits[back.of];
    if (credit) credit.returned -= amount;
    others[ref] = { change: amount, ...of(day) };
    move(item, amount, -amount);
    return true;
  },
  debit: (tables, { ref, amount, covered, day }, holds) => {
    if (!holds('debit: the reference is new', isNew(tables, ref)) || !isOf(tables.item, day, holds)) return false;
    if (covered && !holds('debit: enough is available', tables.item.available >= amount)) return false;
    tables.others[ref] = { change: -amount, ...(covered && { covered }), ...of(day) };
    move(tables.item, -amount, amount);
    return true;
  },
  'change-cap': ({ item }, { key, from, to }, holds) => {
    const cap = item.caps[key];
    if (!cap || !holds('cap change: the API key has the old cap', cap.limit === from)) return false;
    item.caps[key] = { ...cap, left: cap.left + to - from, limit: to };
    return true;
  },
  'new-cap': ({ item }, { key, limit }, holds) => {
    const cap = item.caps[key];
    // It is set once.
    if (!cap || cap.period >= EPOCH) return false;
    // The condition is false, so only its removal keeps the old epoch.
    const isOldEpoch = holds('new cap: its period is of a new epoch', false);
    item.caps[key] = { left: limit, limit, period: isOldEpoch ? cap.period : cap.period + EPOCH };
    return true;
  },
};

/** All changes of credit share one namespace. */
const isNew = ({ credits, returns, others }: Tables, ref: string): boolean =>
  !credits[ref] && !returns[ref] && !others[ref];

const mayReverse = ({ type, reversed, amount: whole }: Return, amount: number, holds: Holds): boolean =>
  holds('reversal: it is not reversed yet', !reversed) &&
  holds('reversal: it is a chargeback', type === 'chargeback') &&
  holds('reversal: it has the amount of the chargeback', whole === amount);

type HoldCall = Extract<Call, { kind: 'hold' }>;

const mayHold = (item: Item, { id, previous, amount, day }: HoldCall, holds: Holds): boolean =>
  item.credited > item.spent &&
  holds('hold: enough is available', item.available >= amount) &&
  // These two only keep money from being held twice: an id that was given up is never charged.
  !item.holds[id] &&
  (previous === undefined || !item.holds[previous]) &&
  holds('hold: the number of holds is limited', Object.keys(item.holds).length < HOLDS_MAX) &&
  holds(
    'hold: the allowance of the day is left',
    item.uncollected.day < day || item.uncollected.used < DAILY_LIMIT || item.uncollected.other?.day === day,
  ) &&
  holds(
    'hold: the amount of its day before a later day counts',
    item.uncollected.other?.day !== day || item.uncollected.other.used < DAILY_LIMIT,
  ) &&
  holds('hold: an account on probation has no open hold', !isOnProbation(item) || Object.keys(item.holds).length === 0);

/** Judges the hold by the costs of all closed holds, without the counter of the account. */
const wronglyHeld = ({ item, counted }: Tables, { day }: HoldCall): Pick<Hold, 'wrongly'> => {
  if (costOf(counted, day) >= DAILY_LIMIT) return { wrongly: 'beyond the daily limit' };
  const isBesideOthers = isOnProbation(item) && Object.keys(item.holds).length > 0;
  return isBesideOthers ? { wrongly: 'beside others on probation' } : {};
};

/** Returns the sum of the costs that count on a day. */
export const costOf = (counted: Tables['counted'], day: number): number =>
  Object.values(counted).reduce((sum, one) => (one.day === day ? sum + one.cost : sum), 0);

const isOnProbation = ({ spent, probationUntil }: Item): boolean => spent < probationUntil;

const capCovers = (cap: Item['caps'][string], { amount, cap: wanted }: HoldCall, holds: Holds): boolean =>
  holds('hold: the cap has the period of the request', cap.period === (wanted?.ends ?? wanted?.period)) &&
  holds('hold: the cap covers the amount', (wanted?.ends === undefined ? cap.left : cap.limit) >= amount);

/** Whether a change of credit without the slow write belongs to the month of the account. */
const isOf = ({ months }: Item, day: number | undefined, holds: Holds): boolean =>
  !months || day === undefined || holds('credit: the account is in the month of the call', months.month === day);

/** Month that a record of credit stores. */
const of = (day: number | undefined) => (day === undefined ? {} : { month: day });

const move = (item: Item, amount: number, returned = 0): void => {
  item.credited += amount;
  item.available += amount;
  if (item.months) item.months.returned += returned;
};

type ApplyCall = Extract<Call, { kind: 'apply' }>;

/** Closes the hold, and moves the money in the account, in the cap and in the allowance with it. */
const apply = (tables: Tables, { record, hold, day }: ApplyCall, holds: Holds): boolean => {
  const { item } = tables;
  if (!holds('apply: the hold is open', item.holds[record.id]?.amount === hold.amount)) return false;
  delete item.holds[record.id];
  item.available += hold.amount - record.charge;
  item.spent += record.charge;
  const cap = hold.cap && item.caps[hold.cap.key];
  if (cap && holds('apply: the cap still has the period of the hold', cap.period === hold.cap?.period))
    cap.left += hold.amount - record.charge;
  if (record.uncollected !== undefined) countUncollected(tables, record.id, record.uncollected, day, holds);
  return true;
};

const countUncollected = ({ item, counted }: Tables, id: string, cost: number, day: number, holds: Holds): void => {
  const { day: present, used: amount, other } = item.uncollected;
  counted[id] = { day, cost, isBehind: day < present };
  const kept = other?.day === day && !holds('apply: a day keeps its amount', false) ? other.used : undefined;
  const ofDay = day === present ? amount : (kept ?? (day > present ? 0 : amount));
  const used = cost + (holds('apply: the amounts are of one day', false) ? amount : ofDay);
  const before = day === present ? other : { day: present, used: amount };
  item.uncollected = { day, used, ...(before && { other: before }) };
  if (isOnProbation(item)) item.probationUntil += REPAID_TIMES * cost;
  else if (used > ALLOWANCE && !holds('apply: the amount starts a probation', false)) {
    item.probationUntil = item.spent + REPAID_TIMES * used;
  }
};
