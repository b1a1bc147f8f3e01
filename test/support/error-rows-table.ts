import type { ErrorCode } from '../../lambdas/core/errors/error-codes.ts';
import {
  chat,
  embeddings,
  generateContent,
  messages,
  moderations,
  type PostRoute,
  responses,
  streamAsArray,
  streamAsEvents,
} from './hostile-routes.ts';

/** One response form of a billed endpoint. */
export interface Way {
  readonly name: string;
  readonly route: PostRoute;
  /** Members that select this response form in a valid body. */
  readonly members: object;
  readonly streams: boolean;
}

const plain = (route: PostRoute): Way => ({ name: route.name, route, members: {}, streams: false });
const events = (route: PostRoute): Way => ({
  ...{ name: `${route.name}, streamed`, route },
  ...{ members: { stream: true }, streams: true },
});

export const ways: readonly Way[] = [
  ...[chat, responses, messages].flatMap((route) => [plain(route), events(route)]),
  plain(generateContent),
  { ...plain(streamAsEvents), streams: true },
  { ...plain(streamAsArray), streams: true },
  plain(embeddings),
  plain(moderations),
];

/** Whether the route supports idempotency keys and fallback models. */
export const served = ({ route }: Way): boolean => route === chat || route === responses;
export const keyed = (way: Way): boolean => served(way) && !way.streams;
/** Whether a request can set the length of the response, and thereby exceed the maximum price of a request. */
export const hasLength = ({ route }: Way): boolean => route !== embeddings && route !== moderations;

const CAP = 1_000_000_000;
/**
 * Returns members that make a valid body too expensive. They select a stream where the route has the choice, because a
 * plain response has a lower length limit.
 */
export const dear = ({ route }: Pick<Way, 'route'>): object => {
  if (route.target.includes('/models/')) return { generationConfig: { maxOutputTokens: CAP } };
  return { [route === responses ? 'max_output_tokens' : 'max_tokens']: CAP, stream: true };
};

/** Contents of a rejection by the gateway. */
export interface Refusal {
  readonly code: ErrorCode;
  readonly status: number;
  readonly type: string;
  readonly param: string | null;
  readonly retryAfter: string | null;
}

const row = (code: ErrorCode, status: number, type: string, param: string | null, retryAfter: string | null) =>
  ({ code, status, type, param, retryAfter }) satisfies Refusal;

const REQUEST = 'invalid_request_error';

/** Expected rejections by ERR-1 and ERR-2, written by hand instead of imported from the code. */
export const refusals = {
  keyNotServed: row('idempotency_not_supported', 400, REQUEST, 'idempotency-key', null),
  keyMalformed: row('invalid_request_error', 400, REQUEST, 'idempotency-key', null),
  keyMismatch: row('idempotency_key_mismatch', 422, REQUEST, 'idempotency-key', null),
  keyInProgress: row('idempotency_in_progress', 409, REQUEST, 'idempotency-key', '5'),
  keyExhausted: row('idempotency_exhausted', 409, REQUEST, 'idempotency-key', null),
  noReserve: row('invalid_fallback_model', 400, REQUEST, 'x-service-fallback-model', null),
  noDryRun: row('invalid_request_error', 400, REQUEST, 'x-service-dry-run', null),
  circuitOpen: row('service_unavailable', 503, 'service_unavailable', 'model', '30'),
  circuitAlmost: row('service_unavailable', 503, 'service_unavailable', 'model', '1'),
  modelShut: row('model_unavailable', 503, 'service_unavailable', 'model', null),
  holds: row('rate_limit_exceeded', 429, 'rate_limit_error', null, '1'),
  allowance: row('rate_limit_exceeded', 429, 'rate_limit_error', null, '300'),
  keyRate: row('rate_limit_exceeded', 429, 'rate_limit_error', null, '1'),
  noMoney: row('insufficient_balance', 402, 'insufficient_balance', null, null),
  noModel: row('model_not_found', 404, REQUEST, 'model', null),
  unknownField: row('invalid_request_error', 400, REQUEST, 'modell', null),
  blocked: row('account_blocked', 403, 'permission_error', null, null),
} as const;
