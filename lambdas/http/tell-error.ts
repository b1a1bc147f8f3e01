import type { GatewayError } from '../core/errors/gateway-error.ts';
import type { Summary } from './exchange.ts';

/** What the log line says of an error. Of what the client can put right there is nothing for the operator to look at. */
export const tellError = (summary: Summary, { code, limit, cause, status }: GatewayError): void => {
  summary.errorCode = code;
  if (limit !== undefined) summary.limit = limit;
  if (cause !== undefined && status >= 500) summary.cause = cause;
};
