import * as z from 'zod';
import { type EntryContext, entryFields, priceList } from './entry-fields.ts';
import { imageRules, speechRules, transcriptionRules, videoRules } from './modalities.ts';
import { imagePrice, inputPrice, transcriptionPrice, videoPrice } from './prices.ts';
import type { providerSchema } from './providers.ts';
import { imageTokensMax, textEntry, textLimits } from './text-entry.ts';

type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;

export type Provider = DeepReadonly<z.output<typeof providerSchema>>;

const tokens = z.int().positive();

const imageEntry = (context: EntryContext) =>
  z
    .strictObject({
      kind: z.literal('image'),
      ...entryFields('image', context),
      protocols: z.array(z.enum(['images_generations', 'images_edits', 'chat_completions', 'generate_content'])).min(1),
      ...imageRules,
      /** Properties of the model on text endpoints; required if `protocols` has one of those formats (CHAT-12). */
      text: imageAsText.optional(),
      prices: priceList(imagePrice(context.markup)),
    })
    .superRefine((entry, check) => {
      for (const { path, message } of imageDisagreements(entry))
        check.addIssue({ code: 'custom', path: [...path], message });
    });

const videoEntry = (context: EntryContext) =>
  z.strictObject({
    kind: z.literal('video'),
    ...entryFields('video', context),
    protocols: z.array(z.literal('videos')).min(1),
    video: videoRules,
    prices: priceList(videoPrice(context.markup)),
  });

const audioAndVectorEntries = (context: EntryContext) =>
  [
    z.strictObject({
      kind: z.literal('transcription'),
      ...entryFields('transcription', context),
      protocols: z.array(z.literal('audio_transcriptions')).min(1),
      transcription: transcriptionRules,
      prices: priceList(transcriptionPrice(context.markup)),
    }),
    z.strictObject({
      kind: z.literal('speech'),
      ...entryFields('speech', context),
      protocols: z.array(z.literal('audio_speech')).min(1),
      speech: speechRules,
      prices: priceList(inputPrice('1M_characters', context.markup)),
    }),
    z.strictObject({
      kind: z.literal('moderation'),
      ...entryFields('moderation', context),
      protocols: z.array(z.literal('moderations')).min(1),
      prices: priceList(inputPrice('1M_tokens', context.markup)),
    }),
    z.strictObject({
      kind: z.literal('embedding'),
      ...entryFields('embedding', context),
      protocols: z.array(z.literal('embeddings')).min(1),
      limits: z.strictObject({ contextTokens: tokens }),
      embedding: z.strictObject({ dimensionsDefault: tokens, dimensionsSettable: z.boolean() }),
      prices: priceList(inputPrice('1M_tokens', context.markup)),
    }),
  ] as const;

/** Schema of one entry. Drops what only the readers of the files need, because each function keeps its catalog. */
export const entrySchema = (context: EntryContext) =>
  z
    .discriminatedUnion('kind', [
      textEntry(context),
      imageEntry(context),
      videoEntry(context),
      ...audioAndVectorEntries(context),
    ])
    .transform(({ sources: _sources, note: _note, ...entry }) => entry);

export type Model = DeepReadonly<z.output<ReturnType<typeof entrySchema>>>;

export type ModelKind = Model['kind'];

export type TextModel = Extract<Model, { kind: 'text' }>;

export type ImageModel = Extract<Model, { kind: 'image' }>;

export type VideoModel = Extract<Model, { kind: 'video' }>;

export type TranscriptionModel = Extract<Model, { kind: 'transcription' }>;

export type SpeechModel = Extract<Model, { kind: 'speech' }>;

export type ModerationModel = Extract<Model, { kind: 'moderation' }>;

export type EmbeddingModel = Extract<Model, { kind: 'embedding' }>;

export type Protocol = Model['protocols'][number];

export type Upstream = Model['upstreams'][number];

export type PriceRow = Model['prices'][number];

export type TextPriceRow = TextModel['prices'][number];

/** Pico-USD per token. */
export type TextRates = TextPriceRow['rates'];

/**
 * Limits and capabilities of an image model on text endpoints. A capability that is absent here is not supported there.
 */
const imageAsText = z.strictObject({
  limits: textLimits,
  streaming: z.boolean(),
  seed: z.boolean().default(false),
  sampling: z.boolean().default(false),
  imageTokensMax,
});

interface Checked {
  readonly protocols: readonly string[];
  readonly text?: unknown;
  readonly upstreams: readonly { readonly wire: string }[];
  readonly prices: readonly { readonly unit: string; readonly imageTokensByTier?: unknown }[];
}

const textProtocols = ['chat_completions', 'generate_content'];

/** Returns contradictions within the entry of an image model. */
const imageDisagreements = ({ protocols, text, upstreams, prices }: Checked) => {
  const isCalledSo = protocols.some((protocol) => textProtocols.includes(protocol));
  const problem = (field: string, message: string) => [{ path: [field], message }];
  if (!isCalledSo) return text === undefined ? [] : problem('text', 'no protocol of the entry uses it');
  return [
    ...(text === undefined
      ? problem('text', 'is missing, but protocols contains chat_completions or generate_content')
      : []),
    ...(upstreams.some(({ wire }) => wire === 'gemini_generate_content_image')
      ? []
      : problem(
          'protocols',
          'chat_completions and generate_content need an upstream of wire "gemini_generate_content_image"',
        )),
    ...(prices.every(({ unit }) => unit === '1M_tokens')
      ? []
      : problem('prices', 'chat_completions and generate_content need the unit "1M_tokens" in every price')),
    ...(prices.every((row) => row.unit !== '1M_tokens' || row.imageTokensByTier !== undefined)
      ? []
      : problem(
          'prices',
          'chat_completions and generate_content need imageTokensByTier: the hold of an image counts its tokens',
        )),
  ];
};
