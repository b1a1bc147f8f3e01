import type { AccountNumbers, LedgerEvent, RequestLine } from './wire.ts';

/** One movement of money: a hold and its result, or a credit. */
export interface LedgerRow {
  readonly id: string;
  readonly account: string;
  readonly at: number;
  readonly state: LedgerEvent['kind'];
  /** Set for a hold. */
  readonly held_usd?: string | undefined;
  /** Charged or credited. */
  readonly amount_usd?: string | undefined;
  readonly model?: string | undefined;
  readonly reason?: string | undefined;
  /** Balance after the movement. */
  readonly balance_usd: string;
}

export interface Ledger {
  /** Newest first. */
  readonly rows: readonly LedgerRow[];
  /** State of each account after its last write. */
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

/** Shows the service's numbers of an account until the first write arrives. */
export const withAccount = (ledger: Ledger, numbers: AccountNumbers): Ledger =>
  ledger.accounts.has(numbers.account)
    ? ledger
    : { ...ledger, accounts: new Map([...ledger.accounts, [numbers.account, numbers]]) };

export const withRequest = (ledger: Ledger, line: RequestLine): Ledger => ({
  ...ledger,
  requests: [line, ...ledger.requests].slice(0, ROWS_MAX),
});

/** A settled hold keeps its place. */
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
    case 'returned':
      return { ...row, id: `${account} ${at} ${numbers.balance_usd}`, amount_usd: event.amount_usd };
    default: {
      const { hold, held_usd, amount_usd, model, reason } = event;
      return { ...row, id: hold, held_usd, amount_usd, model, reason };
    }
  }
};

/** Returns the request id of a hold id. */
export const requestIdOf = (holdId: string): string => holdId.split('.', 1)[0] ?? holdId;
