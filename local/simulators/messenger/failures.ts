/** How the Bot API fails: in its own words, or with a connection that ends. */
export type Failure = {
  /** 0: no answer at all. */
  readonly status: number;
  /** Seconds. */
  readonly retryAfter?: number;
  /** The message is taken all the same; only its sender does not learn of it. */
  readonly isTaken?: boolean;
};

/** What the Bot API answers in place of a result. https://core.telegram.org/bots/api#making-requests */
export class BotApiError extends Error {
  readonly status: number;
  readonly retryAfter: number | undefined;

  constructor(status: number, description: string, retryAfter?: number) {
    super(description);
    this.status = status;
    this.retryAfter = retryAfter;
  }

  toBody(): object {
    const { status, message, retryAfter } = this;
    const parameters = retryAfter === undefined ? {} : { parameters: { retry_after: retryAfter } };
    return { ok: false, error_code: status, description: message, ...parameters };
  }
}

const descriptions: Readonly<Record<number, string>> = {
  400: 'Bad Request: chat not found',
  403: 'Forbidden: bot was blocked by the user',
};

export function toBotApiError({ status, retryAfter }: Failure): BotApiError {
  if (status === 429) {
    const seconds = retryAfter ?? 1;
    return new BotApiError(status, `Too Many Requests: retry after ${seconds}`, seconds);
  }
  return new BotApiError(status, descriptions[status] ?? 'Internal Server Error', retryAfter);
}
