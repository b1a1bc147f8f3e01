import * as z from 'zod';
import type { ClientFormat } from '../../lambdas/http/client-format.ts';

const members = {
  message: z.string().describe('What is wrong and what to do about it, for people.'),
  type: z.string().describe('The kind of error.'),
  code: z.string().describe('One of the codes in the table of errors.'),
  param: z.string().nullable().describe('The JSON path, header or form field to change, or null.'),
};

/** The shape of an error in each format (GEN-3). */
export const errorSchemas: Record<ClientFormat, z.ZodType> = {
  plain: z.looseObject({ error: z.looseObject(members) }).meta({ id: 'Error' }),
  messages: z
    .looseObject({ type: z.literal('error'), error: z.looseObject(members), request_id: z.string() })
    .meta({ id: 'MessagesError' }),
  generate_content: z
    .looseObject({
      error: z.looseObject({ ...members, status: z.string().describe('The canonical name of the HTTP status.') }),
    })
    .meta({ id: 'GenerateContentError' }),
};
