/** What happened to one hold, written once and never changed. Its first write is the commit of the request. */
export interface ChargeRecord {
  readonly accountId: string;
  readonly holdId: string;
  readonly requestId: string;
  readonly outcome: 'settled' | 'released';
  /** 0 when released. Pico-USD. */
  readonly amountPicos: bigint;
  /** Unix milliseconds. */
  readonly at: number;
  readonly reason?: string;
  readonly model?: string;
  readonly usage?: Readonly<Record<string, number>>;
  /** Pico-USD per unit, as they stood when the hold was placed. */
  readonly prices?: Readonly<Record<string, bigint>>;
  /** The charge was more than the hold (BILL-7). */
  readonly overage?: boolean;
  /** Counts that could not be true were charged at their bound (BILL-7). */
  readonly implausible?: boolean;
  /** Hash of the stored answer that this record commits, when the request had an Idempotency-Key (IDEM-8). */
  readonly answer?: string;
  /** The client's own name for its end user (CHAT-15). */
  readonly endUser?: string;
  /** Names of the request's fields that were ignored (GEN-16). */
  readonly ignored?: readonly string[];
}
