import * as z from 'zod';
import type { VideoModel } from '../../core/catalog/schema.ts';
import { GatewayError, invalidRequest } from '../../core/errors/gateway-error.ts';
import type { Dimensions } from '../../core/images/image-wire.ts';
import { webhookSecretOf } from '../../core/signature.ts';
import type { VideoParams } from '../../core/videos/create-video.ts';
import type { Webhook } from '../../core/videos/video-job.ts';
import type { ReferenceImage } from '../../core/videos/video-wire.ts';
import { credentialForms } from '../../http/authenticate.ts';
import type { Exchange, Form } from '../../http/exchange.ts';
import { toTextFields, withoutEmpty } from '../form-fields.ts';
import { checkImageFile } from '../image-file.ts';
import { hasAtMost, promptText } from '../optional-fields.ts';
import { parseWith, showAs } from '../parse.ts';

const PARAM = 'input_reference';

/**
 * Checks the first frame, which must have exactly the requested size (VID-2). Throws the 400 that names the problem.
 */
export const toReference = (bytes: Uint8Array, { id, video }: VideoModel, size: Dimensions): ReferenceImage => {
  if (!video.inputReference) {
    throw invalidRequest(PARAM, `${PARAM}: "${id}" does not accept a first frame. Remove the file.`);
  }
  const { mediaType, width, height } = checkImageFile(bytes, PARAM);
  if (width !== size.width || height !== size.height) {
    const asked = `${size.width}x${size.height}`;
    const message = `${PARAM}: the image is ${width}x${height}, but size is ${asked}. Send an image of ${asked}.`;
    throw new GatewayError('invalid_size', message, { param: PARAM });
  }
  return { mediaType, bytes };
};

/** Returns the problem of a URL as a sentence. Undefined if the URL looks valid so far. */
export type CheckWebhookUrl = (url: string) => string | undefined;

type Headers = Readonly<Record<string, string | undefined>>;

/**
 * Creates the webhook (VID-7). Its signing secret is derived from the API key of this request. Throws the 400 that
 * names the field.
 */
export const toWebhook = (url: string, headers: Headers, check: CheckWebhookUrl): Webhook => {
  const problem = check(url);
  if (problem !== undefined) throw invalidRequest('webhook_url', `webhook_url: ${problem}`);
  const apiKey = credentialForms.bearer.read(headers, {});
  if (apiKey === undefined) throw new Error('a video was requested without an API key');
  // A store can reject half of a character. In a URL it means the same as its replacement.
  return { url: url.toWellFormed(), secret: webhookSecretOf(apiKey) };
};

const PROMPT_CHARACTERS_MAX = 32_000;
const SECONDS_DEFAULT = '4';
const SIZE_DEFAULT = '1280x720';

const prompt = showAs(
  promptText('must be a string that describes the video').refine(
    (text) => hasAtMost(text, PROMPT_CHARACTERS_MAX),
    `must have at most ${PROMPT_CHARACTERS_MAX} characters. Shorten it.`,
  ),
  { kind: 'schema', schema: { type: 'string', minLength: 1, maxLength: PROMPT_CHARACTERS_MAX } },
);

/** Rejects any other field by name (GEN-9). */
export const videoBody = z.strictObject({
  model: z.string('must be the id of a model').min(1, 'must be the id of a model'),
  prompt,
  seconds: z.string(`must be a string such as "${SECONDS_DEFAULT}"`).nullish(),
  size: z.string(`must be a string such as "${SIZE_DEFAULT}"`).nullish(),
  webhook_url: z.string('must be a string with an http(s) URL').nullish(),
  input_reference: z.null('send the image as a file of a multipart form, not in JSON').optional(),
});

type Sent = Pick<Exchange, 'body' | 'form'> & {
  readonly event: Pick<Exchange['event'], 'headers'>;
};

/** Converts JSON or a form to the core's terms (VID-1, VID-2). Throws the 400 that names the field. */
export const toVideoParams = ({ body, form: sentForm, event }: Sent, checkWebhookUrl: CheckWebhookUrl): VideoParams => {
  const form = sentForm && withoutEmpty(sentForm);
  const sent = parseWith(videoBody, form ? toFields(form) : body?.json);
  const reference = form && referenceIn(form);
  const url = sent.webhook_url ?? undefined;
  const seconds = sent.seconds ?? SECONDS_DEFAULT;
  const size = sent.size ?? SIZE_DEFAULT;
  return {
    modelId: sent.model,
    webhook: url === undefined ? undefined : toWebhook(url, event.headers, checkWebhookUrl),
    validateFor: (model) => {
      refuseSeconds(seconds, model);
      const dimensions = toDimensions(size, model);
      return {
        prompt: sent.prompt,
        seconds: Number(seconds),
        ...dimensions,
        reference: reference && toReference(reference, model, dimensions),
      };
    },
  };
};

const REFERENCE = 'input_reference';

const toFields = (form: Form): Record<string, string> =>
  toTextFields(form, {
    files: [REFERENCE],
    content: 'image',
    isText: (name) => Object.hasOwn(videoBody.shape, name),
  });

const referenceIn = ({ files }: Form): Uint8Array | undefined => {
  const [first, second] = files;
  if (second) throw invalidRequest(REFERENCE, `${REFERENCE}: sent twice. Send only one image.`);
  return first?.bytes;
};

const refuseSeconds = (seconds: string, { id, video }: VideoModel): void => {
  if (video.seconds.includes(seconds)) return;
  const allowed = video.seconds.map((value) => `"${value}"`).join(', ');
  throw invalidRequest('seconds', `seconds: must be one of ${allowed} with "${id}".`);
};

const toDimensions = (size: string, { id, video }: VideoModel) => {
  if (!video.sizes.includes(size)) {
    const message = `size: must be one of ${video.sizes.join(', ')} with "${id}".`;
    throw new GatewayError('invalid_size', message, { param: 'size' });
  }
  const [width = '', height = ''] = size.split('x');
  return { width: Number(width), height: Number(height) };
};
