import type { Refusal } from '../scenario.ts';
import { VendorRefusal } from '../wire.ts';

/** Source: https://docs.byteplus.com/en/docs/ModelArk/1299023 */
const typesByStatus: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  429: 'TooManyRequests',
};

export type ArkErrorFields = { readonly param?: string; readonly headers?: Readonly<Record<string, string>> };

/** Ark's request ids start with 02 and the time; every message ends with the id. */
export function withRequestId(message: string, requestId = makeRequestId()): string {
  return `${message} Request id: ${requestId}`;
}

export function arkError(status: number, code: string, message: string, fields: ArkErrorFields = {}): VendorRefusal {
  const requestId = makeRequestId();
  const type = typesByStatus[status] ?? 'InternalServerError';
  const error = { code, message: withRequestId(message, requestId), param: fields.param ?? '', type };
  return new VendorRefusal(status, { error }, { 'x-request-id': requestId, ...fields.headers });
}

/** Source of the message: https://github.com/HBAI-Ltd/Toonflow-app/issues/128 */
export function invalidParameter(param: string, why: string): VendorRefusal {
  const message = `The parameter \`${param}\` specified in the request is not valid: ${why}.`;
  return arkError(400, 'InvalidParameter', message, { param });
}

export function missingParameter(param: string): VendorRefusal {
  const message = `The request failed because it is missing \`${param}\` parameter.`;
  return arkError(400, 'MissingParameter', message, { param });
}

export function taskNotFound(id: string): VendorRefusal {
  return arkError(404, 'ResourceNotFound', `The specified task ${id} is not found.`);
}

export const internalMessage = 'The service encountered an unexpected internal error.';

/** Ark's errors for the failures that a scenario can request. */
export function arkRefusal(refusal: Refusal, model: string): VendorRefusal {
  switch (refusal.kind) {
    case 'unauthorized':
      return arkError(401, 'AuthenticationError', 'The API key or AK/SK in the request is missing or invalid.');
    case 'quota':
      return quotaError(refusal.code, model);
    case 'model-not-found':
      return modelNotFound(model);
    case 'context-length':
      return invalidParameter('content', 'the text is too long');
    case 'status':
      return statusError(refusal.status, refusal.retryAfterSeconds);
  }
}

export function modelNotFound(model: string): VendorRefusal {
  const message = `The model or endpoint ${model} does not exist or you do not have access to it.`;
  return arkError(404, 'InvalidEndpointOrModel.NotFound', message);
}

/**
 * An empty account (https://github.com/coze-dev/coze-studio/issues/2195), or a limit that the account has set itself
 * (`SetLimitExceeded`).
 */
function quotaError(code: string | undefined, model: string): VendorRefusal {
  if (code === 'SetLimitExceeded') {
    const message = `Your account has reached the set inference limit for the ${model} model, and the model service has been paused.`;
    return arkError(429, code, message);
  }
  const message = 'The request failed because your account has an overdue balance.';
  return arkError(403, code ?? 'AccountOverdueError', message);
}

function statusError(status: number, retryAfterSeconds: number | undefined): VendorRefusal {
  const headers: Readonly<Record<string, string>> =
    retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
  if (status === 429) {
    const message =
      'The Requests Per Minute (RPM) limit of the associated endpoint for your account has been exceeded.';
    return arkError(status, 'RateLimitExceeded.EndpointRPMExceeded', message, { headers });
  }
  if (status >= 500) return arkError(status, 'InternalServiceError', internalMessage, { headers });
  return arkError(status, 'OperationDenied', `The request was refused with status ${status}.`, { headers });
}

function makeRequestId(): string {
  const random = crypto.randomUUID().replaceAll('-', '');
  return `02${Date.now()}${random.slice(0, 32)}`;
}
