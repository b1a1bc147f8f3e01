import * as z from 'zod';
import { anyObject, listOf, showAs } from '../bounded.ts';
import { endUserName } from '../end-user.ts';
import { cacheControl, messagesSchema, texts } from './blocks.ts';

const fraction = z.number().min(0, 'must be at least 0').max(1, 'must be at most 1');

const ownTools = 'web_search, code_execution, bash and the like';

/** The tools that the vendor runs cost extra, those that it defines cost prompt tokens that no body shows (GEN-9). */
const toolType = showAs(
  z
    .unknown()
    .refine(
      (type) => type === undefined || type === null || type === 'custom',
      `must be "custom" or left out: the vendor's own tools (${ownTools}) are not served here`,
    ),
  { kind: 'schema', schema: { enum: ['custom', null] } },
);

const tool = z.strictObject({
  type: toolType.optional(),
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/, 'must be 1 to 128 letters, digits, _ or -'),
  description: z.string().optional(),
  input_schema: anyObject,
  strict: z.boolean().optional(),
  eager_input_streaming: z.boolean().nullish(),
  input_examples: listOf(anyObject, { max: 1_000, message: 'must be an array of objects' }).optional(),
  allowed_callers: listOf(z.literal('direct'), { max: 10, message: 'must be an array' }).optional(),
  cache_control: cacheControl,
});

const parallel = { disable_parallel_tool_use: z.boolean().optional() };

const toolChoice = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('auto'), ...parallel }),
  z.strictObject({ type: z.literal('any'), ...parallel }),
  z.strictObject({ type: z.literal('tool'), name: z.string().min(1), ...parallel }),
  z.strictObject({ type: z.literal('none') }),
]);

const display = z.enum(['summarized', 'omitted']).nullish();

const thinking = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('adaptive'), display }),
  z.strictObject({ type: z.literal('enabled'), budget_tokens: z.int().min(1_024, 'must be at least 1024'), display }),
  z.strictObject({ type: z.literal('disabled') }),
]);

const outputConfig = z.strictObject({
  effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).nullish(),
  format: z.strictObject({ type: z.literal('json_schema'), schema: anyObject }).nullish(),
});

/** What a prompt consists of: the whole body of a request to count it. */
export const countBody = z.strictObject({
  model: z.string('must be the id of a model').min(1, 'must be the id of a model'),
  messages: messagesSchema,
  system: texts.optional(),
  tools: listOf(tool, { max: 10_000, message: 'must be an array of tools' }).optional(),
  tool_choice: toolChoice.optional(),
  thinking: thinking.optional(),
  output_config: outputConfig.optional(),
  cache_control: cacheControl,
  /** The fast mode is dearer (GEN-9). */
  speed: z.literal('standard').nullish(),
});

/** https://platform.claude.com/docs/en/api/messages. Any other field is refused by name (GEN-9). */
export const messagesBody = z.strictObject({
  ...countBody.shape,
  /** 0 fills the prompt cache and answers nothing. */
  max_tokens: z.int().min(0, 'must be at least 0'),
  stop_sequences: listOf(z.string(), { max: 1_000, message: 'must be an array of strings' }).optional(),
  temperature: fraction.optional(),
  top_p: fraction.optional(),
  top_k: z.int().min(0, 'must be at least 0').optional(),
  stream: z.boolean().optional(),
  service_tier: z.enum(['auto', 'standard_only']).optional(),
  metadata: z.strictObject({ user_id: endUserName.nullish() }).optional(),
  inference_geo: z.null().optional(),
  container: z.null().optional(),
});

export type CountBody = z.output<typeof countBody>;
export type MessagesBody = z.output<typeof messagesBody>;
/** Either of the two. */
export type PromptBody = CountBody & Partial<Omit<MessagesBody, keyof CountBody>>;
