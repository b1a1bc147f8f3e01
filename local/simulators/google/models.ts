import * as z from 'zod';
import catalog from '../../../catalog/google.json' with { type: 'json' };
import { jsonAnswer, type Wire, type WireRequest } from '../wire.ts';
import { callOf, hasApiKey } from './call.ts';
import { framed, googleRefusal, invalidArgument, modelNotFound } from './error.ts';
import { googleHeaders } from './headers.ts';

/** Features of a model that draws. */
export type Brush = {
  /** Tokens of an image by `imageSize`. The first is the default. */
  readonly tokensBySize: Readonly<Record<string, number>>;
  readonly hasLongRatios: boolean;
  /** Whether it makes a draft first. Source: https://ai.google.dev/gemini-api/docs/image-generation#thinking-process */
  readonly drafts: boolean;
};

export type Model = {
  readonly id: string;
  readonly inputTokenLimit: number;
  readonly outputTokenLimit: number;
  /** Levels in lower case, as `reasoningTokensByEffort` names them. */
  readonly levels: readonly string[];
  readonly defaultLevel: string;
  /** Set for a model that draws. */
  readonly brush?: Brush;
};

const textEntry = z
  .object({
    kind: z.literal('text'),
    upstreams: z.tuple([z.object({ model: z.string() })], z.unknown()),
    limits: z.object({ contextTokens: z.int(), outputTokensMax: z.int() }),
    reasoning: z.object({ accepted: z.tuple([z.string()], z.string()), default: z.string() }),
  })
  .transform(({ upstreams: [{ model }], limits, reasoning }): Model => {
    const { contextTokens: inputTokenLimit, outputTokensMax: outputTokenLimit } = limits;
    return {
      id: model,
      inputTokenLimit,
      outputTokenLimit,
      levels: reasoning.accepted,
      defaultLevel: reasoning.default,
    };
  });

const imageEntry = z
  .object({
    enabled: z.literal(true),
    kind: z.literal('image'),
    upstreams: z.tuple([z.object({ model: z.string(), wire: z.literal('gemini_generate_content_image') })]),
    text: z.object({ limits: z.object({ contextTokens: z.int(), outputTokensMax: z.int() }) }),
    prices: z.tuple([z.object({ imageTokensByTier: z.partialRecord(z.enum(['1K', '2K', '4K']), z.int()) })]),
  })
  .transform(({ upstreams: [{ model: id }], text: { limits }, prices: [{ imageTokensByTier }] }): Model => {
    const isPro = id.includes('-pro-');
    return {
      id,
      inputTokenLimit: limits.contextTokens,
      outputTokenLimit: limits.outputTokensMax,
      levels: isPro ? ['low', 'high'] : ['minimal', 'high'],
      defaultLevel: isPro ? 'high' : 'minimal',
      brush: { tokensBySize: imageTokensByTier, hasLongRatios: !isPro, drafts: isPro },
    };
  });

/** Google's models of our catalog, so that a new entry can be tried immediately. */
const models: readonly Model[] = catalog.models.flatMap(
  (entry) => textEntry.safeParse(entry).data ?? imageEntry.safeParse(entry).data ?? [],
);

export function findModel(request: WireRequest): Model {
  const { model } = callOf(request);
  const found = models.find(({ id }) => id === model);
  if (found === undefined) throw modelNotFound(request);
  return found;
}

/** Whether thought signatures must be returned with function calls. Models with budgets are older. */
export function isGemini3OrLater(model: string): boolean {
  return /^gemini-([3-9]|\d\d)/.test(model);
}

const modelsWire = {
  method: 'GET',
  isAuthorized: hasApiKey,
  lastUserText: () => '',
  refuse: (refusal, request) => framed(googleRefusal(refusal, request), request),
  errorFrame: () => '',
  headers: googleHeaders,
} as const satisfies Partial<Wire>;

/**
 * `GET /v1beta/models` and `GET /v1beta/models/{model}`. Under `/v1` these routes belong to other providers. Source:
 * https://ai.google.dev/api/models
 */
export const googleModelWires: readonly Wire[] = [
  { ...modelsWire, path: /^\/v1beta\/models$/, answer: ({ query }) => jsonAnswer(toPage(query)) },
  {
    ...modelsWire,
    path: /^\/v1beta\/models\/[^/:]+$/,
    answer: (request) => jsonAnswer(toResource(findModel(request))),
  },
];

const pageSizeDefault = 50;
const pageSizeMax = 1000;

function toPage(query: URLSearchParams) {
  const size = Number(query.get('pageSize') ?? pageSizeDefault) || pageSizeDefault;
  const start = fromToken(query.get('pageToken') ?? '');
  const end = start + Math.min(size, pageSizeMax);
  if (!Number.isInteger(size) || size < 0 || Number.isNaN(start)) throw invalidArgument();
  const page = models.slice(start, end).map(toResource);
  return end < models.length ? { models: page, nextPageToken: toToken(end) } : { models: page };
}

function toToken(start: number): string {
  return Buffer.from(`models:${start}`).toString('base64url');
}

function fromToken(token: string): number {
  if (token === '') return 0;
  const [, start] = /^models:(\d{1,4})$/.exec(Buffer.from(token, 'base64url').toString()) ?? [];
  return Number(start);
}

function toResource({ id, inputTokenLimit, outputTokenLimit }: Model) {
  const [, version = ''] = id.split('-');
  const words = id.split('-').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return {
    name: `models/${id}`,
    version,
    displayName: words.join(' '),
    description: `Simulated ${words.join(' ')}`,
    inputTokenLimit,
    outputTokenLimit,
    supportedGenerationMethods: ['generateContent', 'countTokens'],
    temperature: 1,
    topP: 0.95,
    topK: 64,
    maxTemperature: 2,
    thinking: true,
  };
}
