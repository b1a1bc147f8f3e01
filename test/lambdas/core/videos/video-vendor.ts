import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import type { UpstreamJob, VideoCreation, VideoStatus, VideoWire } from '../../../../lambdas/core/videos/video-wire.ts';
import { CREDENTIAL, mp4Of, succeededWith } from '../../../support/memory/scripted-video-wire.ts';
import type { VideoTraffic } from './video-traffic.ts';

/** Behavior of the provider for one video. */
export interface VendorPlan {
  readonly create: 'accepts' | 'refuses' | 'breaks' | 'accepts-silently';
  readonly later: 'finishes' | 'fails' | 'stalls' | 'vanishes' | 'is-unclear' | 'breaks-once' | 'breaks';
  /** Number of polls before `later` applies. */
  readonly polls: number;
  /** Token count of each poll that finds the video finished. The last count repeats. Empty: no count. */
  readonly tokens: readonly number[];
}

interface Made {
  readonly plan: VendorPlan;
  readonly file: Uint8Array;
  polls: number;
  ended: number;
}

const noAnswer = (): GatewayError => new GatewayError('upstream_error', 'no answer came');

/** A video provider that many processes call, through calls that fail. */
export class VideoVendor {
  readonly #plans: readonly VendorPlan[];
  readonly #traffic: VideoTraffic;
  readonly #made = new Map<string, Made>();
  /** Prompts of all creations that reached the provider, whatever the response. */
  readonly asked: string[] = [];

  constructor(plans: readonly VendorPlan[], traffic: VideoTraffic) {
    this.#plans = plans;
    this.#traffic = traffic;
  }

  seenBy(process: string): VideoWire {
    const call = <T>(signal: AbortSignal, execute: () => Promise<T>): Promise<T> =>
      Promise.race([this.#traffic.call(process, execute, { once: true, noAnswer }), aborted(signal)]);
    return {
      create: (creation) =>
        call(creation.signal, () => this.#create(creation)).then((upstreamId) =>
          upstreamId === undefined ? aborted(creation.signal) : { upstreamId, credentialId: CREDENTIAL },
        ),
      poll: (job) => call(job.signal, () => this.#poll(job)),
    };
  }

  /** Returns undefined if the creation is accepted without a response. */
  async #create({ prompt }: VideoCreation): Promise<string | undefined> {
    const plan = this.#plans[this.asked.length] ?? plain;
    const upstreamId = `upstream-${this.asked.push(prompt)}`;
    if (plan.create === 'refuses') throw new GatewayError('content_filter', 'not this one');
    if (plan.create === 'breaks') throw noAnswer();
    this.#made.set(upstreamId, { plan, file: mp4Of(64, this.asked.length), polls: 0, ended: 0 });
    return plan.create === 'accepts-silently' ? undefined : upstreamId;
  }

  async #poll({ upstreamId }: UpstreamJob): Promise<VideoStatus> {
    const made = this.#made.get(upstreamId);
    if (!made) return { kind: 'gone' };
    made.polls += 1;
    const { plan, polls } = made;
    if (polls <= plan.polls) return polls === 1 ? { kind: 'queued' } : { kind: 'running', progress: polls * 10 };
    switch (plan.later) {
      case 'fails':
        return { kind: 'failed', failure: { code: 'content_filter', message: 'not this one' } };
      case 'stalls':
        return { kind: 'running', progress: 99 };
      case 'vanishes':
        return { kind: 'gone' };
      case 'is-unclear':
        return { kind: 'unknown' };
      default:
        return this.#finish(made);
    }
  }

  #finish(made: Made): VideoStatus {
    const { plan, file, ended } = made;
    made.ended += 1;
    const isBroken = plan.later === 'breaks' || (plan.later === 'breaks-once' && ended < 2);
    const pieces = isBroken ? [file.subarray(0, 20)] : [file.subarray(0, 3), file.subarray(3)];
    const tokens = plan.tokens[Math.min(ended, plan.tokens.length - 1)];
    return succeededWith({ pieces, length: file.length, tokens });
  }
}

const plain: VendorPlan = { create: 'accepts', later: 'finishes', polls: 1, tokens: [90_000] };

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
