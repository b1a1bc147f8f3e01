import * as z from 'zod';
import type { GatewayError } from '../../core/errors/gateway-error.ts';
import { type Refusal, type RefusalContext, type RefusalRules, toGatewayError } from '../refusals.ts';

const MESSAGE_CHARACTERS_MAX = 2_000;

const text = z
  .string()
  .transform((message) => message.slice(0, MESSAGE_CHARACTERS_MAX))
  .catch('');

/** FastAPI's form of a validation error: the place and the reason. Only the first error is read. */
const invalidField = z.object({
  loc: z.array(z.union([z.string(), z.number()])).catch([]),
  msg: text,
  type: text,
});
const listed = z.object({ detail: z.tuple([invalidField], z.unknown()) });
const worded = z.object({ detail: z.string() }).transform(({ detail }) => text.parse(detail));
const plain = z.object({ message: z.string() }).transform(({ message }) => text.parse(message));

/** Fields that have the same name at the provider and at the client. */
const fields = /^(?:prompt|width|height|seed|output_format|safety_tolerance|input_image(?:_[2-8])?)$/;

const parseBflRefusal = (body: unknown): Refusal => {
  const field = listed.safeParse(body).data?.detail[0];
  if (field) {
    const param = field.loc.find((part): part is string => typeof part === 'string' && fields.test(part));
    return { message: field.msg, type: field.type, code: '', param };
  }
  const message = worded.safeParse(body).data ?? plain.safeParse(body).data ?? '';
  return { message, type: '', code: '', param: undefined };
};

/** https://docs.bfl.ai/api_integration/errors: the status alone identifies most errors. */
const rules: RefusalRules = {
  ours: /(?!)/,
  oursInWords: /insufficient credits|out of credits|not authenticated/i,
  context: /\bprompt\b.{0,40}\btoo long\b/i,
  filter: /moderat/i,
  image: /(?!)/,
  promptParam: 'prompt',
};

const isAboutImage = ({ message, param }: Refusal): boolean =>
  param === undefined ? /\b(?:input[ _]?|reference )?images?\b/i.test(message) : param.startsWith('input_image');

export const toBflError = (status: number, body: unknown, refusalContext: RefusalContext): GatewayError => {
  const refusal = parseBflRefusal(body);
  return toGatewayError(status, refusal, refusalContext, isAboutImage(refusal) ? { ...rules, image: /^/ } : rules);
};
