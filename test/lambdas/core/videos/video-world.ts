import type { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { answerOnce } from '../../../../lambdas/core/idempotency/claim.ts';
import type { IdempotencyDependencies } from '../../../../lambdas/core/idempotency/claim-store.ts';
import type { LedgerDependencies } from '../../../../lambdas/core/ledger/ledger.ts';
import type { MoneyMeter } from '../../../../lambdas/core/metrics.ts';
import { parseUsd } from '../../../../lambdas/core/money/usd.ts';
import { type CreateDependencies, createVideo } from '../../../../lambdas/core/videos/create-video.ts';
import { videoCreations } from '../../../../lambdas/core/videos/existing-video.ts';
import type { ResumeDependencies } from '../../../../lambdas/core/videos/resume-videos.ts';
import type { VideoJob } from '../../../../lambdas/core/videos/video-job.ts';
import {
  type Faulty,
  withClaimFaults,
  withFaults,
  withFileFaults,
  withJobFaults,
  withMachineFaults,
} from '../../../support/memory/faults.ts';
import { freePassage } from '../../../support/memory/free-permit.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { MemoryAnswerStore } from '../../../support/memory/memory-answer-store.ts';
import { MemoryClaimStore } from '../../../support/memory/memory-claim-store.ts';
import { MemoryLedgerStore } from '../../../support/memory/memory-ledger-store.ts';
import { MemoryOutbox } from '../../../support/memory/memory-outbox.ts';
import { MemoryVideoFiles } from '../../../support/memory/memory-video-files.ts';
import { type JobWatch, MemoryVideoJobs } from '../../../support/memory/memory-video-jobs.ts';
import { MemoryVideoMachine } from '../../../support/memory/memory-video-machine.ts';
import { ScriptedVideoWire, type VideoScript } from '../../../support/memory/scripted-video-wire.ts';
import {
  ACCOUNT,
  ask,
  bySeconds,
  byTokens,
  catalogOf,
  type Got,
  jobOf,
  LEASE_MS,
  NOW,
  orderOf,
  REQUEST,
  times,
  toError,
  toStored,
  VIDEO,
} from './video-samples.ts';

export interface WorldFaults {
  readonly ledger?: Parameters<typeof withFaults>[1];
  readonly jobs?: Parameters<typeof withJobFaults>[1];
  readonly files?: Parameters<typeof withFileFaults>[1];
  readonly machine?: Parameters<typeof withMachineFaults>[1];
  readonly claims?: Parameters<typeof withClaimFaults>[1];
}

export interface WorldOptions {
  readonly usd?: string;
  readonly script?: VideoScript;
  readonly faults?: WorldFaults;
  readonly models?: Parameters<typeof catalogOf>;
  readonly watch?: JobWatch;
  /** Delivers a video to the webhook URL of a client. */
  readonly deliver?: ResumeDependencies['deliver'];
}

/** Creates an account, a catalog, a scripted provider, and the video use cases on in-memory stores. */
export const videoWorld = async (options: WorldOptions = {}) => {
  const { faults = {} } = options;
  const clock = new ManualClock(NOW);
  const ledgerStore = new MemoryLedgerStore();
  await ledgerStore.createAccount(ACCOUNT, 0);
  const amountPicos = parseUsd(options.usd ?? '1000');
  await ledgerStore.credit({ accountId: ACCOUNT, ref: 'first', amountPicos, reason: 'test', at: NOW });
  const memory = {
    ledger: ledgerStore,
    jobs: new MemoryVideoJobs(options.watch),
    files: new MemoryVideoFiles(),
    machine: new MemoryVideoMachine(),
    claims: new MemoryClaimStore(),
    answers: new MemoryAnswerStore(),
    outbox: new MemoryOutbox(),
  };
  const reports: string[] = [];
  const notices: string[] = [];
  const margins: (readonly [modelId: string, picos: bigint])[] = [];
  const missing: string[] = [];
  const money: Parameters<MoneyMeter>[0][] = [];
  const measured: object[] = [];
  const delivered: VideoJob[] = [];
  const wire = new ScriptedVideoWire(options.script);
  const portsWith = (plan: WorldFaults) => {
    const ledger: LedgerDependencies & { readonly store: Faulty } = {
      store: withFaults(memory.ledger, plan.ledger ?? {}),
      outbox: memory.outbox,
      clock,
      random: () => 0.5,
      shortestLifetimeMs: 300_000,
      meter: (picos) => money.push(picos),
    };
    const steps = {
      catalog: catalogOf(...(options.models ?? [byTokens(), bySeconds()])),
      wires: new Map([['openai_videos', wire] as const]),
      jobs: withJobFaults(memory.jobs, plan.jobs ?? {}),
      files: withFileFaults(memory.files, plan.files ?? {}),
      machine: withMachineFaults(memory.machine, plan.machine ?? {}),
      ledger,
      times,
      notice: (notice) => void notices.push(notice),
      measured: (values) => void measured.push(values),
      margin: (modelId: string, picos: bigint) => void margins.push([modelId, picos]),
      usageMissing: async (modelId) => void missing.push(modelId),
      deliver:
        options.deliver ??
        (async (job) => {
          delivered.push(job);
          return { status: 204, problem: undefined };
        }),
    } satisfies ResumeDependencies;
    const create = {
      ...steps,
      reachable: () => true,
      circuits: freePassage(reports),
      notice: (notice) => void notices.push(notice),
      holdGraceMs: 300_000,
      upstreamDeadlineMs: 900_000,
      uncollectedDailyPicos: parseUsd('1'),
    } satisfies CreateDependencies;
    const claims = withClaimFaults(memory.claims, plan.claims ?? {});
    const idempotency: IdempotencyDependencies = { claims, answers: memory.answers, ledger, leaseMs: LEASE_MS };
    return { steps, creating: create, idempotency };
  };
  const own = portsWith(faults);

  /** Sends one request without an idempotency key. */
  const create = async (
    requestId = REQUEST,
    order = orderOf(),
    deps: CreateDependencies = own.creating,
  ): Promise<Got> => {
    try {
      const caller = { accountId: ACCOUNT, requestId, hostEndsAtMs: undefined };
      const created = await createVideo(deps, caller, order, { dryRun: false });
      if (created.kind !== 'video') throw new Error('unexpected dry run');
      return { status: 200, body: toStored(created.job).body };
    } catch (error) {
      return toError(error);
    }
  };

  /** Sends one request with an idempotency key, from a process whose stores have these faults. */
  const createKeyed = async (requestId: string, plan: WorldFaults = faults, key = 'key-1'): Promise<Got> => {
    const deps = plan === faults ? own : portsWith(plan);
    const caller = { accountId: ACCOUNT, requestId, hostEndsAtMs: undefined };
    const idempotent = {
      accountId: ACCOUNT,
      keyHash: key,
      requestId,
      fingerprint: 'one',
      renderError: ({ status, code }: GatewayError) => ({ status, headers: {}, body: code }),
      creations: videoCreations(deps.steps, toStored),
    };
    try {
      const answered = await answerOnce(deps.idempotency, idempotent, async (claimed) => {
        const order = orderOf({ validateFor: () => ask({ prompt: requestId }) });
        const made = await createVideo(deps.creating, caller, order, {
          dryRun: false,
          idempotent: { claimed, toStored },
        });
        if (made.kind !== 'video') throw new Error('unexpected dry run');
        return { status: 200, body: toStored(made.job).body };
      });
      if (answered.kind === 'fresh') return answered.value;
      const { status, body } = answered.answer;
      return { status, body };
    } catch (error) {
      return toError(error);
    }
  };

  const account = async () => {
    const found = await memory.ledger.readAccount(ACCOUNT);
    if (!found) throw new Error('the account is gone');
    return found;
  };
  return {
    ...own,
    clock,
    memory,
    wire,
    reports,
    notices,
    margins,
    missing,
    money,
    measured,
    delivered,
    portsWith,
    create,
    createKeyed,
    account,
    job: (id = VIDEO) => memory.jobs.jobOf(id),
    records: () => memory.ledger.recordsOf(ACCOUNT),
  };
};

export type VideoWorld = Awaited<ReturnType<typeof videoWorld>>;

/** Creates a world with one job whose hold is open. */
export const worldWithJob = async (changes: Partial<VideoJob> = {}, options: WorldOptions = {}) => {
  const world = await videoWorld(options);
  const {
    state,
    progress: _progress,
    refused,
    upstreamId,
    credentialId,
    failure,
    file,
    tokens,
    ...record
  } = jobOf(changes);
  await world.memory.ledger.hold({
    accountId: ACCOUNT,
    holdId: record.holdId,
    amountPicos: record.holdAmountPicos,
    expiresAtMs: NOW + times.holdMs,
    sweepAtMs: NOW + 300_000,
    previousHoldId: undefined,
  });
  const { jobs } = world.memory;
  await jobs.create(record, NOW + 120_000);
  if (refused) await jobs.refuse(record.id, failure ?? { code: 'upstream_error', message: 'no' });
  if (upstreamId !== undefined) await jobs.setUpstream(record.id, upstreamId, credentialId);
  if (state === 'in_progress') await jobs.advance(record.id, undefined);
  if (failure && !refused) await jobs.noteFailure(record.id, failure);
  if (file) await jobs.noteFile(record.id, file, tokens);
  return world;
};
