import * as z from 'zod';

export const providerKinds = ['openai', 'openai-compatible', 'anthropic', 'google', 'byteplus', 'bfl'] as const;

export type ProviderKind = (typeof providerKinds)[number];

const openAi = ['openai', 'openai-compatible'] as const;

type CarriedKind = 'text' | 'image' | 'video' | 'transcription' | 'speech' | 'moderation' | 'embedding';

interface WireRow {
  /** Provider kinds that understand the wire. */
  readonly providers: readonly ProviderKind[];
  /** Model kinds that the wire carries. */
  readonly models: readonly CarriedKind[];
}

/** Wires of the gateway, by the name that catalog entries use. */
const wires = {
  openai_chat: { providers: openAi, models: ['text'] },
  openai_responses: { providers: openAi, models: ['text'] },
  anthropic_messages: { providers: ['anthropic'], models: ['text'] },
  gemini_generate_content: { providers: ['google'], models: ['text'] },
  openai_images: { providers: openAi, models: ['image'] },
  gemini_generate_content_image: { providers: ['google'], models: ['image'] },
  ark_images: { providers: ['byteplus'], models: ['image'] },
  bfl_async: { providers: ['bfl'], models: ['image'] },
  ark_video_tasks: { providers: ['byteplus'], models: ['video'] },
  openai_videos: { providers: openAi, models: ['video'] },
  openai_audio: { providers: openAi, models: ['transcription', 'speech'] },
  openai_moderations: { providers: openAi, models: ['moderation'] },
  openai_embeddings: { providers: openAi, models: ['embedding'] },
} as const satisfies Record<string, WireRow>;

export type Wire = keyof typeof wires;

/** Wires that carry models of a kind. */
export type WireFor<Kind extends CarriedKind> = {
  [Name in Wire]: Kind extends (typeof wires)[Name]['models'][number] ? Name : never;
}[Wire];

export const wireSchema = z.enum(Object.keys(wires) as Wire[]);

export const providerKindsOf = (wire: Wire): readonly string[] => wires[wire].providers;
export const modelKindsOf = (wire: Wire): readonly string[] => wires[wire].models;

const common = {
  id: z.string().regex(/^[a-z][a-z0-9-]*$/),
  name: z.string().min(1),
  enabled: z.boolean(),
  /**
   * Base URL in the form that the provider's SDK uses. If neither this nor `baseUrlVariable` gives a URL, the provider
   * and its upstreams are off.
   */
  baseUrl: z.url({ protocol: /^https$/ }).nullable(),
  /** Environment variable that replaces `baseUrl`. */
  baseUrlVariable: z.string().regex(/^[A-Z][A-Z0-9_]*$/),
  /**
   * Credential of the provider: the environment variable with its key and the header that carries it. The header's
   * value is the key, preceded by `scheme` and a space if a scheme is given.
   */
  credential: z.strictObject({
    variable: z.string().regex(/^[A-Z][A-Z0-9_]*$/),
    header: z.string().min(1),
    scheme: z.string().min(1).optional(),
  }),
  headers: z.record(z.string(), z.string()).default({}),
  note: z.string().min(1).optional(),
};

const capField = z.enum(['max_tokens', 'max_completion_tokens']);

/**
 * Whether `completion_tokens` of a chat completion includes the reasoning tokens, as in OpenAI's protocol, or excludes
 * them. Undefined: the total of each response decides (BILL-11).
 */
const reasoningTokens = z.enum(['included', 'beside']);

export type ReasoningTokens = z.output<typeof reasoningTokens>;

/** A provider with an OpenAI-compatible API needs a row in `providers.json` and no code: kind `openai-compatible`. */
export const providerSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('openai'),
    ...common,
    outputCapField: capField.default('max_completion_tokens'),
    reasoningTokens: reasoningTokens.optional(),
  }),
  z.strictObject({
    kind: z.literal('openai-compatible'),
    ...common,
    outputCapField: capField.default('max_tokens'),
    reasoningTokens: reasoningTokens.optional(),
  }),
  z.strictObject({ kind: z.literal('anthropic'), ...common }),
  z.strictObject({ kind: z.literal('google'), ...common }),
  z.strictObject({ kind: z.literal('byteplus'), ...common }),
  /** `trustedPollHosts`: the only hosts that a polling URL of the provider may name. `*.` matches any subdomain. */
  z.strictObject({ kind: z.literal('bfl'), ...common, trustedPollHosts: z.array(z.string().min(1)).min(1) }),
]);
