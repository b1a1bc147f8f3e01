import type { HttpFunction } from '../lambdas/routes.ts';
import type { Triggered } from './function-description.ts';
import { admission, answers, circuits, claims, ledger, outbox, putMedia, readOutbox } from './function-grants.ts';

/** What costs money upstream: one function each, or all of them in `inference`. */
export const inferenceFunctionNames = ['text', 'images', 'audio', 'videos'] as const satisfies readonly HttpFunction[];
type InferenceFunctionName = (typeof inferenceFunctionNames)[number];

export const inferenceFunctions: Readonly<Record<InferenceFunctionName, Triggered<'url'>>> = {
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
};
