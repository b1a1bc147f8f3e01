import * as z from 'zod';
import { errorCodes } from '../lambdas/core/errors/error-codes.ts';
import type { GatewayError } from '../lambdas/core/errors/gateway-error.ts';
import type { ClientFormat } from '../lambdas/http/render-error.ts';
import { googleStatusOf, messagesTypeOf } from '../lambdas/http/render-error.ts';
import { requestId } from './answers/forms.ts';
import { toError } from './error-notes.ts';

/** Returns an enum of the values that a member has over all codes. */
const values = (of: (error: GatewayError) => string) => z.enum([...new Set(errorCodes.map(toError).map(of))]);

const message = z.string().describe('Cause and fix of the error, for people.');
const code = z.enum(errorCodes).describe('Error code. The table of error codes lists all of them.');
const type = values((error) => error.type).describe('Category of the error.');
const param = z.string().nullable().describe('JSON path, header or form field to change, or null.');
const members = { message, type, code, param };

/** Source: https://google.aip.dev/193 */
const detail = z
  .looseObject({
    '@type': z.string().describe('`type.googleapis.com/google.rpc.ErrorInfo` first; `RetryInfo` if a retry helps.'),
    reason: code.optional(),
    domain: z.string().optional(),
    metadata: z.record(z.string(), z.string()).optional().describe('`param` is the field or header to change.'),
    retryDelay: z
      .string()
      .regex(/^\d+s$/)
      .optional()
      .describe('Seconds of `Retry-After`, such as `1s`.'),
  })
  .meta({ id: 'GenerateContentErrorDetail' });

/** Error shapes by format (GEN-3). */
export const errorSchemas = {
  plain: z.looseObject({ error: z.looseObject(members) }).meta({ id: 'Error' }),
  messages: z
    .looseObject({
      type: z.literal('error'),
      error: z.looseObject({
        ...members,
        type: values(messagesTypeOf).describe("Anthropic's error type for the status."),
      }),
      request_id: requestId,
    })
    .meta({ id: 'MessagesError' }),
  generate_content: z
    .looseObject({
      error: z.looseObject({
        code: z.int().min(400).max(599).describe('HTTP status.'),
        message,
        status: values(googleStatusOf).describe('Canonical name of the HTTP status.'),
        ...{ type, param },
        details: z.array(detail),
      }),
    })
    .meta({ id: 'GenerateContentError' }),
} satisfies Record<ClientFormat, z.ZodType>;
