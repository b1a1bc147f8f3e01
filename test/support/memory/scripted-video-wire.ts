import type { CreatedJob } from '../../../lambdas/core/videos/video-job.ts';
import type { UpstreamJob, VideoCreation, VideoStatus, VideoWire } from '../../../lambdas/core/videos/video-wire.ts';

/** Returns the provider's result. `turn` counts the calls of this kind from 0. */
export type Script<Asked, Answer> = (asked: Asked, turn: number) => Answer | Promise<Answer>;

export interface VideoScript {
  /** Returns the provider's job id, or throws. */
  readonly create?: Script<VideoCreation, string>;
  /** Returns a status, or throws. */
  readonly poll?: Script<UpstreamJob, VideoStatus>;
}

/** Credential that creates every job. */
export const CREDENTIAL = 'credential-1';

/** Video provider that follows a script and records its calls. */
export class ScriptedVideoWire implements VideoWire {
  readonly creations: VideoCreation[] = [];
  readonly polls: UpstreamJob[] = [];
  #script: VideoScript;

  constructor(script: VideoScript = {}) {
    this.#script = script;
  }

  /** Replaces parts of the script for later calls. */
  say(script: VideoScript): void {
    this.#script = { ...this.#script, ...script };
  }

  async create(creation: VideoCreation): Promise<CreatedJob> {
    const turn = this.creations.push(creation) - 1;
    const upstreamId = await (this.#script.create ?? ((_asked, n) => `upstream-${n}`))(creation, turn);
    return { upstreamId, credentialId: CREDENTIAL };
  }

  async poll(job: UpstreamJob): Promise<VideoStatus> {
    const turn = this.polls.push(job) - 1;
    return (this.#script.poll ?? (() => ({ kind: 'queued' }) as const))(job, turn);
  }
}

/** Never responds. Rejects when the caller aborts. */
export const neverAnswers = ({ signal }: { readonly signal: AbortSignal }): Promise<never> =>
  new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

/** Returns the values one after the other, then always the last one. */
export const inTurn =
  <T>(first: T, ...others: readonly T[]): ((asked: unknown, turn: number) => T) =>
  (_asked, turn) =>
    (turn === 0 ? first : others[Math.min(turn, others.length) - 1]) ?? first;

/** Returns `size` bytes, at least 16, that begin like an MP4. */
export const mp4Of = (size = 64, fill = 7): Uint8Array => {
  const bytes = new Uint8Array(size).fill(fill);
  bytes.set([0, 0, 0, 16, ...Buffer.from('ftypisom')], 0);
  return bytes;
};

export interface FileScript {
  /** Pieces in the order of arrival. By default one MP4 in two pieces. */
  readonly pieces?: readonly Uint8Array[];
  /** Announced length in bytes. By default the true length. `undefined` announces none. */
  readonly length?: number | undefined;
  /** Error to throw after the pieces. */
  readonly breaksWith?: unknown;
  readonly tokens?: number | undefined;
}

/** Returns the status of a finished job with a file. */
export const succeededWith = (script: FileScript = {}): VideoStatus => {
  const whole = mp4Of();
  const pieces = script.pieces ?? [whole.subarray(0, 5), whole.subarray(5)];
  const length = 'length' in script ? script.length : pieces.reduce((sum, piece) => sum + piece.length, 0);
  async function* bytes(): AsyncGenerator<Uint8Array> {
    yield* pieces;
    if (script.breaksWith !== undefined) throw script.breaksWith;
  }
  return { kind: 'succeeded', tokens: script.tokens, open: async () => ({ bytes: bytes(), length }) };
};
