import {
  type Account,
  isAccount,
  isErrorBody,
  isModelList,
  isNewKey,
  isSpend,
  isThreshold,
  isUsagePage,
  type Model,
  type NewKey,
  type Spend,
  type UsagePage,
} from './api-shapes.ts';
import type { Is } from './shapes.ts';

/** A failed request. `code` is the gateway's, or `unreachable` without a response. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string;
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, code: string, message: string, retryAfterSeconds?: number) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export interface Api {
  account(): Promise<Account>;
  usage(cursor: string | undefined): Promise<UsagePage>;
  spend(days: number): Promise<Spend>;
  models(): Promise<readonly Model[]>;
  /** Returns the new threshold. */
  setThreshold(amount: string): Promise<string>;
  /**
   * Never retried: after a lost response, a retry could not distinguish its own new key from that of another request.
   */
  rotateKey(keyId: string): Promise<NewKey>;
}

export const USAGE_ROWS = 10;

const OWN = '/app/api';

export const createApi = (initData: string | undefined): Api => {
  const authorization: Record<string, string> = initData === undefined ? {} : { authorization: `tma ${initData}` };
  const read = <T>(path: string, is: Is<T>): Promise<T> =>
    patiently(() => ask(path, is, { headers: path.startsWith(OWN) ? authorization : {} }));
  const write = <T>(path: string, is: Is<T>, body: object): Promise<T> =>
    ask(path, is, {
      method: 'POST',
      headers: { ...authorization, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  return {
    account: () => read(`${OWN}/account`, isAccount),
    usage: (cursor) => {
      const query = new URLSearchParams({ limit: String(USAGE_ROWS), ...(cursor !== undefined && { cursor }) });
      return read(`${OWN}/usage?${query}`, isUsagePage);
    },
    spend: (days) => read(`${OWN}/spend?days=${days}`, isSpend),
    models: async () => (await read('/api/models', isModelList)).data,
    setThreshold: async (amount) => {
      const set = () => write(`${OWN}/threshold`, isThreshold, { threshold_usd: amount });
      return (await patiently(set)).threshold_usd;
    },
    rotateKey: (keyId) => write(`${OWN}/key`, isNewKey, { key_id: keyId }),
  };
};

const TRIES = 3;
const WAIT_SECONDS_MAX = 5;

/**
 * Retries after a 429 or 503, as soon as the gateway allows it. If the wait is longer than `WAIT_SECONDS_MAX`, the user
 * must retry.
 */
const patiently = async <T>(attempt: () => Promise<T>, triesLeft = TRIES): Promise<T> => {
  try {
    return await attempt();
  } catch (error) {
    const waitSeconds = error instanceof ApiError && isPassing(error) ? (error.retryAfterSeconds ?? 1) : undefined;
    if (waitSeconds === undefined || waitSeconds > WAIT_SECONDS_MAX || triesLeft <= 1) throw error;
    await new Promise((resolve) => setTimeout(resolve, waitSeconds * 1_000));
    return patiently(attempt, triesLeft - 1);
  }
};

const isPassing = ({ status }: ApiError): boolean => status === 429 || status === 503;

const ANSWER_MS_MAX = 30_000;

const ask = async <T>(path: string, is: Is<T>, init: RequestInit): Promise<T> => {
  const response = await fetch(path, {
    ...init,
    cache: 'no-store',
    credentials: 'omit',
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
  }).catch(() => {
    throw new ApiError(0, 'unreachable', '');
  });
  const body: unknown = await response.json().catch(() => undefined);
  if (!response.ok) throw toError(response, body);
  if (!is(body)) throw new ApiError(response.status, 'not_understood', '');
  return body;
};

const toError = ({ status, headers }: Response, body: unknown): ApiError => {
  const { code, message } = isErrorBody(body) ? body.error : { code: 'unknown', message: '' };
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return new ApiError(status, code, message, Number.isFinite(seconds) ? seconds : undefined);
};
