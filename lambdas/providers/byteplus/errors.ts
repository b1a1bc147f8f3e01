import * as z from 'zod';
import type { GatewayError } from '../../core/errors/gateway-error.ts';
import { type Refusal, type RefusalContext, type RefusalRules, toGatewayError } from '../refusals.ts';

const MESSAGE_CHARACTERS_MAX = 2_000;

const text = z.string().catch('');

/** `{error: {code, message, param, type}}`, the last two sometimes empty or absent. */
const errorBody = z.object({
  error: z.object({
    code: text,
    message: text.transform((message) => message.slice(0, MESSAGE_CHARACTERS_MAX)),
    param: text,
    type: text,
  }),
});

const silent = { code: '', message: '', param: '', type: '' };

/** At the end of most messages stands the vendor's own number of the request, which is nothing to a client. */
const requestNumber = /[\s.;]*(?:ARK)?Request id:\s*\S+$/i;

export const parseArkRefusal = (body: unknown): Refusal => {
  const { param, ...rest } = errorBody.safeParse(body).data?.error ?? silent;
  return { ...rest, message: rest.message.replace(requestNumber, '.'), param: param === '' ? undefined : param };
};

/**
 * https://docs.byteplus.com/en/docs/ModelArk/1299023 and, for the codes that page leaves out,
 * https://www.volcengine.com/docs/82379/1299023.
 */
const rules: RefusalRules = {
  ours: /Overdue|NotOpen|AccessDisabled|ClosedEndpoint|InvalidSubscription|InvalidAccountStatus|AuthenticationError|SetLimitExceeded|(?:Account|Plan)QuotaExceeded/,
  // The code `QuotaExceeded` alone is said of too many waiting jobs, too.
  oursInWords: /exhausted its free trial quota|exceeded the .{1,40} usage quota/i,
  context: /OutofContext/,
  filter: /SensitiveContentDetected|RiskDetection\b/,
  image: /\bimages?\b|image_url/i,
  promptParam: 'prompt',
};

export const isFiltered = ({ code }: Refusal): boolean => rules.filter.test(code);

/** Our account at the vendor, not a job: the same answer is to be expected for every one. */
export const isAboutAccount = ({ code, message }: Refusal): boolean =>
  rules.ours.test(code) || rules.oursInWords.test(message);

const fields: Readonly<Record<string, string>> = {
  duration: 'seconds',
  resolution: 'size',
  ratio: 'size',
  model: 'model',
  content: 'prompt',
};

/** The vendor's words are about its own request: what the client calls that which they are about. */
const fieldOf = ({ code, message, param }: Refusal): string | undefined => {
  if (/image/i.test(code) || rules.image.test(message)) return 'input_reference';
  if (/InputText/.test(code)) return 'prompt';
  const named = param ?? /^The (?:specified )?parameter `?(\w+)/.exec(message)?.[1] ?? '';
  return fields[named.split(/[.[]/, 1)[0] ?? ''];
};

export const toArkError = (status: number, body: unknown, told: RefusalContext): GatewayError => {
  const refusal = parseArkRefusal(body);
  // The vendor's own filter is out of order, whatever status it says so with.
  const meant = refusal.code === 'ContentSecurityDetectionError' ? 500 : status;
  const isClients = [400, 413, 422].includes(meant);
  return toGatewayError(meant, { ...refusal, param: isClients ? fieldOf(refusal) : undefined }, told, rules);
};
