import type { HttpFunction } from '../lambdas/routes.ts';
import type {
  BucketGrant,
  EventFunctionDescription,
  TableGrant,
  WebFunctionDescription,
} from './function-description.ts';

type Triggered<Trigger> = EventFunctionDescription & { readonly trigger: Trigger };

/** A function URL sends 200 MB at most, and large bodies slowly. */
export type WebFunctionName = Extract<HttpFunction, 'content'>;
type UrlFunctionName = Exclude<HttpFunction, WebFunctionName>;
/** Functions no route leads to. */
type ScheduledFunctionName = 'sweep' | 'outbox' | 'videoSweep';
export type EventFunctionName = UrlFunctionName | ScheduledFunctionName | 'videoSteps' | 'notices';
export type FunctionName = EventFunctionName | WebFunctionName;

/** Lookup, revocation, block and rate of a key are one update of its item; the read is for when that update fails. */
const admission: readonly TableGrant[] = [
  { table: 'keys', actions: ['GetItem', 'UpdateItem'] },
  { table: 'counters', actions: ['UpdateItem'] },
];

/** Holds, charges and releases. */
const ledger: TableGrant = { table: 'accounts', actions: ['GetItem', 'PutItem', 'UpdateItem'] };

/** Accounts that begin, keys that are replaced, credits: transactions over both tables; and what an account has spent. */
const accountChanges: readonly TableGrant[] = [
  { table: 'accounts', actions: ['GetItem', 'PutItem', 'UpdateItem', 'ConditionCheckItem', 'Query'] },
  { table: 'keys', actions: ['PutItem', 'UpdateItem'] },
];

/** Claims of Idempotency-Keys. */
const claims: TableGrant = { table: 'idempotency', actions: ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem'] };

/** What they count is covered by `admission`. */
const circuits: TableGrant = { table: 'counters', actions: ['BatchGetItem', 'DeleteItem'] };

const readOutbox: BucketGrant = { prefix: 'outbox/', actions: ['GetObject', 'ListBucket'] };
/** Who settles leaves notes where the ledger does not answer. */
const outbox: BucketGrant = { prefix: 'outbox/', actions: ['GetObject', 'PutObject', 'ListBucket'] };
const putMedia: BucketGrant = { prefix: 'media/', actions: ['PutObject'] };
const answers: BucketGrant = { prefix: 'answers/', actions: ['GetObject', 'PutObject', 'ListBucket'] };

/**
 * Every Lambda function there is. The type ties it to the route table both ways: a function a route names has to be here, with
 * a URL or as a Web Function, and one that no route may name cannot be here so.
 */
export const functions: Readonly<
  Record<UrlFunctionName, Triggered<'url'>> &
    Record<WebFunctionName, WebFunctionDescription> &
    Record<ScheduledFunctionName, Triggered<'every-minute'>> &
    Record<'videoSteps', Triggered<'machine'>> &
    Record<'notices', Triggered<'account-changes'>>
> = {
  text: {
    entry: 'lambdas/functions/text.ts',
    trigger: 'url',
    memoryMb: 1_024,
    // The most there is: an answer may take ten minutes, and one with much reasoning fifteen (LIM-6).
    timeoutSeconds: 900,
    tables: [...admission, ledger, claims, circuits],
    buckets: [outbox, answers, putMedia],
    secrets: ['keyPepper', 'providerKeys'],
    linksMedia: true,
  },
  images: {
    entry: 'lambdas/functions/images.ts',
    trigger: 'url',
    // Ten large images come as one answer, and are in memory more than once while they are taken apart.
    memoryMb: 3_008,
    timeoutSeconds: 900,
    tables: [...admission, ledger, claims, circuits],
    buckets: [outbox, answers, putMedia],
    secrets: ['keyPepper', 'providerKeys'],
    linksMedia: true,
  },
  audio: {
    entry: 'lambdas/functions/audio.ts',
    trigger: 'url',
    memoryMb: 1_024,
    timeoutSeconds: 900,
    tables: [...admission, ledger, circuits],
    buckets: [outbox],
    secrets: ['keyPepper', 'providerKeys'],
  },
  videos: {
    entry: 'lambdas/functions/videos.ts',
    trigger: 'url',
    memoryMb: 1_024,
    // A vendor has one minute to accept a video; before and after it only stores are asked.
    timeoutSeconds: 120,
    tables: [
      ...admission,
      ledger,
      claims,
      circuits,
      { table: 'videos', actions: ['GetItem', 'PutItem', 'UpdateItem'] },
      { table: 'videos', index: 'account', actions: ['Query'] },
    ],
    // It settles nothing, so it leaves no notes.
    buckets: [readOutbox, answers, { prefix: 'videos/', actions: ['DeleteObject'] }],
    secrets: ['keyPepper', 'providerKeys'],
    startsVideos: true,
  },
  content: {
    entry: 'lambdas/host/content.ts',
    trigger: 'web',
    timeoutSeconds: 900,
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
  'videoSteps',
] as const satisfies readonly EventFunctionName[];

export const webFunctionNames = ['content'] as const satisfies readonly WebFunctionName[];

export const functionNames = [...eventFunctionNames, ...webFunctionNames] as const satisfies readonly FunctionName[];
