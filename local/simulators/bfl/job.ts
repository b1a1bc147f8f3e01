import * as z from 'zod';
import type { Scenario } from '../scenario.ts';

/** Facts of a requested image. They are in its id, so that a restarted simulator knows the jobs of the previous one. */
const jobSchema = z.strictObject({
  createdAtMs: z.int().min(0),
  width: z.int().min(1),
  height: z.int().min(1),
  about: z.string(),
  takesMs: z.number(),
  ending: z.enum(['failed', 'blocked', 'filtered']).optional(),
  unknownForMs: z.number().optional(),
  pollErrorForMs: z.number().optional(),
  bytes: z.int().optional(),
  content: z.enum(['empty', 'html', 'broken', 'missing']).optional(),
});

export type SimulatedImage = z.infer<typeof jobSchema>;

const defaultTakesMs = 1_000;
const aboutCharactersMax = 100;

/** Starts a job that follows the scenario. */
export function newImage(
  { width, height, about }: Pick<SimulatedImage, 'width' | 'height' | 'about'>,
  { video = {}, image = {}, contentFilterAfter }: Scenario,
): SimulatedImage {
  const blocked = image.blocked ? 'blocked' : undefined;
  return {
    createdAtMs: Date.now(),
    width,
    height,
    about: `${about.slice(0, aboutCharactersMax)} ${crypto.randomUUID()}`,
    takesMs: video.takesMs ?? defaultTakesMs,
    ending: contentFilterAfter === undefined ? (image.failed ? 'failed' : blocked) : 'filtered',
    unknownForMs: video.unknownForMs,
    pollErrorForMs: video.pollErrorForMs,
    bytes: image.bytes,
    content: image.content,
  };
}

export function toImageId(job: SimulatedImage): string {
  return Buffer.from(JSON.stringify(job)).toString('base64url');
}

/** Undefined for an id that the provider never gave. */
export function readImageId(id: string): SimulatedImage | undefined {
  try {
    return jobSchema.safeParse(JSON.parse(Buffer.from(id, 'base64url').toString('utf8'))).data;
  } catch {
    return undefined;
  }
}
