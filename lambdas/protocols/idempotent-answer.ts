import { answerOnce } from '../core/idempotency/claim.ts';
import type { Creations, IdempotencyDependencies, StoredResponse } from '../core/idempotency/claim-store.ts';
import type { ClaimedRequest } from '../core/idempotency/claimed-execution.ts';
import { fingerprintOf, hashOf } from '../core/idempotency/stored-response.ts';
import { isJsonObject, type JsonObject, parseJson } from '../core/json.ts';
import { admissionOf, type Exchange, type GatewayResponse, json } from '../http/exchange.ts';
import { errorHeaders, formatOf, toErrorBody } from '../http/render-error.ts';

export interface IdempotentParams {
  readonly key: string;
  readonly body: JsonObject;
  readonly fallbackModelIds?: readonly string[] | undefined;
  /** Set if the request commits by creating something instead of by a charge. */
  readonly creations?: Creations;
}

/**
 * Responds to a request with an Idempotency-Key: returns the stored response, or runs `work` and stores its response
 * (IDEM-2).
 */
export const idempotentAnswer = async (
  deps: IdempotencyDependencies,
  exchange: Exchange,
  { key, body, fallbackModelIds, creations }: IdempotentParams,
  work: (claimed: ClaimedRequest) => Promise<GatewayResponse>,
): Promise<GatewayResponse> => {
  const { requestId, event, summary } = exchange;
  const { method, path } = event.requestContext.http;
  const request = {
    accountId: admissionOf(exchange).accountId,
    keyHash: hashOf(key),
    requestId,
    fingerprint: fingerprintOf({ method, path, body, fallbackModelIds }),
    renderError: (error: Parameters<typeof toErrorBody>[0]): StoredResponse =>
      toStored(
        json(error.status, toErrorBody(error, formatOf(event.rawPath, event.headers), requestId), errorHeaders(error)),
      ),
    creations,
    storeTime: exchange.storeTime,
  };
  const answered = await answerOnce(deps, request, work);
  if (answered.kind === 'fresh') return answered.value;
  const { status, headers, body: text } = answered.answer;
  summary.replayed = true;
  if (status >= 400) summary.errorCode = codeIn(text);
  return { statusCode: status, headers: { ...headers, 'idempotent-replayed': 'true' }, body: text };
};

/** Error code in a stored error body. All formats have it in the same place (GEN-3). */
const codeIn = (body: string): string => {
  const sent = parseJson(body);
  const error = isJsonObject(sent) ? sent.error : undefined;
  return isJsonObject(error) && typeof error.code === 'string' ? error.code : 'internal_error';
};

/** Converts a response for storage. Throws if its body is a stream. */
export const toStored = ({ statusCode, headers, body }: GatewayResponse): StoredResponse => {
  if (typeof body !== 'string') throw new Error('a stream cannot be stored');
  return { status: statusCode, headers, body };
};
