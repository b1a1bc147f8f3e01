import * as z from 'zod';
import { readImageInput } from '../image-input.ts';
import { issueText } from '../issue-text.ts';
import { isRecord } from '../json-sample.ts';
import { arkError, invalidParameter, missingParameter, modelNotFound } from './error.ts';
import { defaultStep, type ImageModelFacts, imageFactsOf, ratioMax } from './images-models.ts';

/** Unknown fields are ignored. */
const requestSchema = z.object({
  model: z.string(),
  prompt: z.string(),
  image: z.union([z.string(), z.array(z.string()).min(1)]).optional(),
  size: z.string().optional(),
  sequential_image_generation: z.enum(['auto', 'disabled']).optional(),
  sequential_image_generation_options: z.object({ max_images: z.int().min(1).max(15) }).optional(),
  optimize_prompt_options: z.object({ mode: z.enum(['standard', 'fast']) }).optional(),
  response_format: z.enum(['url', 'b64_json']).optional(),
  output_format: z.enum(['png', 'jpeg']).optional(),
  watermark: z.boolean().optional(),
  stream: z.boolean().optional(),
  seed: z.unknown().optional(),
  guidance_scale: z.unknown().optional(),
  n: z.unknown().optional(),
});

type DrawBody = z.infer<typeof requestSchema>;

export type DrawRequest = {
  readonly model: string;
  readonly prompt: string;
  readonly width: number;
  readonly height: number;
  readonly format: 'url' | 'b64_json';
};

/** Parses the request, or throws the provider's error: https://docs.byteplus.com/en/docs/ModelArk/1541523 */
export function parseDrawRequest(body: unknown): DrawRequest {
  const checked = parseBody(body);
  const { model, prompt, response_format: format = 'url' } = checked;
  const facts = imageFactsOf(model);
  if (facts === undefined) throw modelNotFound(model);
  refuseUnsupported(checked, facts);
  refuseReferences([checked.image ?? []].flat(), facts);
  return { model, prompt, format, ...parseSize(checked.size ?? defaultStep, facts) };
}

function parseBody(body: unknown): DrawBody {
  if (!isRecord(body)) {
    throw arkError(400, 'InvalidParameter', 'One or more parameters specified in the request are not valid.');
  }
  for (const param of ['model', 'prompt']) {
    if (body[param] === undefined || body[param] === '') throw missingParameter(param);
  }
  const parsed = requestSchema.safeParse(body);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw invalidParameter(issue?.path.join('.') ?? '', issueText(issue));
}

function refuseUnsupported(body: DrawBody, { refuses }: ImageModelFacts): void {
  const unwanted = Object.keys(body).find((param) => refuses.includes(param));
  if (unwanted !== undefined) throw invalidParameter(unwanted, `${unwanted} is not supported by the current model`);
  if (body.sequential_image_generation === 'auto' || body.stream) {
    throw invalidParameter('sequential_image_generation', 'several images in one request are not simulated');
  }
}

function refuseReferences(images: readonly string[], { imagesMax }: ImageModelFacts): void {
  if (images.length > imagesMax) throw invalidParameter('image', `at most ${imagesMax} images are supported`);
  for (const image of images) {
    const { kind } = readImageInput(image);
    if (kind === 'unreachable') {
      throw arkError(400, 'InvalidImageURL.NotAccessible', 'The image URL cannot be accessed.', { param: 'image' });
    }
    if (kind === 'unsupported') {
      throw arkError(400, 'InvalidImageURL.InvalidFormat', 'The image URL is not valid.', { param: 'image' });
    }
  }
}

/** Draws a square for each step; the simulator ignores what the prompt says about the shape. */
function parseSize(size: string, facts: ImageModelFacts): Pick<DrawRequest, 'width' | 'height'> {
  const edge = facts.steps[size];
  if (edge !== undefined) return { width: edge, height: edge };
  const [, width, height] = (/^(\d{1,5})x(\d{1,5})$/.exec(size) ?? []).map(Number);
  if (!width || !height) throw invalidParameter('size', `size must be one of ${Object.keys(facts.steps)} or WxH`);
  const pixels = width * height;
  const [unit, limit] = pixels < facts.pixelsMin ? ['least', facts.pixelsMin] : ['most', facts.pixelsMax];
  if (pixels < facts.pixelsMin || pixels > facts.pixelsMax) {
    throw invalidParameter('size', `image size must be at ${unit} ${limit} pixels`);
  }
  if (Math.max(width, height) > ratioMax * Math.min(width, height)) {
    throw invalidParameter('size', 'image aspect ratio must be between 1/16 and 16');
  }
  return { width, height };
}
