import * as z from 'zod';
import type { GatewayError } from '../../core/errors/gateway-error.ts';
import { type Refusal, type RefusalContext, type RefusalRules, toGatewayError } from '../refusals.ts';

/** https://platform.claude.com/docs/en/api/errors: `{type: 'error', error: {type, message, details}, request_id}`. */
const errorBody = z.object({
  error: z.object({
    type: z.string().catch(''),
    message: z.string().catch(''),
    details: z.object({ error_code: z.string() }).nullish().catch(null),
  }),
});

/**
 * Matches the message of an error for filtered output, which has no other sign of the filter. Such an error can have
 * status 400 or come in a stream instead of its end: github.com/anthropics/claude-code/issues/58367.
 */
const blocked = /^Output blocked by content filtering policy/;

export const parseRefusal = (body: unknown, toParam: ToParam): Refusal => {
  const parsed = errorBody.safeParse(body);
  if (!parsed.success) return { message: '', type: '', param: undefined, code: '' };
  const { type, message, details } = parsed.data.error;
  const path = vendorPathIn(message);
  return {
    message,
    type,
    param: path && toParam(path),
    code: blocked.test(message) ? 'content_filter' : (details?.error_code ?? ''),
  };
};

/**
 * The codes are from the package @anthropic-ai/sdk 1.11.0, resources/shared.d.ts. The messages in `oursInWords` are
 * from github.com/anthropics/claude-code/issues/38035 and 19028. These messages match only at their start, where no
 * prompt can be quoted.
 */
const rules: RefusalRules = {
  ours: /billing_error|authentication_error|permission_error|spend_limit_reached|billing_unavailable|organization_on_hold|cmek_/,
  oursInWords:
    /^(?:Your credit balance is too low|You have reached your specified (?:\w+ )?API usage limits|This organization has been disabled)/i,
  context: /prompt is too long|exceed context limit/i,
  filter: /content_filter/,
  image:
    /\.image\.source\b|could not process image|image does not match|image was specified using|image exceeds|image dimensions exceed|unable to download the file|only https urls are supported/i,
  promptParam: 'messages',
};

/**
 * Error of a response with a status. Clients of the provider's own protocol keep 529, because their SDK retries it as
 * `overloaded_error`: https://platform.claude.com/docs/en/api/errors
 */
export const toAnthropicError = (
  status: number,
  body: unknown,
  refusalContext: RefusalContext,
  toParam: ToParam,
): GatewayError => {
  const overloadedStatus = toParam === ownParam ? 529 : undefined;
  return toGatewayError(status, parseRefusal(body, toParam), refusalContext, { ...rules, overloadedStatus });
};

/**
 * Statuses by error type, as https://platform.claude.com/docs/en/api/errors lists them, for errors inside a successful
 * response.
 */
const statuses: ReadonlyMap<string, number> = new Map([
  ['invalid_request_error', 400],
  ['authentication_error', 401],
  ['billing_error', 402],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['conflict_error', 409],
  ['request_too_large', 413],
  ['rate_limit_error', 429],
  ['api_error', 500],
  ['timeout_error', 504],
  ['overloaded_error', 529],
]);

export const toInBandError = (body: unknown, refusalContext: RefusalContext, toParam: ToParam): GatewayError => {
  const { type } = parseRefusal(body, toParam);
  return toAnthropicError(statuses.get(type) ?? 500, body, refusalContext, toParam);
};

/** Place in the provider's request that an error is about. */
interface VendorPath {
  readonly field: string;
  /**
   * Member of `output_config`, the only field whose path continues with a member. In other paths, the provider puts a
   * type name before the member.
   */
  readonly member: string | undefined;
  readonly index: number | undefined;
  /** Index of the block in a message. */
  readonly block: number | undefined;
}

/** Returns the client's name of the field. Undefined if that is uncertain. */
export type ToParam = (path: VendorPath) => string | undefined;

const fields: ReadonlySet<string> = new Set([
  'cache_control',
  'max_tokens',
  'messages',
  'metadata',
  'model',
  'output_config',
  'stop_sequences',
  'stream',
  'system',
  'temperature',
  'thinking',
  'tool_choice',
  'tools',
  'top_k',
  'top_p',
]);

/**
 * Parses `messages.0.content.1.image.source.base64: ...`, or a field name in backticks at the start. In deeper paths,
 * the provider puts type names between the members.
 */
const vendorPathIn = (message: string): VendorPath | undefined => {
  const [, plain, quoted] = /^(?:([a-z_]+(?:\.\w+)*): |`([a-z_]+(?:\.\w+)*)` )/.exec(message) ?? [];
  const [field = '', second, third, fourth] = (plain ?? quoted ?? '').split('.');
  if (!fields.has(field)) return undefined;
  return {
    field,
    member: field === 'output_config' ? second : undefined,
    index: toIndex(second),
    block: third === 'content' ? toIndex(fourth) : undefined,
  };
};

const toIndex = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,6}$/.test(text) ? Number(text) : undefined;

/** Names for clients that use the provider's own protocol. */
export const ownParam: ToParam = ({ field, member, index, block }) => {
  const item = index === undefined ? field : `${field}[${index}]`;
  if (block !== undefined) return `${item}.content[${block}]`;
  return member === undefined ? item : `${item}.${member}`;
};
