import { GatewayError } from '../core/errors/gateway-error.ts';

/** The one error shape (GEN-3). */
export const toErrorBody = (error: GatewayError) => ({
  error: { message: error.message, type: error.type, code: error.code, param: error.param },
});

/** Whatever was thrown, as the error a client may see. A bug is a 500 that hides its message. */
export const toGatewayError = (thrown: unknown): GatewayError =>
  thrown instanceof GatewayError
    ? thrown
    : new GatewayError('internal_error', 'Something went wrong on our side. Nothing was charged.', { cause: thrown });

export const errorHeaders = (error: GatewayError): Record<string, string> => ({
  ...(error.retryAfterSeconds === undefined ? {} : { 'retry-after': String(error.retryAfterSeconds) }),
  ...error.headers,
});
