import { GatewayError } from '../core/errors/gateway-error.ts';
import { StoreError } from '../core/errors/store-error.ts';

/** What a client asks for, mostly of its account, or 503 when the store does not answer. */
export const orUnavailable = async <T>(
  reading: Promise<T>,
  message = 'The account cannot be read at the moment. Try again later.',
): Promise<T> => {
  try {
    return await reading;
  } catch (cause) {
    if (!(cause instanceof StoreError)) throw cause;
    throw new GatewayError('service_unavailable', message, { retryAfterSeconds: 30, cause });
  }
};
