import { BODIES_AT_ONCE } from '../lambdas/limits.ts';
import type { HttpFunction } from '../lambdas/routes.ts';
import type { Triggered, WebFunctionDescription } from './function-description.ts';
import {
  accountChanges,
  admission,
  ledger,
  maintenance,
  putMedia,
  readOutbox,
  unionOf,
  usageSums,
} from './function-grants.ts';
import { inferenceFunctionNames, inferenceFunctions } from './inference-functions.ts';

/**
 * Web Functions serve what a function URL cannot: it accepts 6 MB, less than `BODY_BYTES_MAX`, and returns at most 200
 * MB, slowly.
 */
export type WebFunctionName = Extract<HttpFunction, 'content'> | 'inference';
type UrlFunctionName = Exclude<HttpFunction, WebFunctionName>;
/** Functions that run on a schedule and have no route. */
type ScheduledFunctionName = 'sweep' | 'outbox' | 'videoSweep' | 'audit' | 'canary';
export type EventFunctionName = UrlFunctionName | ScheduledFunctionName | 'videoSteps' | 'notices' | 'usageEvents';
export type FunctionName = EventFunctionName | WebFunctionName;

/**
 * Descriptions of all Lambda functions. `functionsOf` selects those of an environment. The type matches the route
 * table: every function that a route names must be here as a URL or Web Function. The only Web Function that no route
 * names is `inference`.
 */
export const functions: Readonly<
  Record<UrlFunctionName, Triggered<'url'>> &
    Record<WebFunctionName, WebFunctionDescription> &
    Record<ScheduledFunctionName, Triggered<'every-minute' | 'every-five-minutes' | 'every-hour'>> &
    Record<'videoSteps', Triggered<'machine'>> &
    Record<'notices', Triggered<'account-changes'>> &
    Record<'usageEvents', Triggered<'charge-records'>>
> = {
  ...inferenceFunctions,
  inference: {
    ...unionOf(inferenceFunctionNames.map((name) => inferenceFunctions[name])),
    entry: 'lambdas/host/inference.ts',
    trigger: 'web',
    // Measured from the start of a request, as in LIM-6.
    timeoutSeconds: 900,
    // The default BODY_BUDGET_BYTES has memory for all these bodies, so only an account above its quarter waits. Small
    // requests use other functions.
    concurrency: BODIES_AT_ONCE,
  },
  content: {
    entry: 'lambdas/host/content.ts',
    trigger: 'web',
    timeoutSeconds: 900,
    // Files are streamed in chunks, and requests have no body.
    concurrency: 64,
    tables: [...admission, { table: 'videos', actions: ['GetItem'] }],
    buckets: [
      { prefix: 'videos/', actions: ['GetObject', 'ListBucket'] },
      { prefix: 'media/', actions: ['GetObject', 'ListBucket'] },
    ],
    secrets: ['keyPepper'],
    servesPages: true,
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
    // A statement closes months that are over. One call reads the last uses of all API keys.
    tables: [...admission, ...accountChanges, usageSums, { table: 'keys', actions: ['BatchGetItem'] }],
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
      // Shows whether an API key that may not have reached its owner was used.
      { table: 'keys', actions: ['GetItem'] },
      // Counters of client IPs, and processed updates of the messenger.
      { table: 'counters', actions: ['UpdateItem', 'DeleteItem'] },
      maintenance,
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
    tables: [
      ...accountChanges,
      usageSums,
      // One call reads the last uses of all API keys.
      { table: 'keys', actions: ['BatchGetItem'] },
      { table: 'counters', actions: ['UpdateItem'] },
      maintenance,
    ],
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
  // Only in environments with usage events. It reads the stream of a table, and no table.
  usageEvents: {
    entry: 'lambdas/functions/usage-events.ts',
    trigger: 'charge-records',
    memoryMb: 512,
    timeoutSeconds: 60,
    tables: [],
    buckets: [],
    secrets: [],
    publishesUsage: true,
  },
  sweep: {
    entry: 'lambdas/functions/sweep.ts',
    trigger: 'every-minute',
    memoryMb: 512,
    timeoutSeconds: 60,
    tables: [ledger, { table: 'accounts', index: 'sweep', actions: ['Query'] }, maintenance],
    // For a hold with an outbox entry, the function `outbox` commits the charge.
    buckets: [readOutbox],
    secrets: [],
    // Concurrent runs are safe, so no concurrency is reserved: a new AWS account cannot reserve any.
  },
  outbox: {
    entry: 'lambdas/functions/outbox.ts',
    trigger: 'every-minute',
    memoryMb: 512,
    timeoutSeconds: 60,
    tables: [ledger, maintenance],
    buckets: [{ prefix: 'outbox/', actions: ['GetObject', 'DeleteObject', 'ListBucket'] }],
    secrets: [],
  },
  audit: {
    entry: 'lambdas/functions/audit.ts',
    trigger: 'every-hour',
    // The audit loads all records of one account into memory.
    memoryMb: 2_048,
    timeoutSeconds: 300,
    tables: [
      { table: 'accounts', actions: ['GetItem', 'Query', 'Scan'] },
      // Position from which the next run continues.
      { table: 'counters', actions: ['GetItem', 'PutItem'] },
    ],
    buckets: [],
    secrets: [],
  },
  videoSteps: {
    entry: 'lambdas/functions/video-steps.ts',
    trigger: 'machine',
    memoryMb: 1_024,
    // The state machine times out its steps earlier. This limit is for a step that the rule on failed executions calls.
    timeoutSeconds: 900,
    tables: [
      ledger,
      { table: 'videos', actions: ['GetItem', 'UpdateItem'] },
      // Counts of results without usage, and the quarantine that they cause.
      { table: 'counters', actions: ['BatchGetItem', 'UpdateItem'] },
      maintenance,
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
      maintenance,
    ],
    buckets: [readOutbox, { prefix: 'videos/', actions: ['DeleteObject'] }],
    secrets: [],
    startsVideos: true,
  },
  // Only in environments with a canary. It reads no table: the command that checks a deployment makes its API key.
  canary: {
    entry: 'lambdas/functions/canary.ts',
    trigger: 'every-five-minutes',
    memoryMb: 512,
    timeoutSeconds: 280,
    tables: [],
    buckets: [putMedia],
    secrets: ['canaryKey'],
    linksMedia: true,
    checksGateway: true,
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
  'usageEvents',
  'sweep',
  'outbox',
  'videoSweep',
  'audit',
  'videoSteps',
  'canary',
] as const satisfies readonly EventFunctionName[];

export const webFunctionNames = ['content', 'inference'] as const satisfies readonly WebFunctionName[];

export const functionNames = [...eventFunctionNames, ...webFunctionNames] as const satisfies readonly FunctionName[];
