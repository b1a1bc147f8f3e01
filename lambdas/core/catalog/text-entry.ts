import * as z from 'zod';
import { type Finding, type PricedText, unevenCacheRates } from './cache-rates.ts';
import { effortLevels } from './effort-levels.ts';
import { type EntryContext, entryFields, priceList } from './entry-fields.ts';
import { textPrice } from './prices.ts';

const tokens = z.int().positive();

const capabilities = z.strictObject({
  tools: z.boolean(),
  parallelTools: z.boolean(),
  forcedToolChoice: z.boolean(),
  vision: z.boolean(),
  videoInput: z.boolean(),
  jsonObject: z.boolean(),
  jsonSchema: z.boolean(),
  streaming: z.boolean(),
  seed: z.boolean(),
  /** Whether n may exceed 1. */
  multipleChoices: z.boolean(),
  /** Whether `temperature` and `top_p` are supported. */
  sampling: z.boolean(),
  /** Whether presence and frequency penalties are supported. */
  penalties: z.boolean(),
  stop: z.boolean(),
  logprobs: z.boolean(),
  promptCache: z.enum(['none', 'implicit', 'explicit_messages_only']),
});

export const imageTokensMax = z.strictObject({ low: tokens, high: tokens, auto: tokens, original: tokens });

export const effort = z.enum(effortLevels);

export const textLimits = z
  .strictObject({
    contextTokens: tokens,
    inputTokensMax: tokens.optional(),
    outputTokensMax: tokens,
    /** Output limit for the hold if the client sets none (BILL-6). */
    outputTokensDefault: tokens,
  })
  .superRefine((value, context) => {
    const bound = (field: 'inputTokensMax' | 'outputTokensMax' | 'outputTokensDefault', max: number) => {
      const given = value[field];
      if (given !== undefined && given > max)
        context.addIssue({
          code: 'custom',
          path: [field],
          message: `${given} is above ${max}, the value of contextTokens, or of outputTokensMax for outputTokensDefault`,
        });
    };
    bound('inputTokensMax', value.contextTokens);
    bound('outputTokensMax', value.contextTokens);
    bound('outputTokensDefault', value.outputTokensMax);
  });

/** Native protocols pass bytes through, so the provider must use the same protocol. */
const nativeWires = {
  responses: 'openai_responses',
  messages: 'anthropic_messages',
  generate_content: 'gemini_generate_content',
} as const;

interface Checked extends PricedText {
  readonly protocols: readonly ('chat_completions' | keyof typeof nativeWires)[];
  readonly upstreams: readonly { readonly wire: string }[];
  readonly inputTypes: readonly string[];
  readonly capabilities: { readonly vision: boolean; readonly videoInput: boolean };
}

/** Returns contradictions within one catalog entry. */
const disagreements = ({ protocols, upstreams, inputTypes, capabilities: able }: Checked): readonly Finding[] => {
  const wires = protocols.flatMap((protocol) => {
    if (protocol === 'chat_completions') return [];
    const wire = nativeWires[protocol];
    if (upstreams.some((upstream) => upstream.wire === wire)) return [];
    return [{ field: 'protocols', message: `"${protocol}" needs an upstream of wire "${wire}"` }];
  });
  const differs = (type: string, capability: boolean, name: string) =>
    inputTypes.includes(type) === capability
      ? []
      : [{ field: 'inputTypes', message: `"${type}" and capabilities.${name} disagree` }];
  return [...wires, ...differs('image', able.vision, 'vision'), ...differs('video', able.videoInput, 'videoInput')];
};

export const textEntry = (context: EntryContext) =>
  z
    .strictObject({
      kind: z.literal('text'),
      ...entryFields('text', context),
      protocols: z.array(z.enum(['chat_completions', 'responses', 'messages', 'generate_content'])).min(1),
      capabilities,
      limits: textLimits,
      reasoning: z
        .strictObject({
          field: z.enum(['reasoning_effort', 'reasoning.effort', 'output_config.effort']),
          accepted: z.array(effort).min(1),
          default: effort,
          /** Effort levels that the API offers to web interfaces. Validation ignores them (CAT-2). */
          levelsUi: z.array(effort),
        })
        .nullable(),
      thinking: z
        .strictObject({
          adaptive: z.boolean(),
          manualBudget: z.boolean(),
          canDisable: z.boolean(),
          /**
           * Whether the model accepts the `thinking.type` `between_tools`, which limits its thinking to the time
           * between tool calls (MSG-2).
           */
          betweenTools: z.boolean().optional(),
          suffix: z.string().min(1).optional(),
        })
        .optional(),
      /** Maximum number of tokens of one image, by its detail. Without a detail, `auto` applies (BILL-5). */
      imageTokensMax: imageTokensMax.default({ low: 1_000, high: 5_000, auto: 30_000, original: 30_000 }),
      /** Names of the sizes of images in the output; empty if the model generates no images. */
      imageTiers: z.array(z.string().min(1)).default([]),
      /** Hosts whose video links the provider opens itself (CHAT-7). */
      videoLinkHosts: z.array(z.string().min(1)).default([]),
      /** Factor on the input estimate if the provider's tokenizer counts more tokens than the estimate (BILL-5). */
      inputTokenFactor: z.number().min(0.1).max(10).optional(),
      prices: priceList(textPrice(context.markup)),
    })
    .superRefine((entry, check) => {
      for (const { field, message } of [...disagreements(entry), ...unevenCacheRates(entry)])
        check.addIssue({ code: 'custom', path: [field], message });
    });
