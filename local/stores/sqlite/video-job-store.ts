import * as z from 'zod';
import { type ErrorCode, errorCodes } from '../../../lambdas/core/errors/error-codes.ts';
import type {
  AbandonReply,
  CreateReply,
  Ending,
  JobPage,
  JobPosition,
  JobRange,
  VideoJobStore,
} from '../../../lambdas/core/videos/video-job.ts';
import {
  isEnded,
  readableJobs,
  type VideoJob,
  type VideoParamsRecord,
} from '../../../lambdas/core/videos/video-job.ts';
import { type Database, numberOf, optionalTextOf, type Row, textOf } from './database.ts';
import { jsonOf, toJson } from './json-column.ts';

/**
 * Videos in SQLite. Every write and read is durable. A job that cannot be read throws an Error that names the video. A
 * change keeps fields of a newer release.
 */
export const createVideoJobStore = (db: Database): VideoJobStore => {
  const change = (id: string, changesOf: (job: VideoJob) => Partial<VideoJob> | boolean): Promise<boolean> =>
    db.writeDurably(() => {
      const row = readRow(db, id);
      if (!row || row.job === null) return false;
      const job = toJob(row);
      const changes = changesOf(job);
      if (typeof changes === 'object') update(db, row, { ...job, ...changes }, changes);
      return changes !== false;
    });
  return {
    create: (order, dueAtMs) => db.writeDurably(() => create(db, order, dueAtMs)),
    abandon: (id) => db.writeDurably(() => abandon(db, id)),
    read: (id) =>
      db.read(() => {
        const row = readRow(db, id);
        return row && row.job !== null ? toJob(row) : undefined;
      }),
    locate: (id) => db.read(() => locate(db, id)),
    setUpstream: (id, upstreamId, credentialId) =>
      change(id, (job) => (hasNotBegun(job) ? { upstreamId, credentialId } : job.upstreamId === upstreamId)),
    refuse: (id, failure) =>
      change(id, (job) => (hasNotBegun(job) ? { state: 'failed', failure, refused: true } : job.refused)),
    advance: (id, progress = 0) =>
      change(id, (job) => !isEnded(job) && { state: 'in_progress', progress: Math.max(job.progress, progress) }),
    noteFailure: (id, failure) => change(id, (job) => !isEnded(job) && (job.failure ? {} : { failure })),
    noteFile: (id, file, tokens) =>
      change(id, (job) => (isEnded(job) || job.file ? job.file?.name === file.name : { file, tokens })),
    noteDelivery: (id, delivery) =>
      change(id, (job) => isEnded(job) && ((job.delivery?.attempts ?? 0) < delivery.attempts ? { delivery } : true)),
    end: (id, ending: Ending) => change(id, (job) => (isEnded(job) ? job.state === ending.state : ending)),
    list: (accountId, range) => db.read(() => list(db, accountId, range)),
    remove: (id) => db.writeDurably(() => remove(db, id)),
    due: (nowMs) =>
      db.read(() =>
        db
          .sql('SELECT id FROM videos WHERE due_at <= ?')
          .all(nowMs)
          .map((row) => textOf(row, 'id')),
      ),
    // Only a job that has not ended has a `due_at`.
    postpone: (id, dueAtMs) =>
      db.writeDurably(
        () => db.sql('UPDATE videos SET due_at = ? WHERE id = ? AND due_at IS NOT NULL').run(dueAtMs, id) === 1,
      ),
  };
};

const hasNotBegun = ({ state, upstreamId }: VideoJob): boolean => state === 'queued' && upstreamId === undefined;

const readRow = (db: Database, id: string): Row | undefined => db.sql('SELECT * FROM videos WHERE id = ?').get(id);

const create = (db: Database, order: VideoParamsRecord, dueAtMs: number): CreateReply => {
  const present = readRow(db, order.id);
  if (present) return present.job === null ? { kind: 'closed' } : { kind: 'exists', job: toJob(present) };
  const job: VideoJob = { ...order, state: 'queued', progress: 0, refused: false };
  db.sql('INSERT INTO videos (id, account_id, created_at, listed, due_at, job) VALUES (?, ?, ?, 1, ?, ?)').run(
    order.id,
    order.accountId,
    order.createdAtMs,
    dueAtMs,
    toJson(job),
  );
  return { kind: 'created' };
};

const abandon = (db: Database, id: string): AbandonReply => {
  const present = readRow(db, id);
  if (!present) {
    db.sql('INSERT INTO videos (id, listed) VALUES (?, 0)').run(id);
    return { kind: 'abandoned' };
  }
  if (present.job !== null) return { kind: 'exists', job: toJob(present) };
  return { kind: present.account_id === null ? 'abandoned' : 'removed' };
};

