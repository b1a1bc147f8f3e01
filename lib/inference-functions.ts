import type { HttpFunction } from '../lambdas/routes.ts';
import type { Triggered } from './function-description.ts';
import { admission, answers, circuits, claims, ledger, outbox, paid, putMedia, readOutbox } from './function-grants.ts';

/** Functions that call providers and cost money. They run separately, or all of them in `inference`. */
export const inferenceFunctionNames = ['text', 'images', 'audio', 'videos'] as const satisfies readonly HttpFunction[];
type InferenceFunctionName = (typeof inferenceFunctionNames)[number];

export const inferenceFunctions: Readonly<Record<InferenceFunctionName, Triggered<'url'>>> = {
  text: {
    entry: 'lambdas/functions/text.ts',
    trigger: 'url',
    memoryMb: 768, // Smallest size that holds the largest response: docs/decisions/lambda-functions.md
    // Lambda's maximum: a response may take ten minutes, and fifteen with long reasoning (LIM-6).
    timeoutSeconds: 900,
    tables: [...paid, claims],
    buckets: [outbox, answers, putMedia],
    secrets: ['keyPepper', 'providerKeys'],
    linksMedia: true,
  },
  images: {
    entry: 'lambdas/functions/images.ts',
    trigger: 'url',
    // A result may contain ten large images, and parsing holds them in memory more than once.
    memoryMb: 3_008,
    timeoutSeconds: 900,
    tables: [...paid, claims],
    buckets: [outbox, answers, putMedia],
    secrets: ['keyPepper', 'providerKeys'],
    linksMedia: true,
  },
  audio: {
    entry: 'lambdas/functions/audio.ts',
    trigger: 'url',
    memoryMb: 1_024,
    timeoutSeconds: 900,
    tables: paid,
    buckets: [outbox],
    secrets: ['keyPepper', 'providerKeys'],
  },
  videos: {
    entry: 'lambdas/functions/videos.ts',
    trigger: 'url',
    memoryMb: 1_024,
    // A provider has one minute to accept a video. Before and after it, the function only calls stores.
    timeoutSeconds: 120,
    tables: [
      ...admission,
      ledger,
      claims,
      circuits,
      { table: 'videos', actions: ['GetItem', 'PutItem', 'UpdateItem'] },
      { table: 'videos', index: 'account', actions: ['Query'] },
    ],
    // This function settles no charges, so it writes no outbox entries.
    buckets: [readOutbox, answers, { prefix: 'videos/', actions: ['DeleteObject'] }],
    secrets: ['keyPepper', 'providerKeys'],
    startsVideos: true,
  },
};
