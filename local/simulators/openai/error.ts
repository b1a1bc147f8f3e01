import type { Refusal } from '../scenario.ts';
import { VendorRefusal } from '../wire.ts';

export const serverErrorMessage = 'The server had an error while processing your request. Sorry about that!';

export type OpenaiErrorFields = { readonly type?: string; readonly param?: string; readonly code?: string };

export function openaiError(
  status: number,
  message: string,
  { type = status >= 500 ? 'server_error' : 'invalid_request_error', param, code }: OpenaiErrorFields = {},
  headers: Readonly<Record<string, string>> = {},
): VendorRefusal {
  return new VendorRefusal(status, openaiErrorBody(message, type, param, code), headers);
}

/** OpenAI's error object. Its fields can be null, but are never absent. */
export function openaiErrorBody(message: string, type: string, param?: string, code?: string) {
  return { error: { message, type, param: param ?? null, code: code ?? null } };
}

/** OpenAI's errors for the failures that a scenario can request. */
export function openaiRefusal(
  refusal: Refusal,
  model: string,
  contextLength = contextLengthError('messages', 1_047_576, 1_200_000),
): VendorRefusal {
  switch (refusal.kind) {
    case 'unauthorized':
      return openaiError(401, 'Incorrect API key provided. You can find your API key in your account settings.', {
        code: 'invalid_api_key',
      });
    case 'quota':
      return openaiError(429, 'You exceeded your current quota, please check your plan and billing details.', {
        type: 'insufficient_quota',
        code: refusal.code ?? 'insufficient_quota',
      });
    case 'model-not-found':
      return openaiError(404, `The model \`${model}\` does not exist or you do not have access to it.`, {
        code: 'model_not_found',
      });
    case 'context-length':
      return contextLength;
    case 'status':
      return statusError(refusal, model);
  }
}

export function contextLengthError(param: string, limit: number, count: number): VendorRefusal {
  const message =
    `This model's maximum context length is ${limit} tokens. However, your messages resulted in ${count} tokens. ` +
    'Please reduce the length of the messages.';
  return openaiError(400, message, { param, code: 'context_length_exceeded' });
}

/**
 * Returns the provider's error for statuses whose message is known. Other statuses get a generic message. Policies such as
 * `cyber_policy` are codes: https://github.com/microsoft/PyRIT/pull/2714 (2026-09-18)
 */
function statusError(
  { status, retryAfterSeconds, code }: Extract<Refusal, { kind: 'status' }>,
  model: string,
): VendorRefusal {
  const headers: Readonly<Record<string, string>> =
    retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
  if (status === 429) {
    const message = `Rate limit reached for ${model} on requests per min (RPM): Limit 500, Used 500, Requested 1.`;
    return openaiError(status, message, { type: 'requests', code: 'rate_limit_exceeded' }, headers);
  }
  if (status === 503) {
    const message = 'The server is currently overloaded with other requests. Please try again later.';
    return openaiError(status, message, { code: 'server_is_overloaded' }, headers);
  }
  if (status < 500) return openaiError(status, `The request was refused with status ${status}.`, { code }, headers);
  return openaiError(status, serverErrorMessage, {}, headers);
}
