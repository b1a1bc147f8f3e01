import * as z from 'zod';
import type { GatewayError } from '../../core/errors/gateway-error.ts';
import { type Refusal, type RefusalContext, type RefusalRules, toGatewayError } from '../refusals.ts';

/** https://platform.openai.com/docs/guides/error-codes: `{error: {message, type, param, code}}`; compatible servers vary in all four. */
const errorBody = z.object({
  error: z.object({
    message: z.string().catch(''),
    type: z.string().nullish().catch(null),
    param: z.string().nullish().catch(null),
    code: z.union([z.string(), z.number()]).nullish().catch(null),
  }),
});

/** What some compatible servers send instead. */
const plainMessage = z
  .object({ message: z.string().optional().catch(undefined), detail: z.string().optional().catch(undefined) })
  .transform(({ message, detail }) => message ?? detail);

const silent: Refusal = { message: '', type: '', param: undefined, code: '' };

export const parseRefusal = (body: unknown): Refusal => {
  const parsed = errorBody.safeParse(body);
  if (!parsed.success) return { ...silent, message: plainMessage.safeParse(body).data ?? '' };
  const { message, type, param, code } = parsed.data.error;
  return { message, type: type ?? '', param: param ?? undefined, code: String(code ?? '') };
};

const rules: RefusalRules = {
  ours: /insufficient_quota|credit_balance_exhausted|billing_(?:hard_limit|not_active)|invalid_api_key/i,
  oursInWords: /exceeded your current quota|credit balance is too low|insufficient (?:account )?(?:balance|credit)/i,
  context: /context_length_exceeded|maximum context length/i,
  filter: /content_policy_violation|content_filter|moderation_blocked/i,
  image: /unsupported image|(?:downloading|invalid) image/i,
  promptParam: 'messages',
};

export const isFiltered = ({ code, type }: Refusal): boolean => rules.filter.test(`${code} ${type}`);

/** Our account at the vendor, not the request: the same answer is to be expected for every one. */
export const isAboutAccount = ({ code, type, message }: Refusal): boolean =>
  rules.ours.test(`${code} ${type}`) || rules.oursInWords.test(message);

export const toOpenaiError = (
  status: number,
  refusal: Refusal,
  told: RefusalContext,
  promptParam = rules.promptParam,
): GatewayError => toGatewayError(status, refusal, told, { ...rules, promptParam });

/** Errors inside a stream carry no status; their type and code stand in for it. */
export const toInBandError = (refusal: Refusal, told: RefusalContext, promptParam = rules.promptParam): GatewayError =>
  toOpenaiError(inBandStatus(`${refusal.code} ${refusal.type}`), refusal, told, promptParam);

const inBandStatus = (text: string): number => {
  const number = /\b([45]\d\d)\b/.exec(text)?.[1];
  if (number) return Number(number);
  if (/rate_limit|slow_down|overloaded/.test(text)) return 429;
  if (/invalid_request|content_filter|content_policy/.test(text)) return 400;
  return 500;
};
