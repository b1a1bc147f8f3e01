import type { Refusal } from '../scenario.ts';
import { VendorRefusal } from '../wire.ts';

/**
 * Returns an error with a single message, in FastAPI's format for an error that the provider's code raises:
 * https://docs.bfl.ai/api_integration/errors
 */
export function bflError(status: number, detail: string, headers: Readonly<Record<string, string>> = {}) {
  return new VendorRefusal(status, { detail }, headers);
}

/** Rejects an invalid body in FastAPI's format. */
export function invalidField(loc: readonly (string | number)[], msg: string, type = 'value_error'): VendorRefusal {
  return new VendorRefusal(422, { detail: [{ type, loc: ['body', ...loc], msg }] });
}

/** Returns the provider's error for a failure that a scenario requests. */
export function bflRefusal(refusal: Refusal): VendorRefusal {
  switch (refusal.kind) {
    case 'unauthorized':
      return bflError(403, 'Not authenticated - Invalid Authentication');
    case 'quota':
      return bflError(402, 'Insufficient credits');
    case 'model-not-found':
      return bflError(404, 'Not Found');
    case 'context-length':
      return invalidField(['prompt'], 'The prompt is too long');
    case 'status': {
      const { status, retryAfterSeconds } = refusal;
      const headers: Readonly<Record<string, string>> =
        retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
      if (status === 429) return bflError(status, 'Rate limit exceeded: too many active tasks', headers);
      return bflError(status, status >= 500 ? 'Internal Server Error' : 'The request was refused', headers);
    }
  }
}
