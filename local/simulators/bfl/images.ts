import type { IncomingHttpHeaders } from 'node:http';
import * as z from 'zod';
import { pictureAnswer, readPictureName, toPictureName } from '../picture-link.ts';
import { type Scenario, withoutMarkers } from '../scenario.ts';
import { type Answer, jsonAnswer, VendorRefusal, type Wire, type WireRequest } from '../wire.ts';
import { bflError, bflRefusal } from './error.ts';
import { newImage, readImageId, type SimulatedImage, toImageId } from './job.ts';
import { parseFluxRequest } from './request.ts';

const promptSchema = z.looseObject({ prompt: z.string() });
const fluxPath = /^\/v1\/(flux-[\w.-]+)$/;
const resultPath = /^\/v1\/get_result$/;
const samplePath = /^\/results\/([\w-]+)\/sample\.png$/;

const shared = {
  isAuthorized: (headers: IncomingHttpHeaders) => typeof headers['x-key'] === 'string' && headers['x-key'] !== '',
  refuse: bflRefusal,
  errorFrame: () => '',
  headers: (requestId) => ({ 'x-request-id': requestId }),
} satisfies Partial<Wire>;

/**
 * `POST /v1/flux-2-pro` and the same endpoint of the other FLUX models:
 * https://github.com/black-forest-labs/skills/blob/main/skills/bfl-api/references/endpoints.md
 */
export const bflCreate: Wire = {
  ...shared,
  method: 'POST',
  path: fluxPath,
  lastUserText: (body) => promptSchema.safeParse(body).data?.prompt ?? '',
  answer: create,
};

/** `GET /v1/get_result?id=`: https://github.com/black-forest-labs/skills/blob/main/skills/bfl-api/references/endpoints.md */
export const bflResult: Wire = {
  ...shared,
  method: 'GET',
  path: resultPath,
  lastUserText: () => '',
  answer: retrieve,
};

/**
 * `GET /results/{name}/sample.png`: anyone with the URL may read it. A provider key in the request is rejected, so that
 * a key that is sent to the wrong host is noticed.
 */
export const bflSample: Wire = {
  ...shared,
  method: 'GET',
  path: samplePath,
  isAuthorized: () => true,
  lastUserText: () => '',
  answer({ path, headers }) {
    if (headers['x-key'] !== undefined) throw storeError(400, 'InvalidHeader');
    const picture = readPictureName(samplePath.exec(path)?.[1] ?? '');
    if (picture === undefined) throw storeError(404, 'BlobNotFound');
    return pictureAnswer(picture);
  },
};

function create({ path, body, headers }: WireRequest, scenario: Scenario): Answer {
  const { prompt, width, height, credits, inputMegapixels, outputMegapixels } = parseFluxRequest(
    fluxPath.exec(path)?.[1] ?? '',
    body,
  );
  const id = toImageId(newImage({ width, height, about: withoutMarkers(prompt) }, scenario));
  const megapixels = { input_mp: inputMegapixels, output_mp: outputMegapixels };
  return jsonAnswer({
    id,
    polling_url: `http://${headers.host}/v1/get_result?id=${id}`,
    cost: credits,
    ...(scenario.noUsage ? {} : megapixels),
  });
}

function retrieve(request: WireRequest): Answer {
  const id = request.query.get('id') ?? '';
  const job = readImageId(id);
  if (job === undefined) throw new VendorRefusal(404, { ...unfinished(id), status: 'Task not found' });
  const ageMs = Date.now() - job.createdAtMs;
  const { takesMs, ending, unknownForMs = 0, pollErrorForMs = 0 } = job;
  if (ageMs < pollErrorForMs) throw bflError(500, 'Internal Server Error');
  if (ageMs < unknownForMs) return jsonAnswer({ ...unfinished(id), status: 'Reviewing' });
  if (ageMs < takesMs) return jsonAnswer({ ...unfinished(id), status: 'Pending', progress: ageMs / takesMs });
  if (ending !== undefined) return jsonAnswer({ ...unfinished(id), status: endings[ending], details: {} });
  const { createdAtMs } = job;
  const times = { start_time: createdAtMs / 1000, end_time: (createdAtMs + takesMs) / 1000, duration: takesMs / 1000 };
  const result = { sample: addressOf(request, job), prompt: job.about, seed: 42, ...times };
  return jsonAnswer({ ...unfinished(id), status: 'Ready', result });
}

const endings = { failed: 'Failed', blocked: 'Content Moderated', filtered: 'Request Moderated' };

function unfinished(id: string): object {
  return { id, status: '', result: null, progress: null, details: null, preview: null };
}

function addressOf({ headers }: WireRequest, { width, height, about, bytes, content }: SimulatedImage): string {
  const name = toPictureName({ width, height, about }, { bytes, content });
  return `http://${headers.host}/results/${name}/sample.png`;
}

function storeError(status: number, code: string): VendorRefusal {
  const body = `<?xml version="1.0" encoding="utf-8"?><Error><Code>${code}</Code></Error>`;
  return new VendorRefusal(status, body, { 'content-type': 'application/xml' });
}
