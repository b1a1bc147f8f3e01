import * as z from 'zod';
import { isRecord } from '../json-sample.ts';
import { readForm } from '../read-form.ts';
import type { WireRequest } from '../wire.ts';
import { openaiError } from './error.ts';
import { parseBody } from './request-errors.ts';
import { refuseReference } from './videos-reference.ts';

const portraitAndLandscape = ['720x1280', '1280x720'];
const sizesByModel: Readonly<Record<string, readonly string[]>> = {
  'sora-2': portraitAndLandscape,
  'sora-2-pro': [...portraitAndLandscape, '1024x1792', '1792x1024'],
};
const lengths = ['4', '8', '12'];

const requestSchema = z.strictObject({
  model: z.string(),
  prompt: z.string().min(1).max(32_000),
  seconds: z.string().optional(),
  size: z.string().optional(),
  input_reference: z.unknown().optional(),
});

export type VideoRequest = {
  readonly model: string;
  readonly prompt: string;
  readonly seconds: number;
  readonly size: string;
};

/** Parses a request of `videos.create` (https://github.com/openai/openai-node), or throws the provider's 400. */
export function parseVideoRequest(request: WireRequest): VideoRequest {
  const body = parseBody(requestSchema, bodyOf(request));
  const { model, prompt, seconds = '4', size = '720x1280', input_reference: reference } = body;
  refuseOther('model', model, Object.keys(sizesByModel));
  refuseOther('seconds', seconds, lengths);
  refuseOther('size', size, sizesByModel[model] ?? []);
  if (reference !== undefined) refuseReference(reference, size);
  return { model, prompt, seconds: Number(seconds), size };
}

function refuseOther(param: string, value: string, known: readonly string[]): void {
  if (known.includes(value)) return;
  const names = new Intl.ListFormat('en').format(known.map((one) => `'${one}'`));
  throw openaiError(400, `Invalid value: '${value}'. Supported values are: ${names}.`, {
    param,
    code: 'invalid_value',
  });
}

/** Returns the fields of a JSON or form body; undefined for other bodies. */
export function bodyOf({ headers, body, bytes }: WireRequest): unknown {
  return /^multipart\/form-data\b/i.test(headers['content-type'] ?? '') ? readForm(headers, bytes) : body;
}

export function promptOf(body: unknown): string {
  return isRecord(body) && typeof body.prompt === 'string' ? body.prompt : '';
}
