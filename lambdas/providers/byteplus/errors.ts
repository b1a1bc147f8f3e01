import * as z from 'zod';
import type { GatewayError } from '../../core/errors/gateway-error.ts';
import { type Refusal, type RefusalContext, type RefusalRules, toGatewayError } from '../refusals.ts';

const MESSAGE_CHARACTERS_MAX = 2_000;

const text = z.string().catch('');

/** `{error: {code, message, param, type}}`. The last two can be empty or absent. */
const errorBody = z.object({
  error: z.object({
    code: text,
    message: text.transform((message) => message.slice(0, MESSAGE_CHARACTERS_MAX)),
    param: text,
    type: text,
  }),
});

const silent = { code: '', message: '', param: '', type: '' };

/** Most messages end with the provider's request id, which has no use for a client. */
const requestNumber = /[\s.;]*(?:ARK)?Request id:\s*\S+$/i;

export const parseArkRefusal = (body: unknown): Refusal => {
  const { param, ...rest } = errorBody.safeParse(body).data?.error ?? silent;
  return { ...rest, message: rest.message.replace(requestNumber, '.'), param: param === '' ? undefined : param };
};

const imageWords = /\bimages?\b|image_url/i;
const always = /^/;
const never = /(?!)/;

/**
 * https://docs.byteplus.com/en/docs/ModelArk/1299023 and, for the codes that page omits,
 * https://www.volcengine.com/docs/82379/1299023.
 */
const rules: RefusalRules = {
  ours: /Overdue|NotOpen|AccessDisabled|ClosedEndpoint|InvalidSubscription|InvalidAccountStatus|AuthenticationError|SetLimitExceeded|(?:Account|Plan)QuotaExceeded/,
  // The code `QuotaExceeded` alone can also mean too many waiting jobs.
  oursInWords: /exhausted its free trial quota|exceeded the .{1,40} usage quota/i,
  context: /OutofContext/,
  filter: /SensitiveContentDetected|RiskDetection\b/,
  image: imageWords,
  promptParam: 'prompt',
};

export const isFiltered = ({ code }: Refusal): boolean => rules.filter.test(code);

/** Whether the error is about the gateway's account at the provider. Every job would then get the same response. */
export const isAboutAccount = ({ code, message }: Refusal): boolean =>
  rules.ours.test(code) || rules.oursInWords.test(message);

/** Client's names for the parts of the provider's request that an error is about. */
export interface ArkTerms {
  /** By the provider's field name. */
  readonly fields: Readonly<Record<string, string>>;
  /** Name of an image that came with the request. */
  readonly image: string;
  /** Fields whose errors are never about that image, even if their message mentions images. */
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
  // A generated image is not part of the client's request.
  if (/^Output/.test(code)) return undefined;
  if (/image/i.test(code) || imageWords.test(message)) return image;
  return /InputText/.test(code) ? 'prompt' : fields[field];
};

/** `terms` has the field names of the client's protocol. */
export const toArkError = (
  status: number,
  body: unknown,
  refusalContext: RefusalContext,
  terms: ArkTerms = videoTerms,
): GatewayError => {
  const refusal = parseArkRefusal(body);
  // The provider's own filter is out of order, whatever the status.
  const meant = refusal.code === 'ContentSecurityDetectionError' ? 500 : status;
  const isClients = [400, 413, 422].includes(meant);
  const param = isClients ? fieldOf(refusal, terms) : undefined;
  const image = param === terms.image ? always : never;
  return toGatewayError(meant, { ...refusal, param }, refusalContext, { ...rules, image });
};
