import type { AccountNumbers, LedgerEvent, RequestLine } from './wire.ts';

/** One movement of money: a hold and what became of it, or a credit. */
export interface LedgerRow {
  readonly id: string;
  readonly account: string;
  readonly at: number;
  readonly state: LedgerEvent['kind'];
  /** Of a hold. */
  readonly held_usd?: string | undefined;
  /** Charged or credited. */
  readonly amount_usd?: string | undefined;
  readonly model?: string | undefined;
  readonly reason?: string | undefined;
  /** After it. */
  readonly balance_usd: string;
}

export interface Ledger {
  /** Newest first. */
  readonly rows: readonly LedgerRow[];
  /** As the last write of each account left it. */
  readonly accounts: ReadonlyMap<string, AccountNumbers>;
  /** Newest first. */
  readonly requests: readonly RequestLine[];
}

const ROWS_MAX = 100;

export const emptyLedger: Ledger = { rows: [], accounts: new Map(), requests: [] };

export const withEvent = (ledger: Ledger, event: LedgerEvent): Ledger => ({
  ...ledger,
  accounts: new Map([...ledger.accounts, [event.account, event.numbers]]),
  rows: withRow(ledger.rows, toRow(event)),
});

/** What the service says of an account counts until the first write is seen. */
export const withAccount = (ledger: Ledger, numbers: AccountNumbers): Ledger =>
  ledger.accounts.has(numbers.account)
    ? ledger
    : { ...ledger, accounts: new Map([...ledger.accounts, [numbers.account, numbers]]) };

export const withRequest = (ledger: Ledger, line: RequestLine): Ledger => ({
  ...ledger,
  requests: [line, ...ledger.requests].slice(0, ROWS_MAX),
});

/** A hold keeps its place when it is settled. */
const withRow = (rows: readonly LedgerRow[], row: LedgerRow): readonly LedgerRow[] =>
  rows.some(({ id }) => id === row.id)
    ? rows.map((known) => (known.id === row.id ? { ...row, at: known.at } : known))
    : [row, ...rows].slice(0, ROWS_MAX);

const toRow = (event: LedgerEvent): LedgerRow => {
  const { account, at, kind: state, numbers } = event;
  const row = { account, at, state, balance_usd: numbers.balance_usd };
  switch (event.kind) {
    case 'held':
      return { ...row, id: event.hold, held_usd: event.amount_usd };
    case 'credited':
      return { ...row, id: `${account} ${at} ${numbers.balance_usd}`, amount_usd: event.amount_usd };
    default: {
      const { hold, held_usd, amount_usd, model, reason } = event;
      return { ...row, id: hold, held_usd, amount_usd, model, reason };
    }
  }
};

/** A hold is called by its request and a number. */
export const requestIdOf = (holdId: string): string => holdId.split('.', 1)[0] ?? holdId;
