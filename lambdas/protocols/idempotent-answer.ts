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
  readonly fallbackModelId: string | undefined;
  /** Where the commit is not the charge but something that the request makes. */
  readonly creations?: Creations;
}

/** Answers under an Idempotency-Key: what is stored, or what `work` makes and has stored (IDEM-2). */
export const idempotentAnswer = async (
  deps: IdempotencyDependencies,
  exchange: Exchange,
  { key, body, fallbackModelId, creations }: IdempotentParams,
  work: (claimed: ClaimedRequest) => Promise<GatewayResponse>,
): Promise<GatewayResponse> => {
  const { requestId, event, summary } = exchange;
  const { method, path } = event.requestContext.http;
  const request = {
    accountId: admissionOf(exchange).accountId,
    keyHash: hashOf(key),
    requestId,
    fingerprint: fingerprintOf({ method, path, body, fallbackModelId }),
    renderError: (error: Parameters<typeof toErrorBody>[0]): StoredResponse =>
      toStored(
        json(error.status, toErrorBody(error, formatOf(event.rawPath, event.headers), requestId), errorHeaders(error)),
      ),
    creations,
  };
  const answered = await answerOnce(deps, request, work);
  if (answered.kind === 'fresh') return answered.value;
  const { status, headers, body: text } = answered.answer;
  summary.replayed = true;
  if (status >= 400) summary.errorCode = codeIn(text);
  return { statusCode: status, headers: { ...headers, 'idempotent-replayed': 'true' }, body: text };
};

/** Returns the code of a stored error, which is in the same place in all formats (GEN-3). */
const codeIn = (body: string): string => {
  const sent = parseJson(body);
  const error = isJsonObject(sent) ? sent.error : undefined;
  return isJsonObject(error) && typeof error.code === 'string' ? error.code : 'internal_error';
};

/** An answer with a body that is there as a whole. */
export const toStored = ({ statusCode, headers, body }: GatewayResponse): StoredResponse => {
  if (typeof body !== 'string') throw new Error('a stream cannot be stored');
  return { status: statusCode, headers, body };
};
