import * as z from 'zod';
import { issueText } from '../issue-text.ts';
import { isRecord } from '../json-sample.ts';
import { arkError, invalidParameter, missingParameter, modelNotFound } from './error.ts';
import { imageSchema, refuseImages } from './images.ts';
import { factsOf, sizeFor, type VideoModelFacts } from './models.ts';

const text = z.looseObject({ type: z.literal('text'), text: z.string() });

/** The provider ignores unknown names. Video and audio references are rejected, because they are not simulated. */
const requestSchema = z.looseObject({
  model: z.string(),
  content: z.array(z.discriminatedUnion('type', [text, imageSchema])).min(1),
  ratio: z.string().optional(),
  resolution: z.string().optional(),
  duration: z.int().optional(),
  seed: z.int().min(-1).max(0xffff_ffff).optional(),
  watermark: z.boolean().optional(),
  generate_audio: z.boolean().optional(),
  return_last_frame: z.boolean().optional(),
  service_tier: z.enum(['default', 'flex']).optional(),
  execution_expires_after: z.int().min(3_600).max(259_200).optional(),
  priority: z.int().min(0).max(9).optional(),
  output_format: z.enum(['mp4', 'mov']).optional(),
  callback_url: z.string().optional(),
  safety_identifier: z.string().max(64).optional(),
});

type TaskBody = z.infer<typeof requestSchema>;

export type TaskRequest = {
  readonly model: string;
  readonly size: string;
  readonly seconds: number;
  readonly seed: number | undefined;
  readonly silent: boolean;
};

const defaults = { resolution: '720p', seconds: 5, ratio: '16:9' };

/** Parses the request, or throws the provider's error: https://docs.byteplus.com/en/docs/ModelArk/1520757 */
export function parseTaskRequest(body: unknown): TaskRequest {
  const checked = parseBody(body);
  const facts = factsOf(checked.model);
  if (facts === undefined) throw modelNotFound(checked.model);
  const images = checked.content.filter((part) => part.type === 'image_url');
  refuseImages(images);
  const prompt = checked.content.find((part) => part.type === 'text')?.text ?? '';
  if (prompt === '' && images.length === 0) throw missingParameter('content.text');
  const { seconds, size } = parseShape(checked, facts, images.length > 0 ? 'i2v' : 't2v');
  const seed = checked.seed === -1 ? undefined : checked.seed;
  return { model: checked.model, size, seconds, seed, silent: checked.generate_audio === false };
}

function parseBody(body: unknown): TaskBody {
  if (!isRecord(body)) {
    throw arkError(400, 'InvalidParameter', 'One or more parameters specified in the request are not valid.');
  }
  for (const param of ['model', 'content']) {
    if (body[param] === undefined || body[param] === '') throw missingParameter(param);
  }
  const parsed = requestSchema.safeParse(body);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw invalidParameter(issue?.path.join('.') ?? '', issueText(issue));
}

/**
 * Checks fields in the provider's order. Without a length the response reports a chosen one; without an aspect ratio
 * the widest usual one is used.
 */
function parseShape(body: TaskBody, facts: VideoModelFacts, task: string): Pick<TaskRequest, 'seconds' | 'size'> {
  const refuse = (param: string) => {
    const message = `The parameter \`${param}\` specified in the request is not valid for model ${facts.name} in ${task}.`;
    return arkError(400, 'InvalidParameter', message, { param });
  };
  const { duration = defaults.seconds, ratio = defaults.ratio } = body;
  const seconds = duration === -1 ? defaults.seconds : duration;
  if (seconds < facts.secondsMin || seconds > facts.secondsMax) throw refuse('duration');
  const resolution = (body.resolution ?? defaults.resolution).toLowerCase();
  if (!facts.resolutions.includes(resolution)) throw refuse('resolution');
  const size = sizeFor(resolution, ratio === 'adaptive' ? defaults.ratio : ratio);
  if (size === undefined) throw refuse('ratio');
  const unwanted = facts.refuses.find((param) => body[param] !== undefined && body[param] !== false);
  if (unwanted !== undefined) throw refuse(unwanted);
  if (body.service_tier === 'flex' && facts.name.startsWith('dreamina-')) throw refuse('service_tier');
  return { seconds, size };
}
