import * as z from 'zod';
import { errorCodes } from '../../lambdas/core/errors/error-codes.ts';
import { GatewayError } from '../../lambdas/core/errors/gateway-error.ts';

const message = z.string().min(1);
const param = z.string().nullable();
const code = z.enum(errorCodes);
const requestId = z.string().regex(/^[0-9A-HJKMNP-TV-Z]{26}$/);

const errorInfo = z.strictObject({
  '@type': z.literal('type.googleapis.com/google.rpc.ErrorInfo'),
  reason: code,
  domain: z.literal('model-gateway'),
  metadata: z.strictObject({ param: z.string().optional() }),
});
const retryInfo = z.strictObject({
  '@type': z.literal('type.googleapis.com/google.rpc.RetryInfo'),
  retryDelay: z.string().regex(/^\d+s$/),
});

/** Anthropic's error types. https://platform.claude.com/docs/en/api/errors */
const messagesTypes = [
  ...['invalid_request_error', 'authentication_error', 'billing_error', 'permission_error', 'not_found_error'],
  ...['conflict_error', 'request_too_large', 'rate_limit_error', 'timeout_error', 'api_error', 'overloaded_error'],
];

/** Strict error body of each format (GEN-3). Each schema returns the members that all formats share, and its own. */
export const errorShapes = {
  plain: z
    .strictObject({ error: z.strictObject({ message, type: z.string(), code, param }) })
    .refine(
      ({ error }) => error.type === new GatewayError(error.code, '').type,
      'the type belongs to another code (ERR-1)',
    )
    .transform(({ error }) => error),
  messages: z
    .strictObject({
      type: z.literal('error'),
      error: z.strictObject({
        ...{ message, type: z.enum(messagesTypes), code, param },
        /** Present only for an error that the provider's SDK reads. */
        details: z
          .strictObject({
            error_code: z.literal('thread_unsupported_request'),
            unsupported: z.tuple([z.literal('thread')]),
          })
          .optional(),
      }),
      request_id: requestId,
    })
    .transform(({ error, request_id }) => ({ ...error, request_id })),
  generate_content: z
    .strictObject({
      error: z.strictObject({
        ...{ code: z.int().min(400).max(599), message, status: z.string().regex(/^[A-Z_]+$/) },
        ...{ type: z.string(), param },
        details: z.tuple([errorInfo]).or(z.tuple([errorInfo, retryInfo])),
      }),
    })
    .refine(({ error: { code, type, param, details } }) => {
      const expected = new GatewayError(details[0].reason, '');
      return code === expected.status && type === expected.type && param === (details[0].metadata.param ?? null);
    }, 'the status, the type or the field belongs to another error')
    .transform(({ error: { code: http, message, status, details } }) => ({
      ...{ http, status, message, code: details[0].reason, param: details[0].metadata.param ?? null },
      retryDelay: details[1]?.retryDelay,
    })),
};

export type ErrorShape = keyof typeof errorShapes;
