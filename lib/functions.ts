import { BODIES_AT_ONCE } from '../lambdas/limits.ts';
import type { HttpFunction } from '../lambdas/routes.ts';
import type { Triggered, WebFunctionDescription } from './function-description.ts';
import { accountChanges, admission, ledger, readOutbox, unionOf } from './function-grants.ts';
import { inferenceFunctionNames, inferenceFunctions } from './inference-functions.ts';

/** Web Functions. A function URL accepts 6 MB, less than `BODY_BYTES_MAX`. It returns up to 200 MB and sends large bodies slowly. */
export type WebFunctionName = Extract<HttpFunction, 'content'> | 'inference';
type UrlFunctionName = Exclude<HttpFunction, WebFunctionName>;
/** Functions no route leads to. */
type ScheduledFunctionName = 'sweep' | 'outbox' | 'videoSweep' | 'audit';
export type EventFunctionName = UrlFunctionName | ScheduledFunctionName | 'videoSteps' | 'notices';
export type FunctionName = EventFunctionName | WebFunctionName;

/**
 * Every Lambda function there is; which of them an environment has says `functionsOf`. The type ties it to the route table both
 * ways: a function a route names has to be here, with a URL or as a Web Function, and one that no route may name cannot be here so.
 */
export const functions: Readonly<
  Record<UrlFunctionName, Triggered<'url'>> &
    Record<WebFunctionName, WebFunctionDescription> &
    Record<ScheduledFunctionName, Triggered<'every-minute' | 'every-hour'>> &
    Record<'videoSteps', Triggered<'machine'>> &
    Record<'notices', Triggered<'account-changes'>>
> = {
  ...inferenceFunctions,
  inference: {
    ...unionOf(inferenceFunctionNames.map((name) => inferenceFunctions[name])),
    entry: 'lambdas/host/inference.ts',
    trigger: 'web',
    // Counted from a request's start, as LIM-6 does there.
    timeoutSeconds: 900,
    // The default BODY_BUDGET_BYTES has memory for all of them, so no request waits. Small requests use other functions.
    concurrency: BODIES_AT_ONCE,
  },
  content: {
    entry: 'lambdas/host/content.ts',
    trigger: 'web',
    timeoutSeconds: 900,
    // Files go through in pieces, and no request has a body.
    concurrency: 64,
    tables: [...admission, { table: 'videos', actions: ['GetItem'] }],
    buckets: [
      { prefix: 'videos/', actions: ['GetObject', 'ListBucket'] },
      { prefix: 'media/', actions: ['GetObject', 'ListBucket'] },
      { prefix: 'pages/', actions: ['GetObject', 'ListBucket'] },
    ],
    secrets: ['keyPepper'],
  },
  catalog: {
    entry: 'lambdas/functions/catalog.ts',
    trigger: 'url',
    memoryMb: 512,
    timeoutSeconds: 30,
    tables: admission,
    buckets: [],
    secrets: ['keyPepper'],
  },
  account: {
    entry: 'lambdas/functions/account.ts',
    trigger: 'url',
    memoryMb: 512,
    timeoutSeconds: 30,
    tables: [...admission, { table: 'accounts', actions: ['GetItem', 'Query'] }],
    buckets: [],
    secrets: ['keyPepper'],
  },
  bot: {
    entry: 'lambdas/functions/bot.ts',
    trigger: 'url',
    memoryMb: 512,
    timeoutSeconds: 30,
    tables: [
      ...accountChanges,
      // The address's bucket, and the updates that have been dealt with.
      { table: 'counters', actions: ['UpdateItem', 'DeleteItem'] },
    ],
    buckets: [],
    secrets: ['keyPepper', 'botToken'],
    showsApp: true,
  },
  app: {
    entry: 'lambdas/functions/app.ts',
    trigger: 'url',
    memoryMb: 512,
    timeoutSeconds: 30,
    tables: [...accountChanges, { table: 'counters', actions: ['UpdateItem'] }],
    buckets: [],
    secrets: ['keyPepper', 'botToken', 'topUpKey'],
  },
  notices: {
    entry: 'lambdas/functions/notices.ts',
    trigger: 'account-changes',
    memoryMb: 512,
    timeoutSeconds: 60,
    tables: [{ table: 'accounts', actions: ['GetItem', 'UpdateItem'] }],
    buckets: [],
    secrets: ['botToken'],
    showsApp: true,
  },
  sweep: {
    entry: 'lambdas/functions/sweep.ts',
    trigger: 'every-minute',
    memoryMb: 512,
    timeoutSeconds: 60,
    tables: [ledger, { table: 'accounts', index: 'sweep', actions: ['Query'] }],
    // A note goes by way of the function below, which charges it.
    buckets: [readOutbox],
    secrets: [],
    // Two at once are safe, so nothing is reserved: a new AWS account has nothing that it could reserve.
  },
  outbox: {
    entry: 'lambdas/functions/outbox.ts',
    trigger: 'every-minute',
    memoryMb: 512,
    timeoutSeconds: 60,
    tables: [ledger],
    buckets: [{ prefix: 'outbox/', actions: ['GetObject', 'DeleteObject', 'ListBucket'] }],
    secrets: [],
  },
  audit: {
    entry: 'lambdas/functions/audit.ts',
    trigger: 'every-hour',
    // All records of one account are in memory at a time.
    memoryMb: 2_048,
    timeoutSeconds: 300,
    tables: [
      { table: 'accounts', actions: ['GetItem', 'Query', 'Scan'] },
      // Where the next run goes on.
      { table: 'counters', actions: ['GetItem', 'PutItem'] },
    ],
    buckets: [],
    secrets: [],
  },
  videoSteps: {
    entry: 'lambdas/functions/video-steps.ts',
    trigger: 'machine',
    memoryMb: 1_024,
    // A step of the machine is given up earlier; this is for one that the rule on failed executions calls.
    timeoutSeconds: 900,
    tables: [
      ledger,
      { table: 'videos', actions: ['GetItem', 'UpdateItem'] },
      // Answers without usage, and the quarantine that follows them.
      { table: 'counters', actions: ['BatchGetItem', 'UpdateItem'] },
    ],
    buckets: [readOutbox, { prefix: 'videos/', actions: ['PutObject', 'DeleteObject', 'AbortMultipartUpload'] }],
    secrets: ['providerKeys'],
  },
  videoSweep: {
    entry: 'lambdas/functions/video-sweep.ts',
    trigger: 'every-minute',
    memoryMb: 512,
    timeoutSeconds: 60,
    tables: [
      ledger,
      { table: 'videos', actions: ['GetItem', 'UpdateItem'] },
      { table: 'videos', index: 'running', actions: ['Query'] },
    ],
    buckets: [readOutbox, { prefix: 'videos/', actions: ['DeleteObject'] }],
    secrets: [],
    startsVideos: true,
  },
};

export const eventFunctionNames = [
  'text',
  'images',
  'audio',
  'videos',
  'catalog',
  'account',
  'bot',
  'app',
  'notices',
  'sweep',
  'outbox',
  'videoSweep',
  'audit',
  'videoSteps',
] as const satisfies readonly EventFunctionName[];

export const webFunctionNames = ['content', 'inference'] as const satisfies readonly WebFunctionName[];

export const functionNames = [...eventFunctionNames, ...webFunctionNames] as const satisfies readonly FunctionName[];
