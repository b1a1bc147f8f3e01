import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import type { Clock } from '../../../../lambdas/core/clock.ts';
import { auditAccount } from '../../../../lambdas/core/ledger/audit.ts';
import type { ChargeRecord } from '../../../../lambdas/core/ledger/ledger.ts';
import { isEnded, type VideoJob, videoIdOf } from '../../../../lambdas/core/videos/video-job.ts';
import type { MemoryLedgerStore } from '../../../support/memory/memory-ledger-store.ts';
import type { MemoryVideoFiles } from '../../../support/memory/memory-video-files.ts';
import type { MemoryVideoJobs } from '../../../support/memory/memory-video-jobs.ts';
import { ACCOUNT, type Got } from './video-samples.ts';

/** State after everything has ended. */
export interface Outcome {
  readonly clock: Clock;
  readonly jobs: MemoryVideoJobs;
  /** Response to each client. A client whose process died has no entry. */
  readonly told: ReadonlyMap<string, Got>;
  /** Requests that were sent with one idempotency key. */
  readonly idempotent: readonly string[];
  /** Prompts that reached a provider. */
  readonly asked: readonly string[];
  /** Videos that a client tried to remove. */
  readonly deleted: ReadonlySet<string>;
}

const rank = { queued: 0, in_progress: 1, completed: 2, failed: 2 } as const;

const amounts = (_name: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);

/** Watches every write to every video, and checks the rules at the end. */
export class VideoJudge {
  /** Last state of every video. */
  readonly seen = new Map<string, VideoJob>();
  readonly violations: string[] = [];
  readonly #ledger: MemoryLedgerStore;
  readonly #files: MemoryVideoFiles;

  constructor(ledger: MemoryLedgerStore, files: MemoryVideoFiles) {
    this.#ledger = ledger;
    this.#files = files;
  }

  watch(id: string, before: VideoJob | undefined, after: VideoJob | undefined): void {
    const wrong = (what: string): void => void this.violations.push(`${id} ${what}`);
    if (!after) {
      if (before && !isEnded(before)) wrong('was removed while it ran');
      return;
    }
    this.seen.set(id, after);
    if (before) for (const what of stepsBack(before, after)) wrong(what);
    if (after.state !== 'completed' || before?.state === 'completed') return;
    if (this.#recordOf(after)?.outcome !== 'settled') wrong('is completed and not charged');
    if (before?.state !== 'in_progress') wrong('was completed without being in progress');
    if (!this.#hasFile(after)) wrong('is completed and has no file');
  }

  /** Checks the rules that apply once no hold is open and nothing runs. */
  async judge(outcome: Outcome): Promise<void> {
    expect(this.violations).toEqual([]);
    for (const job of this.seen.values()) this.#judgeJob(job, outcome.deleted);
    this.#judgeMoney(outcome);
    this.#judgeKey(outcome);
    expect(outcome.asked.length, 'creations of one request').toBe(new Set(outcome.asked).size);
    const { jobs } = await outcome.jobs.list(ACCOUNT, { limit: 100, newestFirst: true });
    expect(jobs.filter(({ refused }) => refused)).toEqual([]);
    const audit = await auditAccount({ store: this.#ledger, records: this.#ledger, clock: outcome.clock }, ACCOUNT);
    expect(audit).toMatchObject({ findings: [], openHolds: 0 });
  }

  #judgeJob(job: VideoJob, deleted: ReadonlySet<string>): void {
    const record = this.#recordOf(job);
    const isCharged = record?.outcome === 'settled';
    expect([job.id, job.state]).toEqual([job.id, isCharged ? 'completed' : 'failed']);
    expect(record !== undefined || job.refused, `${job.id} has a record`).toBe(true);
    if (isCharged && !deleted.has(job.id)) expect(this.#hasFile(job), `${job.id} has its file`).toBe(true);
  }

  #judgeMoney({ told, idempotent }: Outcome): void {
    const charged = this.#ledger
      .recordsOf(ACCOUNT)
      .filter(({ outcome }) => outcome === 'settled')
      .map(({ requestId }) => requestId);
    expect(charged.length, 'charges of one request').toBe(new Set(charged).size);
    expect(
      charged.filter((id) => idempotent.includes(id)).length,
      'charges of one idempotency key',
    ).toBeLessThanOrEqual(1);
    for (const [requestId, { status }] of told) {
      if (status !== 200) expect(charged, `${requestId} received ${status}`).not.toContain(requestId);
    }
  }

  #judgeKey({ told, idempotent }: Outcome): void {
    const begun = idempotent.filter((id) => this.seen.get(videoIdOf(id))?.upstreamId !== undefined);
    expect(begun.length, `videos of one idempotency key: ${begun.join()}`).toBeLessThanOrEqual(1);
    const promised = idempotent.flatMap((id) => told.get(id) ?? []).filter(({ status }) => status === 200);
    expect(new Set(promised.map(({ body }) => body)).size, 'responses of one idempotency key').toBeLessThanOrEqual(1);
    for (const { body } of promised) {
      const { id } = JSON.parse(body);
      expect(this.seen.get(id)?.refused, `${id} was returned to a client`).toBe(false);
    }
  }

  #recordOf({ holdId }: VideoJob): ChargeRecord | undefined {
    return this.#ledger.recordsOf(ACCOUNT).find((record) => record.holdId === holdId);
  }

  #hasFile({ file }: VideoJob): boolean {
    const bytes = file && this.#files.bytesOf(file.name);
    return bytes !== undefined && createHash('sha256').update(bytes).digest('hex') === file?.sha256;
  }
}

const stepsBack = (before: VideoJob, after: VideoJob): readonly string[] => [
  ...(rank[after.state] < rank[before.state] ? [`went from ${before.state} to ${after.state}`] : []),
  ...(after.progress < before.progress ? ['lost progress'] : []),
  // Only the deliveries of its webhook are recorded later.
  ...(isEnded(before) && textOf(before) !== textOf({ ...after, delivery: before.delivery })
    ? ['changed after its end']
    : []),
  ...(before.upstreamId !== undefined && before.upstreamId !== after.upstreamId ? ['has another upstream id'] : []),
];

const textOf = (job: VideoJob): string => JSON.stringify(job, amounts);
