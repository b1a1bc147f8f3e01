import * as z from 'zod';

export const providerKinds = ['openai', 'openai-compatible', 'anthropic', 'google', 'byteplus', 'bfl'] as const;

export type ProviderKind = (typeof providerKinds)[number];

const openAi = ['openai', 'openai-compatible'] as const;

/** Every wire the gateway speaks: the provider kinds that understand it and the model kinds it carries. */
const wireRows = {
  openai_chat: [openAi, ['text']],
  openai_responses: [openAi, ['text']],
  anthropic_messages: [['anthropic'], ['text']],
  gemini_generate_content: [['google'], ['text']],
  openai_images: [openAi, ['image']],
  gemini_generate_content_image: [['google'], ['image']],
  ark_images: [['byteplus'], ['image']],
  bfl_async: [['bfl'], ['image']],
  ark_video_tasks: [['byteplus'], ['video']],
  openai_videos: [openAi, ['video']],
  openai_audio: [openAi, ['transcription', 'speech']],
  openai_moderations: [openAi, ['moderation']],
  openai_embeddings: [openAi, ['embedding']],
} as const;

export type Wire = keyof typeof wireRows;

export const wireSchema = z.enum([
  'openai_chat',
  'openai_responses',
  'anthropic_messages',
  'gemini_generate_content',
  'openai_images',
  'gemini_generate_content_image',
  'ark_images',
  'bfl_async',
  'ark_video_tasks',
  'openai_videos',
  'openai_audio',
  'openai_moderations',
  'openai_embeddings',
]);

const rowOf = (wire: Wire): readonly [providers: readonly string[], models: readonly string[]] => wireRows[wire];

export const providerKindsOf = (wire: Wire): readonly string[] => rowOf(wire)[0];
export const modelKindsOf = (wire: Wire): readonly string[] => rowOf(wire)[1];

const common = {
  id: z.string().regex(/^[a-z][a-z0-9-]*$/),
  name: z.string().min(1),
  enabled: z.boolean(),
  /** As the vendor's own SDK takes it. A provider without one is off, and so are its upstreams. */
  baseUrl: z.url({ protocol: /^https$/ }).nullable(),
  /** Environment variable that replaces `baseUrl`. */
  baseUrlVariable: z.string().regex(/^[A-Z][A-Z0-9_]*$/),
  /** The key's environment variable and the header it goes out in, after `scheme` and a space if there is one. */
  credential: z.strictObject({
    variable: z.string().regex(/^[A-Z][A-Z0-9_]*$/),
    header: z.string().min(1),
    scheme: z.string().min(1).optional(),
  }),
  headers: z.record(z.string(), z.string()).default({}),
  note: z.string().min(1).optional(),
};

const capField = z.enum(['max_tokens', 'max_completion_tokens']);

/** A vendor that speaks OpenAI's wire needs a row in `providers.json` and no code: kind `openai-compatible`. */
export const providerSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('openai'),
    ...common,
    outputCapField: capField.default('max_completion_tokens'),
  }),
  z.strictObject({
    kind: z.literal('openai-compatible'),
    ...common,
    outputCapField: capField.default('max_tokens'),
  }),
  z.strictObject({ kind: z.literal('anthropic'), ...common }),
  z.strictObject({ kind: z.literal('google'), ...common }),
  z.strictObject({ kind: z.literal('byteplus'), ...common }),
  /** `trustedPollHosts`: the only hosts a polling address of the vendor's may name; `*.` stands for any subdomain. */
  z.strictObject({ kind: z.literal('bfl'), ...common, trustedPollHosts: z.array(z.string().min(1)).min(1) }),
]);
