import {
  type Account,
  type ApiKey,
  type CreatedKey,
  isAccount,
  isApiKey,
  isApiKeyList,
  isCreatedKey,
  isErrorBody,
  isModelList,
  isNewKey,
  isRevokedKey,
  isSpend,
  isSummary,
  isThreshold,
  isUsagePage,
  type KeyChange,
  type Model,
  type NewKey,
  type Spend,
  type Summary,
  type UsagePage,
} from './api-shapes.ts';
import type { Is } from './shapes.ts';

/** A failed request. `code` is the gateway's, or `unreachable` without a response. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string;
  readonly retryAfterSeconds: number | undefined;
  /** Field that is wrong. */
  readonly param: string | undefined;

  constructor(
    status: number,
    code: string,
    message: string,
    { retryAfterSeconds, param }: Partial<Pick<ApiError, 'retryAfterSeconds' | 'param'>> = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
    this.param = param;
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
  /** Sums the spend of a range of UTC days by API key and by model. */
  summary(from: string, to: string): Promise<Summary>;
  keys(): Promise<readonly ApiKey[]>;
  /** Never retried: a lost response may have had the only copy of the new key. */
  createKey(change: KeyChange): Promise<CreatedKey>;
  /** Rejected with `key_changed` if the key is no longer at the version that the user has seen. */
  editKey(seen: ApiKey, change: KeyChange): Promise<ApiKey>;
  revokeKey(seen: ApiKey): Promise<void>;
}

/** Rows of one page of requests. Fewer on a phone, whose page would be long. */
const USAGE_ROWS = 10;
const USAGE_ROWS_PHONE = 5;
const rowsOfPage = (): number => (matchMedia('(max-width: 34rem)').matches ? USAGE_ROWS_PHONE : USAGE_ROWS);

const OWN = '/app/api';

export const createApi = (initData: string | undefined): Api => {
  const authorization: Record<string, string> = initData === undefined ? {} : { authorization: `tma ${initData}` };
  const read = <T>(path: string, is: Is<T>): Promise<T> =>
    patiently(() => ask(path, is, { headers: path.startsWith(OWN) ? authorization : {} }));
  const write = <T>(path: string, is: Is<T>, body: object, method = 'POST', more: object = {}): Promise<T> =>
    ask(path, is, {
      method,
      headers: { ...authorization, 'content-type': 'application/json', ...more },
      body: JSON.stringify(body),
    });
  const seenAt = ({ version }: ApiKey) => ({ 'if-match': `"${version}"` });
  return {
    account: () => read(`${OWN}/account`, isAccount),
    usage: (cursor) => {
      const query = new URLSearchParams({ limit: String(rowsOfPage()), ...(cursor !== undefined && { cursor }) });
      return read(`${OWN}/usage?${query}`, isUsagePage);
    },
    spend: (days) => read(`${OWN}/spend?days=${days}`, isSpend),
    models: async () => (await read('/api/models', isModelList)).data,
    setThreshold: async (amount) => {
      const set = () => write(`${OWN}/threshold`, isThreshold, { threshold_usd: amount });
      return (await patiently(set)).threshold_usd;
    },
    rotateKey: (keyId) => write(`${OWN}/key`, isNewKey, { key_id: keyId }),
    summary: (from, to) => {
      const query = new URLSearchParams({ group_by: 'key,model', from, to });
      return read(`${OWN}/usage/summary?${query}`, isSummary);
    },
    keys: async () => (await read(`${OWN}/keys`, isApiKeyList)).data,
    createKey: (change) => write(`${OWN}/keys`, isCreatedKey, change),
    editKey: (seen, change) => write(`${OWN}/keys/${seen.id}`, isApiKey, change, 'PATCH', seenAt(seen)),
    revokeKey: async (seen) => {
      const headers = { ...authorization, ...seenAt(seen) };
      await ask(`${OWN}/keys/${seen.id}`, isRevokedKey, { method: 'DELETE', headers });
    },
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
  const { code, message, param } = isErrorBody(body) ? body.error : { code: 'unknown', message: '', param: null };
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return new ApiError(status, code, message, {
    retryAfterSeconds: Number.isFinite(seconds) ? seconds : undefined,
    param: param ?? undefined,
  });
};
