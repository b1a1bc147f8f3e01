import type { UpstreamJob, VideoCreation, VideoStatus, VideoWire } from '../../../lambdas/core/videos/video-wire.ts';

/** What a vendor says; `turn` counts the calls of this kind from 0. */
export type Script<Asked, Answer> = (asked: Asked, turn: number) => Answer | Promise<Answer>;

export interface VideoScript {
  /** Answers the vendor's id of the job, or throws. */
  readonly create?: Script<VideoCreation, string>;
  /** Answers a status, or throws. */
  readonly poll?: Script<UpstreamJob, VideoStatus>;
}

/** A vendor of videos that does as it is told, and remembers what it was asked. */
export class ScriptedVideoWire implements VideoWire {
  readonly creations: VideoCreation[] = [];
  readonly polls: UpstreamJob[] = [];
  #script: VideoScript;

  constructor(script: VideoScript = {}) {
    this.#script = script;
  }

  /** From now on. */
  say(script: VideoScript): void {
    this.#script = { ...this.#script, ...script };
  }

  async create(creation: VideoCreation): Promise<string> {
    const turn = this.creations.push(creation) - 1;
    return (this.#script.create ?? ((_asked, n) => `upstream-${n}`))(creation, turn);
  }

  async poll(job: UpstreamJob): Promise<VideoStatus> {
    const turn = this.polls.push(job) - 1;
    return (this.#script.poll ?? (() => ({ kind: 'queued' }) as const))(job, turn);
  }
}

/** A vendor that does not answer before it is given up. */
export const neverAnswers = ({ signal }: { readonly signal: AbortSignal }): Promise<never> =>
  new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

/** Statuses one after the other; the last one holds for good. */
export const inTurn =
  <T>(first: T, ...others: readonly T[]): ((asked: unknown, turn: number) => T) =>
  (_asked, turn) =>
    (turn === 0 ? first : others[Math.min(turn, others.length) - 1]) ?? first;

/** The smallest thing that begins like an MP4 and is `size` bytes long, at least 16. */
export const mp4Of = (size = 64, fill = 7): Uint8Array => {
  const bytes = new Uint8Array(size).fill(fill);
  bytes.set([0, 0, 0, 16, ...Buffer.from('ftypisom')], 0);
  return bytes;
};

export interface FileScript {
  /** As they arrive; one MP4 in two pieces when nothing is said. */
  readonly pieces?: readonly Uint8Array[];
  /** As announced; the true length when nothing is said, `undefined` for none. */
  readonly length?: number | undefined;
  /** Thrown after the pieces. */
  readonly breaksWith?: unknown;
  readonly tokens?: number | undefined;
}

/** A status that offers a file. */
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
