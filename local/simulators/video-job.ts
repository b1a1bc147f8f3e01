import * as z from 'zod';
import type { Scenario } from './scenario.ts';

/**
 * Facts of a requested video. They are in its id, so that a restarted simulator, on any port, knows the jobs of the
 * previous one.
 */
const jobSchema = z.strictObject({
  createdAtMs: z.int().min(0),
  model: z.string(),
  /** `1280x720`. */
  size: z.string().regex(/^\d+x\d+$/),
  seconds: z.int().min(1),
  /** Distinguishes equal jobs, and seeds what the provider chooses at random. */
  nonce: z.int().min(0).max(0xffff_ffff),
  prompt: z.string().optional(),
  seed: z.int().optional(),
  silent: z.boolean().optional(),
  noUsage: z.boolean().optional(),
  tokens: z.int().optional(),
  video: z
    .strictObject({
      takesMs: z.number().optional(),
      ending: z.enum(['failed', 'blocked', 'stalled', 'vanished']).optional(),
      unknownForMs: z.number().optional(),
      pollErrorForMs: z.number().optional(),
      fileBytes: z.number().optional(),
      fileMs: z.number().optional(),
      file: z.enum(['broken', 'html', 'missing']).optional(),
    })
    .optional(),
});

export type SimulatedVideo = z.infer<typeof jobSchema>;

/** `made`: the final state. `lost`: the provider does not know the job. `ailing`: the provider itself fails. */
export type VideoStage =
  | { readonly kind: 'queued' | 'lost' | 'ailing' | 'unknown' }
  | { readonly kind: 'running'; readonly progress: number }
  | { readonly kind: 'made' | 'failed' | 'blocked'; readonly atMs: number };

const defaultTakesMs = 4_000;

export type AskedVideo = Pick<SimulatedVideo, 'model' | 'size' | 'seconds' | 'prompt' | 'seed' | 'silent'>;

/** Starts a job that follows the scenario. */
export function newVideo(asked: AskedVideo, { video, noUsage, claimedUsage }: Scenario): SimulatedVideo {
  const [nonce = 0] = crypto.getRandomValues(new Uint32Array(1));
  return {
    createdAtMs: Date.now(),
    ...asked,
    nonce,
    noUsage: noUsage || undefined,
    tokens: claimedUsage?.output,
    video: video && Object.keys(video).length > 0 ? video : undefined,
  };
}

/** The job's id, behind the provider's prefix. */
export function toVideoId(prefix: string, job: SimulatedVideo): string {
  return `${prefix}${Buffer.from(JSON.stringify(job)).toString('base64url')}`;
}

/** Undefined for an id that this provider never gave. */
export function readVideoId(prefix: string, id: string): SimulatedVideo | undefined {
  if (!id.startsWith(prefix)) return undefined;
  try {
    return jobSchema.safeParse(JSON.parse(Buffer.from(id.slice(prefix.length), 'base64url').toString('utf8'))).data;
  } catch {
    return undefined;
  }
}

export function stageOf({ createdAtMs, video = {} }: SimulatedVideo, nowMs: number): VideoStage {
  const { takesMs = defaultTakesMs, ending, unknownForMs = 0, pollErrorForMs = 0 } = video;
  const ageMs = nowMs - createdAtMs;
  const queuedMs = takesMs / 4;
  if (ageMs < pollErrorForMs) return { kind: 'ailing' };
  if (ageMs < unknownForMs) return { kind: 'unknown' };
  if (ageMs < queuedMs) return { kind: 'queued' };
  if (ending === 'vanished' && ageMs >= takesMs / 2) return { kind: 'lost' };
  if (ageMs < takesMs || ending === 'stalled') {
    const progress = Math.floor((100 * (ageMs - queuedMs)) / (takesMs - queuedMs));
    return { kind: 'running', progress: Math.min(99, progress) || 0 };
  }
  const atMs = createdAtMs + takesMs;
  return { kind: ending === 'failed' || ending === 'blocked' ? ending : 'made', atMs };
}
