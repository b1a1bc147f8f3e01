import * as z from 'zod';
import { hasBearer } from '../openai/headers.ts';
import { modelOf } from '../openai/loose-body.ts';
import { pictureOf } from '../picture.ts';
import { pictureAnswer, readPictureName, toPictureName } from '../picture-link.ts';
import { type ImageScenario, type Scenario, withoutMarkers } from '../scenario.ts';
import { type Answer, jsonAnswer, type Wire, type WireRequest } from '../wire.ts';
import { arkError, arkRefusal, internalMessage, withRequestId } from './error.ts';
import { noSuchKey, refuseUnsigned, signedAddress, storeWire } from './files.ts';
import { imageTokensOf } from './images-models.ts';
import { type DrawRequest, parseDrawRequest } from './images-request.ts';

const promptSchema = z.looseObject({ prompt: z.string() });

/** `POST /api/v3/images/generations`. */
export const byteplusDraw: Wire = {
  method: 'POST',
  path: /^\/api\/v3\/images\/generations$/,
  isAuthorized: hasBearer,
  lastUserText: (body) => promptSchema.safeParse(body).data?.prompt ?? '',
  answer: draw,
  refuse: (refusal, { body }) => arkRefusal(refusal, modelOf(body)),
  errorFrame: () => '',
  headers: (requestId) => ({ 'x-request-id': requestId }),
};

const drawnPath = /^\/drawn\/([\w-]+)\.png$/;

/** `GET /drawn/{name}.png`: an image at a signed URL. */
export const byteplusDrawnFile: Wire = {
  ...storeWire,
  path: drawnPath,
  answer(request) {
    const name = drawnPath.exec(request.path)?.[1] ?? '';
    refuseUnsigned(request, name);
    const picture = readPictureName(name);
    if (picture === undefined) throw noSuchKey();
    return pictureAnswer(picture);
  },
};

function draw(request: WireRequest, scenario: Scenario): Answer {
  const asked = parseDrawRequest(request.body);
  if (scenario.contentFilterAfter !== undefined) throw sensitive('InputText', 'input text');
  const { image = {} } = scenario;
  if (image.blocked) throw sensitive('OutputImage', 'output image');
  const isMade = !image.failed;
  const tokens = isMade ? imageTokensOf(asked) : 0;
  const usage = { generated_images: isMade ? 1 : 0, output_tokens: tokens, total_tokens: tokens };
  return jsonAnswer({
    model: asked.model,
    created: Math.floor(Date.now() / 1000),
    data: [isMade ? toItem(request, asked, image) : { error: failure() }],
    ...(scenario.noUsage ? {} : { usage }),
  });
}

function toItem(request: WireRequest, { prompt, width, height, format }: DrawRequest, image: ImageScenario): object {
  const size = `${width}x${height}`;
  const picture = { width, height, about: withoutMarkers(prompt) };
  if (format === 'url') {
    const name = toPictureName(picture, image);
    return { url: signedAddress(request, `/drawn/${name}.png`, name), size };
  }
  const text = pictureOf(picture, image).toString('base64');
  return { b64_json: image.content === 'broken' ? `!${text.slice(0, text.length / 2)}` : text, size };
}

function failure(): object {
  return { code: 'InternalServiceError', message: withRequestId(internalMessage) };
}

/**
 * Returns an error for blocked content. The message is that of https://github.com/vm0-ai/vm0/issues/30959, which is
 * about other content.
 */
function sensitive(about: string, words: string) {
  const message = `The request failed because the ${words} may contain sensitive information.`;
  return arkError(400, `${about}SensitiveContentDetected`, message);
}
