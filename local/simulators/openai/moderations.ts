import * as z from 'zod';
import { isRecord } from '../json-sample.ts';
import type { Scenario } from '../scenario.ts';
import { type Answer, jsonAnswer, type Wire } from '../wire.ts';
import { openaiError, openaiRefusal } from './error.ts';
import { hasBearer, openaiHeaders } from './headers.ts';
import { modelOf, textOfParts } from './loose-body.ts';
import { snapshotOf } from './model-traits.ts';
import { toVerdict } from './moderations-verdict.ts';
import { parseBody, refuseImage } from './request-errors.ts';

/** `POST /v1/moderations`. */
export const openaiModerations: Wire = {
  method: 'POST',
  path: /^\/v1\/moderations$/,
  isAuthorized: hasBearer,
  lastUserText,
  answer,
  refuse: (refusal, request) => openaiRefusal(refusal, modelOf(request.body)),
  errorFrame: () => '',
  headers: openaiHeaders,
};

const part = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string() }),
  z.strictObject({ type: z.literal('image_url'), image_url: z.strictObject({ url: z.string() }) }),
]);

/** The default model: https://developers.openai.com/api/reference/resources/moderations/methods/create */
const modelDefault = 'omni-moderation-latest';

const requestSchema = z.strictObject({
  model: z.string(),
  input: z.union([z.string(), z.array(z.string()).min(1), z.array(part).min(1)]),
});

type Part = z.infer<typeof part>;

function answer({ body }: { readonly body: unknown }, _: Scenario): Answer {
  const { model, input } = parseBody(
    requestSchema,
    isRecord(body) ? { ...body, model: body.model ?? modelDefault } : body,
  );
  return jsonAnswer({
    id: `modr-${crypto.randomUUID().replaceAll('-', '')}`,
    model: snapshotOf(model),
    results: typeof input === 'string' ? [toVerdict([input], [])] : judge(input),
  });
}

/** Judges strings one by one, and parts together. */
function judge(input: readonly (string | Part)[]): readonly object[] {
  const parts = input.filter((one) => typeof one !== 'string');
  if (parts.length === 0) return input.flatMap((one) => (typeof one === 'string' ? [toVerdict([one], [])] : []));
  const texts = parts.flatMap((one) => (one.type === 'text' ? [one.text] : []));
  const images = parts.flatMap((one) => (one.type === 'image_url' ? [one.image_url.url] : []));
  refuseImages(images);
  return [toVerdict(texts, images)];
}

/** Source of the error: https://github.com/antiwork/gumroad/pull/4709 */
function refuseImages(images: readonly string[]): void {
  if (images.length > 1) {
    const message = `Number of images (${images.length}) exceeds maximum of 1`;
    throw openaiError(400, message, { param: 'input', code: 'too_many_images' });
  }
  const refusal = images.map(refuseImage).find((found) => found !== undefined);
  if (refusal !== undefined) throw refusal;
}

const looseSchema = z.looseObject({ input: z.unknown() });
const strings = z.array(z.string());

function lastUserText(body: unknown): string {
  const input = looseSchema.safeParse(body).data?.input;
  return strings.safeParse(input).data?.join('\n') ?? textOfParts(input);
}
