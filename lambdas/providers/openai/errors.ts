import * as z from 'zod';
import type { GatewayError } from '../../core/errors/gateway-error.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { type Refusal, type RefusalContext, type RefusalRules, toGatewayError } from '../refusals.ts';

/**
 * https://platform.openai.com/docs/guides/error-codes: `{error: {message, type, param, code}}`; compatible servers vary
 * in all four.
 */
const errorBody = z.object({
  error: z.object({
    message: z.string().catch(''),
    type: z.string().nullish().catch(null),
    param: z.string().nullish().catch(null),
    code: z.union([z.string(), z.number()]).nullish().catch(null),
  }),
});

/** Error body of some compatible servers. */
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
  /**
   * `invalid_prompt`, `bio_policy`, `cyber_policy` and `..._policy_violation`: https://github.com/microsoft/PyRIT/pull/2714
   * (2026-09-18), `ResponseError` in the package openai 7.55.0
   */
  filter: /content_filter|moderation_blocked|invalid_prompt|_policy(?:_violation)?\b/i,
  image: /unsupported image|(?:downloading|invalid) image/i,
  // Status 500, "The model produced invalid content": https://github.com/BerriAI/litellm/issues/8020
  output: /\bmodel_error\b/,
  promptParam: 'messages',
};

export const isFiltered = ({ code, type }: Refusal): boolean => rules.filter.test(`${code} ${type}`);

/** Whether the error is about the gateway's account at the provider. Every request would then get the same response. */
export const isAboutAccount = ({ code, type, message }: Refusal): boolean =>
  rules.ours.test(`${code} ${type}`) || rules.oursInWords.test(message);

export const toOpenaiError = (
  status: number,
  refusal: Refusal,
  refusalContext: RefusalContext,
  promptParam = rules.promptParam,
): GatewayError => toGatewayError(status, refusal, refusalContext, { ...rules, promptParam });

/** Error inside a stream. It has no status, so its type and code determine one. */
export const toInBandError = (
  refusal: Refusal,
  refusalContext: RefusalContext,
  promptParam = rules.promptParam,
): GatewayError => toOpenaiError(inBandStatus(`${refusal.code} ${refusal.type}`), refusal, refusalContext, promptParam);

const inBandStatus = (text: string): number => {
  const number = /\b([45]\d\d)\b/.exec(text)?.[1];
  if (number) return Number(number);
  if (/rate_limit|slow_down|overloaded/.test(text)) return 429;
  if (/invalid_request/.test(text) || rules.filter.test(text)) return 400;
  return 500;
};

/** Client's names of the fields in a refusal. */
export interface FieldNames {
  readonly prompt: string;
  readonly toParam: (theirs: string) => string;
}

export const nativeNames: FieldNames = { prompt: 'input', toParam: (theirs) => theirs };

const chatFields: Readonly<Record<string, string>> = {
  max_output_tokens: 'max_completion_tokens',
  reasoning: 'reasoning_effort',
  'reasoning.effort': 'reasoning_effort',
  'text.verbosity': 'verbosity',
  'text.format.schema': 'response_format.json_schema.schema',
  'text.format.name': 'response_format.json_schema.name',
};

/** Names for chat completions. `turnOf` has the place in the client's body for each input item. */
export const chatNames = (turnOf: readonly string[]): FieldNames => ({
  prompt: 'messages',
  toParam: (theirs) => {
    const item = /^input\[(\d+)\]/.exec(theirs);
    if (item) return turnOf[Number(item[1])] ?? 'messages';
    if (/^input\b/.test(theirs)) return 'messages';
    if (/^text\.format\b/.test(theirs)) return chatFields[theirs] ?? 'response_format';
    const tool = /^(tools\[\d+\])\.((?:name|description|parameters|strict)\b.*)$/.exec(theirs);
    return tool ? `${tool[1]}.function.${tool[2]}` : (chatFields[theirs] ?? theirs);
  },
});

export const toResponsesError = (
  status: number,
  body: unknown,
  refusalContext: RefusalContext,
  names: FieldNames,
): GatewayError => {
  const theirs = parseRefusal(body);
  // A missing input item is the client's error, a missing model the operator's.
  const ours = status === 404 && theirs.param?.startsWith('input') ? 400 : status;
  return toOpenaiError(ours, inWordsOf(names, theirs), refusalContext, names.prompt);
};

/**
 * Codes of errors without a status that are about the client's request: `ResponseError` in the package openai 7.55.0.
 */
const aboutTheRequest = /image|context_length_exceeded/;

/**
 * Returns the error of an `error` event, of a failed response, or of another event with an `error` member. The
 * documentation puts the members of an `error` event directly in the event; in practice they are in an `error` object
 * (https://github.com/zendev-sh/goai/pull/88).
 */
export const toInBandResponsesError = (
  body: JsonObject,
  refusalContext: RefusalContext,
  names: FieldNames,
): GatewayError => {
  const holder = isJsonObject(body.response) ? body.response : body;
  const { type, ...flat } = holder;
  const refusal = inWordsOf(names, parseRefusal({ error: isJsonObject(holder.error) ? holder.error : flat }));
  return aboutTheRequest.test(refusal.code)
    ? toOpenaiError(400, refusal, refusalContext, names.prompt)
    : toInBandError(refusal, refusalContext, names.prompt);
};

const inWordsOf = ({ toParam }: FieldNames, refusal: Refusal): Refusal => ({
  ...refusal,
  param: refusal.param === undefined ? undefined : toParam(refusal.param),
});
