import type { Refusal } from '../scenario.ts';
import { VendorRefusal, type WireRequest } from '../wire.ts';
import { callOf } from './call.ts';

type Detail = { readonly '@type': string } & Readonly<Record<string, unknown>>;

/** Google's names of the statuses. Source: https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto */
const statuses: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  402: 'RESOURCE_EXHAUSTED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  500: 'INTERNAL',
  501: 'UNIMPLEMENTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

const messages: Readonly<Record<number, string>> = {
  400: 'Request contains an invalid argument.',
  403: 'The caller does not have permission',
  500: 'An internal error has occurred. Please retry or report in https://developers.generativeai.google/guide/troubleshooting',
  503: 'The model is overloaded. Please try again later.',
  504: 'Deadline expired before operation could complete.',
};

export function errorBody(code: number, message = messages[code] ?? 'Unknown error.', details: readonly Detail[] = []) {
  const error = { code, message, status: statuses[code] ?? 'UNKNOWN' };
  return { error: details.length > 0 ? { ...error, details } : error };
}

export function googleError(code: number, message?: string, details?: readonly Detail[]): VendorRefusal {
  return new VendorRefusal(code, errorBody(code, message, details));
}

export function invalidArgument(message?: string, details?: readonly Detail[]): VendorRefusal {
  return googleError(400, message, details);
}

/**
 * Returns an error in the format of the endpoint: in a list if the response would be a list, and without a JSON content
 * type if it would be an event stream. Sources: https://github.com/niki914/zafiro/issues/100 (list),
 * https://github.com/RooCodeInc/Roo-Code/issues/10700 (the SDK wraps an error without a JSON content type)
 */
export function framed({ status, body }: VendorRefusal, request: WireRequest): VendorRefusal {
  const { framing } = callOf(request);
  if (framing === 'array') return new VendorRefusal(status, [body]);
  return framing === 'sse'
    ? new VendorRefusal(status, body, { 'content-type': 'text/event-stream' })
    : new VendorRefusal(status, body);
}

/** Google's error for a failure that a scenario requests. */
export function googleRefusal(refusal: Refusal, request: WireRequest): VendorRefusal {
  const { model, apiKey } = callOf(request);
  switch (refusal.kind) {
    case 'unauthorized':
      return apiKey === undefined ? keylessError() : keyError();
    case 'quota':
      return quotaError(refusal.code, model);
    case 'model-not-found':
      return modelNotFound(request);
    case 'context-length':
      return tooLong(1_200_000, 1_048_576);
    case 'status':
      return statusError(refusal.status, model, refusal.retryAfterSeconds);
  }
}

export function modelNotFound(request: WireRequest): VendorRefusal {
  const { version, model, method } = callOf(request);
  if (method === '') return googleError(404, `Model is not found: models/${model} for api version ${version}`);
  // The error of a stream names the method without streaming: https://github.com/CopilotKit/CopilotKit/issues/2827
  const named = method === 'streamGenerateContent' ? 'generateContent' : method;
  const message =
    `models/${model} is not found for API version ${version}, or is not supported for ${named}. ` +
    'Call ListModels to see the list of available models and their supported methods.';
  return googleError(404, message);
}

export function tooLong(count: number, limit: number): VendorRefusal {
  return invalidArgument(`The input token count (${count}) exceeds the maximum number of tokens allowed (${limit}).`);
}

/** Returns the 403 for a missing key. A wrong key is a 400. */
function keylessError(): VendorRefusal {
  const message =
    "Method doesn't allow unregistered callers (callers without established identity). " +
    'Please use API Key or other form of API consumer identity to call this API.';
  return googleError(403, message);
}

function keyError(): VendorRefusal {
  const message = 'API key not valid. Please pass a valid API key.';
  return invalidArgument(message, [
    errorInfo('API_KEY_INVALID', { service: 'generativelanguage.googleapis.com' }),
    { '@type': 'type.googleapis.com/google.rpc.LocalizedMessage', locale: 'en-US', message },
  ]);
}

/** `billing` is 403 and `prepay` is 402. Without a code it is the daily quota: 429 without a retry time. */
function quotaError(code: string | undefined, model: string): VendorRefusal {
  if (code === 'billing') {
    const url = 'https://console.developers.google.com/billing/enable?project=123456789012';
    const message =
      'This API method requires billing to be enabled. ' +
      `Please enable billing on project #123456789012 by visiting ${url} then retry.`;
    return googleError(403, message, [errorInfo('BILLING_DISABLED', { consumer: 'projects/123456789012' })]);
  }
  if (code === 'prepay') {
    const hint = 'Please go to AI Studio at https://ai.studio/projects to manage your project and billing.';
    return googleError(402, `Your prepayment credits are depleted. ${hint}`);
  }
  return googleError(429, quotaMessage, [quotaFailure('Day', model), help]);
}

const rateLimitsUrl = 'https://ai.google.dev/gemini-api/docs/rate-limits';
const quotaMessage =
  'You exceeded your current quota, please check your plan and billing details. ' +
  `For more information on this error, head to: ${rateLimitsUrl}.`;
const help: Detail = {
  '@type': 'type.googleapis.com/google.rpc.Help',
  links: [{ description: 'Learn more about Gemini API quotas', url: rateLimitsUrl }],
};

/**
 * A rate limit and a used-up quota have the same message. They differ in the name of the quota and in RetryInfo. There
 * is no Retry-After header. Source: https://github.com/RooCodeInc/Roo-Code/issues/3883
 */
function statusError(status: number, model: string, retryAfterSeconds: number | undefined): VendorRefusal {
  const seconds = retryAfterSeconds ?? (status === 429 ? 17 : undefined);
  const retryInfo =
    seconds === undefined ? [] : [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${seconds}s` }];
  if (status !== 429) return googleError(status, undefined, retryInfo);
  return googleError(429, `${quotaMessage}\nPlease retry in ${seconds}s.`, [
    quotaFailure('Minute', model),
    help,
    ...retryInfo,
  ]);
}

function quotaFailure(period: 'Minute' | 'Day', model: string): Detail {
  return {
    '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
    violations: [
      {
        quotaMetric: 'generativelanguage.googleapis.com/generate_requests_per_model',
        quotaId: `GenerateRequestsPer${period}PerProjectPerModel`,
        quotaDimensions: { location: 'global', model },
        quotaValue: '500',
      },
    ],
  };
}

function errorInfo(reason: string, metadata: Readonly<Record<string, string>>): Detail {
  return { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'googleapis.com', metadata };
}
