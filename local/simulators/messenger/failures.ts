/** Failures of the Bot API: its own errors, or a broken connection. */
export type Failure = {
  /** 0: no response. */
  readonly status: number;
  /** In seconds. */
  readonly retryAfter?: number;
  /** The message is accepted, but its sender gets no response. */
  readonly isTaken?: boolean;
};

/** Error response of the Bot API. https://core.telegram.org/bots/api#making-requests */
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
