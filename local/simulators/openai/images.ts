import { pictureOf } from '../picture.ts';
import type { Scenario } from '../scenario.ts';
import { type Answer, jsonAnswer, VendorRefusal, type Wire, type WireRequest } from '../wire.ts';
import { contextLengthError, openaiError, openaiRefusal, serverErrorMessage } from './error.ts';
import { hasBearer, openaiHeaders } from './headers.ts';
import { readImageForm } from './images-form.ts';
import { type ImagesRequest, parseEdit, parseGeneration } from './images-request.ts';
import { usageOf } from './images-usage.ts';
import { modelOf } from './loose-body.ts';
import { promptOf } from './videos-request.ts';

const shared = {
  method: 'POST',
  isAuthorized: hasBearer,
  errorFrame: () => '',
  headers: openaiHeaders,
} satisfies Partial<Wire>;

/** `POST /v1/images/generations` of the GPT image models, without streaming. */
export const openaiGenerateImages: Wire = {
  ...shared,
  path: /^\/v1\/images\/generations$/,
  lastUserText: promptOf,
  answer: ({ body }, scenario) => draw(parseGeneration(body), scenario),
  refuse: (refusal, { body }) => refuse(refusal, body),
};

/** `POST /v1/images/edits`, as a form. */
export const openaiEditImages: Wire = {
  ...shared,
  path: /^\/v1\/images\/edits$/,
  lastUserText: (_, request) => promptOf(fieldsOf(request)),
  answer: (request, scenario) => draw(parseEdit(readImageForm(request)), scenario),
  refuse: (refusal, request) => refuse(refusal, fieldsOf(request)),
};

function fieldsOf(request: WireRequest): unknown {
  return readImageForm(request)?.fields;
}

function refuse(refusal: Parameters<Wire['refuse']>[0], fields: unknown): VendorRefusal {
  return openaiRefusal(refusal, modelOf(fields), contextLengthError('prompt', 32_000, 40_000));
}

/** Value that `[[image-broken]]` returns instead of base64. */
const broken = '<not base64>';

/** Always draws PNGs of exactly the size, whatever `output_format` requests; the response says `png`. */
function draw(request: ImagesRequest, scenario: Scenario): Answer {
  const { prompt, n, width, height, quality, background } = request;
  if (scenario.contentFilterAfter !== undefined) throw blocked('input');
  if (scenario.image?.blocked) throw blocked('output');
  const made = Math.max(0, n - (scenario.image?.failed ?? 0));
  if (made === 0) throw openaiError(500, serverErrorMessage);
  const data = Array.from({ length: made }, (_, index) => {
    const picture = pictureOf({ width, height, about: `${prompt} ${index}` }, scenario.image);
    return { b64_json: scenario.image?.content === 'broken' ? broken : picture.toString('base64') };
  });
  return jsonAnswer({
    created: Math.floor(Date.now() / 1_000),
    background: background === 'transparent' ? 'transparent' : 'opaque',
    output_format: 'png',
    quality: quality === 'auto' ? 'high' : quality,
    size: `${width}x${height}`,
    data,
    usage: scenario.noUsage ? undefined : usageOf({ ...request, n: made }, scenario.claimedUsage),
  });
}

/**
 * Returns the error for a blocked request, with the stage at which the violation was detected:
 * https://github.com/ucx0204/CarrotMangaTranslator/issues/122
 */
function blocked(stage: 'input' | 'output'): VendorRefusal {
  return new VendorRefusal(400, {
    error: {
      message: 'Your request was rejected by the safety system. safety_violations=[violence].',
      type: 'image_generation_user_error',
      param: null,
      code: 'moderation_blocked',
      moderation_details: { moderation_stage: stage, categories: ['violence'] },
    },
  });
}
