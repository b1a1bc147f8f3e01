import { imageSize } from 'image-size';
import * as z from 'zod';
import { readImageInput } from '../image-input.ts';
import { issueText } from '../issue-text.ts';
import { isRecord } from '../json-sample.ts';
import { bflError, invalidField } from './error.ts';

/**
 * Bounds of the sizes, read on 2026-11-29:
 * https://github.com/black-forest-labs/skills/blob/main/skills/bfl-api/references/endpoints.md. No bound for the longest
 * edge or the ratio: https://github.com/withceleste/celeste-python/issues/369, 2026-08-31.
 */
const edgeMin = 64;
const edgeStep = 16;
const pixelsMax = 2048 * 2048;
const pixelsDefault = 1024;
const imageFieldsMax = 8;

/** Maximum number of images, and credits for the first and for each further megapixel. */
type FluxFacts = { readonly imagesMax: number; readonly creditsFirst: number; readonly creditsMore: number };

const models: Readonly<Record<string, FluxFacts>> = {
  'flux-2-pro': { imagesMax: 8, creditsFirst: 3, creditsMore: 1.5 },
  'flux-2-max': { imagesMax: 8, creditsFirst: 7, creditsMore: 3 },
  'flux-2-flex': { imagesMax: 8, creditsFirst: 5, creditsMore: 5 },
  'flux-2-klein-4b': { imagesMax: 4, creditsFirst: 1.4, creditsMore: 0.1 },
  'flux-2-klein-9b': { imagesMax: 4, creditsFirst: 1.5, creditsMore: 0.2 },
};

const fieldsSchema = z.object({
  prompt: z.string(),
  width: z.int().min(edgeMin).multipleOf(edgeStep).optional(),
  height: z.int().min(edgeMin).multipleOf(edgeStep).optional(),
  seed: z.int().nullish(),
  safety_tolerance: z.int().min(0).max(5).optional(),
  output_format: z.enum(['jpeg', 'png', 'webp']).nullish(),
});

export type FluxRequest = {
  readonly prompt: string;
  readonly width: number;
  readonly height: number;
  readonly inputMegapixels: number;
  readonly outputMegapixels: number;
  readonly credits: number;
};

/**
 * Parses the request, or throws the provider's error. Unknown fields are ignored.
 * https://github.com/black-forest-labs/skills/blob/main/skills/bfl-api/references/endpoints.md
 */
export function parseFluxRequest(model: string, body: unknown): FluxRequest {
  const facts = models[model];
  if (facts === undefined) throw bflError(404, 'Not Found');
  if (!isRecord(body)) throw invalidField([], 'Input should be a valid dictionary', 'model_attributes_type');
  const allFields = Array.from({ length: imageFieldsMax }, (_, index) => fieldAt(index));
  const imageFields = allFields.slice(0, facts.imagesMax);
  const beyond = allFields.slice(facts.imagesMax).find((name) => body[name] != null);
  if (beyond !== undefined) throw invalidField([beyond], 'Extra inputs are not permitted', 'extra_forbidden');
  const parsed = fieldsSchema.safeParse(body);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw invalidField(issue?.path.map(String) ?? [], issueText(issue));
  }
  const inputMegapixels = sum(imageFields.map((name) => megapixelsOf(name, body[name])));
  const { prompt, width = pixelsDefault, height = pixelsDefault } = parsed.data;
  if (width * height > pixelsMax) throw invalidField(['width'], 'The image must not have more than 4 megapixels');
  const outputMegapixels = toMegapixels(width * height);
  const more = Math.max(0, outputMegapixels - 1) + inputMegapixels;
  const credits = facts.creditsFirst + facts.creditsMore * more;
  return { prompt, width, height, inputMegapixels, outputMegapixels, credits };
}

function fieldAt(index: number): string {
  return index === 0 ? 'input_image' : `input_image_${index + 1}`;
}

/**
 * Returns the megapixels of an input image. The value is a URL, which is not fetched and counts as one megapixel, or
 * base64 with or without the prefix of a data URI.
 */
function megapixelsOf(name: string, value: unknown): number {
  if (value === undefined || value === null) return 0;
  if (typeof value !== 'string') throw invalidField([name], 'Input should be a valid string', 'string_type');
  const isUrl = /^https?:/.test(value);
  const input = isUrl || value.startsWith('data:') ? value : `data:application/octet-stream;base64,${value}`;
  const { kind } = readImageInput(input);
  if (kind === 'unreachable') throw bflError(400, `Failed to fetch the image of ${name}`);
  if (kind === 'unsupported') throw invalidField([name], 'Invalid image: neither a URL nor base64 of an image');
  if (isUrl) return 1;
  return toMegapixels(pixelsIn(Buffer.from(value.replace(/^data:[^,]*,/, ''), 'base64')));
}

function pixelsIn(bytes: Buffer): number {
  try {
    const { width, height } = imageSize(bytes);
    return width * height;
  } catch {
    throw bflError(400, 'Invalid image: it could not be decoded');
  }
}

/** Rounds to a hundredth, as the provider does. */
function toMegapixels(pixels: number): number {
  return Math.round(pixels / 10_000) / 100;
}

function sum(counts: readonly number[]): number {
  return Math.round(counts.reduce((total, each) => total + each, 0) * 100) / 100;
}
