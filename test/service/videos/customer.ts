import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { expect } from 'vitest';
import * as z from 'zod';
import type { ChargeRecord } from '../../../lambdas/core/ledger/ledger.ts';
import { parseUsd } from '../../../lambdas/core/money/usd.ts';
import type { VideoJob } from '../../../lambdas/core/videos/video-job.ts';
import { createDynamoDB } from '../../../lambdas/stores/dynamodb/dynamodb.ts';
import { createVideoJobStore } from '../../../lambdas/stores/dynamodb/video-job-store.ts';
import { localDynamodbConfig, localTableNames } from '../../../local/create-tables.ts';
import { videoBytesOf } from '../../../local/simulators/video-file.ts';
import { errorSchema } from '../../support/gateway-chat.ts';
import { until } from '../../support/gateway-process.ts';
import type { GroupAccount, ServerGroup } from '../../support/server-group.ts';

export const VIDEO_MODEL = 'seedance-2-0-fast';
/** Tokens that the provider counts: 1280 by 720 at 24 frames for 4 seconds, and one more frame. */
export const VIDEO_TOKENS = (1_280 * 720 * (24 * 4 + 1)) / 1_024;
export const TOKEN_PICOS = parseUsd('5.6') / 1_000_000n;
export const VIDEO_COST = BigInt(VIDEO_TOKENS) * TOKEN_PICOS;
export const FUNDS_PICOS = parseUsd('100');

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  readonly text: string;
}

const videoSchema = z.looseObject({
  id: z.string(),
  status: z.enum(['queued', 'in_progress', 'completed', 'failed']),
  error: z.object({ code: z.string(), message: z.string().min(1) }).nullable(),
});
export type SeenVideo = z.infer<typeof videoSchema>;
const listSchema = z.looseObject({ data: z.array(videoSchema), has_more: z.literal(false) });

export const videoIn = ({ status, text }: Answer): SeenVideo => {
  if (status !== 200) throw new Error(`${status} ${text}`);
  return videoSchema.parse(JSON.parse(text));
};

/** Returns status, code and field of an error. */
export const refusalIn = ({ status, text }: Answer): readonly [number, string, string | null] => {
  const { error } = errorSchema.parse(JSON.parse(text));
  return [status, error.code, error.param];
};

/** A client with its own account on a running program. */
export interface VideoCustomer {
  readonly account: GroupAccount;
  send(method: string, path: string, sent?: RequestInit): Promise<Answer>;
  /** Creates a video with JSON, the usual model, and these additional fields. */
  create(prompt: string, fields?: object, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  list(): Promise<readonly SeenVideo[]>;
  untilEnded(id: string, limitMs?: number): Promise<SeenVideo>;
}

export const customerOf = (account: GroupAccount, url: string): VideoCustomer => {
  const send: VideoCustomer['send'] = async (method, path, { headers, ...sent } = {}) => {
    const authorization = `Bearer ${account.apiKey}`;
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization, ...Object.fromEntries(new Headers(headers)) },
      ...sent,
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    return { status: response.status, headers: response.headers, bytes, text: bytes.toString() };
  };
  return {
    account,
    send,
    create: (prompt, fields, headers) =>
      send('POST', '/v1/videos', {
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ model: VIDEO_MODEL, prompt, ...fields }),
      }),
    list: async () => listSchema.parse(JSON.parse((await send('GET', '/v1/videos?limit=100')).text)).data,
    untilEnded: (id, limitMs) =>
      until(
        `the end of ${id}`,
        async () => {
          const answer = await send('GET', `/v1/videos/${id}`);
          // 503 is retried: a test may have stopped a store.
          if (answer.status === 503) return undefined;
          const video = videoIn(answer);
          return video.status === 'completed' || video.status === 'failed' ? video : undefined;
        },
        limitMs,
      ),
  };
};

/** Opens the table of videos without the program. */
export const openJobs = ({ databaseUrl }: ServerGroup) => {
  const client = new DynamoDBClient({ ...localDynamodbConfig(databaseUrl), maxAttempts: 8 });
  const store = createVideoJobStore(createDynamoDB(client, Date.now), localTableNames.videos);
  return {
    read: async (id: string): Promise<VideoJob> => {
      const job = await store.read(id);
      if (!job) throw new Error(`${id} does not exist`);
      return job;
    },
    close: () => client.destroy(),
  };
};

/** Resolves when no hold is open. */
export const untilSettled = (group: ServerGroup, { accountId }: GroupAccount, limitMs?: number) =>
  until(
    `the end of the holds of ${accountId}`,
    async () => {
      const now = await group.store.readAccount(accountId);
      return now?.holds.size === 0 ? now : undefined;
    },
    limitMs,
  );

/** Checks an account: no open hold, no finding of the audit, and exactly these charges. */
export const expectCharges = async (
  group: ServerGroup,
  account: GroupAccount,
  chargesPicos: readonly bigint[],
  limitMs?: number,
): Promise<readonly ChargeRecord[]> => {
  const { accountId } = account;
  const { availablePicos, spentPicos } = await untilSettled(group, account, limitMs);
  const settled = (await group.recordsOf(accountId)).filter(({ outcome }) => outcome === 'settled');
  const { findings, stable, openHolds } = await group.audit(accountId);
  const total = chargesPicos.reduce((sum, one) => sum + one, 0n);
  expect({
    ...{ findings, stable, openHolds, spentPicos, availablePicos },
    charges: settled.map(({ amountPicos }) => amountPicos),
  }).toEqual({
    ...{ findings: [], stable: true, openHolds: 0, spentPicos: total, availablePicos: FUNDS_PICOS - total },
    charges: chargesPicos,
  });
  return settled;
};

/** Checks that the video is completed: its file equals the provider's, and it is charged once. */
export const expectDelivered = async (
  group: ServerGroup,
  jobs: ReturnType<typeof openJobs>,
  { customer, id, picos = VIDEO_COST }: { customer: VideoCustomer; id: string; picos?: bigint },
): Promise<ChargeRecord | undefined> => {
  expect(await customer.untilEnded(id, 60_000)).toMatchObject({ status: 'completed', error: null });
  const [record] = await expectCharges(group, customer.account, [picos]);
  const content = await customer.send('GET', `/v1/videos/${id}/content`);
  const { upstreamId = '' } = await jobs.read(id);
  expect([content.status, content.bytes.equals(videoBytesOf(upstreamId))]).toEqual([200, true]);
  return record;
};
