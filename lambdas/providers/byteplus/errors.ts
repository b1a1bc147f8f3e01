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

/** Request number of the provider at the end of most messages. It does not help a client. */
const requestNumber = /[\s.;]*(?:ARK)?Request id:\s*\S+$/i;

export const parseArkRefusal = (body: unknown): Refusal => {
  const { param, ...rest } = errorBody.safeParse(body).data?.error ?? silent;
  return { ...rest, message: rest.message.replace(requestNumber, '.'), param: param === '' ? undefined : param };
};

const imageWords = /\bimages?\b|image_url/i;
const always = /^/;
const never = /(?!)/;

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
  image: imageWords,
  promptParam: 'prompt',
};

export const isFiltered = ({ code }: Refusal): boolean => rules.filter.test(code);

/** Our account at the vendor, not a job: the same answer is to be expected for every one. */
export const isAboutAccount = ({ code, message }: Refusal): boolean =>
  rules.ours.test(code) || rules.oursInWords.test(message);

/** Client names of the fields that the provider's messages are about. */
export interface ArkTerms {
  /** By the vendor's name of the field. */
  readonly fields: Readonly<Record<string, string>>;
  /** An image that came with the request. */
  readonly image: string;
  /** Fields whose errors are not about that image, although they may mention images. */
  readonly neverImage: ReadonlySet<string>;
}

export const videoTerms: ArkTerms = {
  fields: { duration: 'seconds', resolution: 'size', ratio: 'size', model: 'model', content: 'prompt' },
  image: 'input_reference',
  neverImage: new Set(),
};

const sameName = ['model', 'prompt', 'image', 'size', 'watermark', 'output_format', 'sequential_image_generation'];

export const imageTerms: ArkTerms = {
  fields: Object.fromEntries(sameName.map((name) => [name, name])),
  image: 'image',
  neverImage: new Set(sameName.filter((name) => name !== 'image')),
};

const fieldOf = ({ code, message, param }: Refusal, { fields, image, neverImage }: ArkTerms): string | undefined => {
  const named = param ?? /^The (?:specified )?parameter `?(\w+)/.exec(message)?.[1] ?? '';
  const field = named.split(/[.[]/, 1)[0] ?? '';
  if (neverImage.has(field)) return fields[field];
  // An error about the output is not about a field of the client.
  if (/^Output/.test(code)) return undefined;
  if (/image/i.test(code) || imageWords.test(message)) return image;
  return /InputText/.test(code) ? 'prompt' : fields[field];
};

/** `terms` says what the fields are called in the client's protocol. */
export const toArkError = (
  status: number,
  body: unknown,
  told: RefusalContext,
  terms: ArkTerms = videoTerms,
): GatewayError => {
  const refusal = parseArkRefusal(body);
  // The vendor's own filter is out of order, whatever status it says so with.
  const meant = refusal.code === 'ContentSecurityDetectionError' ? 500 : status;
  const isClients = [400, 413, 422].includes(meant);
  const param = isClients ? fieldOf(refusal, terms) : undefined;
  const image = param === terms.image ? always : never;
  return toGatewayError(meant, { ...refusal, param }, told, { ...rules, image });
};
