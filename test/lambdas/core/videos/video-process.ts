import { type Clock, sleep } from '../../../../lambdas/core/clock.ts';
import type { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { answerOnce } from '../../../../lambdas/core/idempotency/claim.ts';
import type { ClaimStore, ResponseStore } from '../../../../lambdas/core/idempotency/claim-store.ts';
import type { LedgerStore, Outbox } from '../../../../lambdas/core/ledger/ledger.ts';
import { createVideo, type VideoOptions } from '../../../../lambdas/core/videos/create-video.ts';
import type { VideoFiles, VideoWorkflow } from '../../../../lambdas/core/videos/dependencies.ts';
import { videoCreations } from '../../../../lambdas/core/videos/existing-video.ts';
import { removeVideo } from '../../../../lambdas/core/videos/read-videos.ts';
import type { VideoJobStore } from '../../../../lambdas/core/videos/video-job.ts';
import {
  answersThrough,
  claimsThrough,
  filesThrough,
  jobsThrough,
  ledgerThrough,
  machineThrough,
  outboxThrough,
} from '../../../support/memory/every-call.ts';
import { freePassage } from '../../../support/memory/free-permit.ts';
import { resumeVideos, sweep } from '../../../support/strict-tending.ts';
import { ACCOUNT, ask, byTokens, catalogOf, type Got, LEASE_MS, orderOf, toError, toStored } from './video-samples.ts';
import type { CallRules, VideoTraffic } from './video-traffic.ts';
import type { VideoVendor } from './video-vendor.ts';

/** Everything outside the processes. */
export interface Outside {
  readonly clock: Clock;
  readonly traffic: VideoTraffic;
  readonly vendor: VideoVendor;
  readonly machine: VideoWorkflow;
  readonly ledger: LedgerStore;
  readonly outbox: Outbox;
  readonly jobs: VideoJobStore;
  readonly files: VideoFiles;
  readonly claims: ClaimStore;
  readonly answers: ResponseStore;
  readonly notice: (notice: string) => void;
  /** Returns a number from 0 up to 1, never the same twice in a row. */
  readonly random: () => number;
}

const MINUTE_MS = 60_000;

/** Polls are rare, to keep a history short. */
const times = {
  createMs: MINUTE_MS,
  pollMs: MINUTE_MS,
  pollMaxMs: 10 * MINUTE_MS,
  limitMs: 60 * MINUTE_MS,
  holdMs: 120 * MINUTE_MS,
  webhookRetryMs: 10_000,
};

const catalog = catalogOf(byTokens());

/** One process, with its view of everything outside it. */
export class VideoProcess {
  readonly #outside: Outside;
  readonly #name: string;

  constructor(outside: Outside, name: string) {
    this.#outside = outside;
    this.#name = name;
  }

  /** Sends one request for a video, with or without an idempotency key. */
  async create(key?: string): Promise<Got> {
    try {
      return await (key === undefined ? this.#make() : this.#makeOnce(key));
    } catch (error) {
      return toError(error);
    }
  }

  sweep(): Promise<unknown> {
    return sweep(this.#ledger());
  }

  resume(): Promise<unknown> {
    return resumeVideos(this.deps());
  }

  remove(videoId: string): Promise<void> {
    const { jobs, files } = this.deps();
    return removeVideo({ jobs, files, now: () => this.#outside.clock.now() }, ACCOUNT, videoId);
  }

  sleep(minutes: number): Promise<void> {
    return sleep(this.#outside.clock, minutes * MINUTE_MS);
  }

  deps() {
    const { vendor, jobs, files, machine, notice } = this.#outside;
    return {
      catalog,
      wires: new Map([['openai_videos', vendor.seenBy(this.#name)] as const]),
      jobs: jobsThrough(this.#through(), jobs),
      files: filesThrough(this.#through({ put: { once: true, prompt: true } }), files),
      machine: machineThrough(this.#through(), machine),
      ledger: this.#ledger(),
      times,
      notice,
      usageMissing: async () => undefined,
      deliver: async () => ({ status: 204, problem: undefined }),
    };
  }

  async #make(idempotent?: VideoOptions['idempotent']): Promise<Got> {
    const deps = {
      ...this.deps(),
      reachable: () => true,
      circuits: freePassage(),
      holdGraceMs: 5 * MINUTE_MS,
      upstreamDeadlineMs: 15 * MINUTE_MS,
      uncollectedDailyPicos: 1n,
    };
    const caller = { accountId: ACCOUNT, requestId: this.#name, hostEndsAtMs: undefined };
    const validateFor = () => ask({ prompt: this.#name });
    const asked = orderOf({ validateFor, webhook: { url: 'https://client.example', secret: 's' } });
    const made = await createVideo(deps, caller, asked, { dryRun: false, idempotent });
    if (made.kind !== 'video') throw new Error('unexpected dry run');
    return { status: 200, body: toStored(made.job).body };
  }

  async #makeOnce(key: string): Promise<Got> {
    const { claims, answers } = this.#outside;
    const idempotent = {
      accountId: ACCOUNT,
      keyHash: key,
      requestId: this.#name,
      fingerprint: 'one',
      renderError: ({ status, code }: GatewayError) => ({ status, headers: {}, body: code }),
      creations: videoCreations(this.deps(), toStored),
    };
    const deps = {
      claims: claimsThrough(this.#through(), claims),
      answers: answersThrough(this.#through(), answers),
      ledger: this.#ledger(),
      leaseMs: LEASE_MS,
    };
    const answered = await answerOnce(deps, idempotent, (claimed) => this.#make({ claimed, toStored }));
    if (answered.kind === 'fresh') return answered.value;
    const { status, body } = answered.answer;
    return { status, body };
  }

  #ledger() {
    const { ledger, outbox, clock, random } = this.#outside;
    return {
      store: ledgerThrough(this.#through({ hold: { once: true } }), ledger),
      outbox: outboxThrough(this.#through(), outbox),
      clock,
      random,
      shortestLifetimeMs: 5 * MINUTE_MS,
    };
  }

  #through(rules: Readonly<Record<string, CallRules>> = {}) {
    return <T>(method: string, call: () => Promise<T>): Promise<T> =>
      this.#outside.traffic.call(this.#name, call, rules[method]);
  }
}