const locate = (db: Database, id: string): JobPosition | undefined => {
  const row = readRow(db, id);
  const accountId = row && optionalTextOf(row, 'account_id');
  return row && accountId !== undefined ? positionOf(row, accountId) : undefined;
};

const update = (db: Database, row: Row, job: VideoJob, changes: Partial<VideoJob>): void => {
  const sql = isEnded(job)
    ? 'UPDATE videos SET job = ?, listed = ?, due_at = NULL WHERE id = ?'
    : 'UPDATE videos SET job = ?, listed = ? WHERE id = ?';
  db.sql(sql).run(toJson({ ...JSON.parse(textOf(row, 'job')), ...changes }), job.refused ? 0 : 1, job.id);
};

/** The account and the time of creation stay, so that a list can continue after a removed video. */
const remove = (db: Database, id: string): boolean =>
  db
    .sql('UPDATE videos SET job = NULL, listed = 0 WHERE id = ? AND account_id IS NOT NULL AND due_at IS NULL')
    .run(id) === 1;

const list = (db: Database, accountId: string, { limit, after, newestFirst }: JobRange): JobPage => {
  const from = after ?? (newestFirst ? { createdAtMs: Number.MAX_SAFE_INTEGER, id: '' } : { createdAtMs: 0, id: '' });
  const sql = newestFirst
    ? `${SELECT_LISTED} AND (created_at, id) < (?, ?) ORDER BY created_at DESC, id DESC LIMIT ?`
    : `${SELECT_LISTED} AND (created_at, id) > (?, ?) ORDER BY created_at, id LIMIT ?`;
  // One more row shows whether there are more.
  const rows = db.sql(sql).all(accountId, from.createdAtMs, from.id, limit + 1);
  const page = rows.slice(0, limit);
  const jobs = readableJobs(page, toJob);
  const more = rows.length > limit;
  const last = page.at(-1);
  // A caller cannot continue after a page without jobs.
  if (jobs.length === 0 && more && last)
    return list(db, accountId, { limit, newestFirst, after: positionOf(last, accountId) });
  return { jobs, more };
};

const positionOf = (row: Row, accountId: string): JobPosition => ({
  id: textOf(row, 'id'),
  accountId,
  createdAtMs: numberOf(row, 'created_at'),
});

const SELECT_LISTED = 'SELECT id, created_at, job FROM videos WHERE listed = 1 AND account_id = ?';

const toJob = (row: Row): VideoJob => {
  try {
    return jsonOf(row, 'job', jobSchema);
  } catch (cause) {
    throw new Error(`${textOf(row, 'id')}: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
};

const picosSchema = z.string().regex(/^\d+$/).transform(BigInt);

/** Reads a code that a later version has removed as `internal_error`, so that the video can still end. */
const codeSchema = z
  .string()
  .transform((value): ErrorCode => errorCodes.find((known) => known === value) ?? 'internal_error');

const jobSchema: z.ZodType<VideoJob> = z.object({
  id: z.string(),
  accountId: z.string(),
  requestId: z.string(),
  holdId: z.string(),
  holdAmountPicos: picosSchema,
  modelId: z.string(),
  providerId: z.string(),
  wire: z.string(),
  upstreamModel: z.string(),
  prompt: z.string(),
  seconds: z.int(),
  width: z.int(),
  height: z.int(),
  createdAtMs: z.int(),
  terms: z.object({ unit: z.enum(['token', 'second']), ratePicos: picosSchema, unitsMax: z.int() }),
  webhook: z.object({ url: z.string(), secret: z.string() }).optional(),
  keyId: z.string().optional(),
  endpoint: z.string().optional(),
  cap: z.object({ keyId: z.string(), period: z.string() }).optional(),
  state: z.enum(['queued', 'in_progress', 'completed', 'failed']),
  // Providers report fractions of a percent, and of a token.
  progress: z.number(),
  tokens: z.number().optional(),
  upstreamId: z.string().optional(),
  credentialId: z.string().optional(),
  refused: z.boolean(),
  failure: z.object({ code: codeSchema, message: z.string() }).optional(),
  file: z.object({ name: z.string(), bytes: z.int(), sha256: z.string() }).optional(),
  completedAtMs: z.int().optional(),
  delivery: z
    .object({
      attempts: z.int(),
      lastAtMs: z.int(),
      status: z.int().optional(),
      problem: z.string().optional(),
      nextAtMs: z.int().optional(),
    })
    .optional(),
});
