import * as z from 'zod';
import { countTokens } from '../tokens.ts';
import type { VendorRefusal } from '../wire.ts';
import { openaiError } from './error.ts';
import { parseBody } from './request-errors.ts';

const inputsMax = 2048;
const tokensMax = 8192;
const tokensPerRequestMax = 300_000;

const requestSchema = z.strictObject({
  model: z.string(),
  input: z.unknown(),
  encoding_format: z.enum(['float', 'base64']).nullish(),
  dimensions: z.int().min(1).nullish(),
  user: z.string().nullish(),
});

const token = z.int().min(0);
const inputSchema = z.union([
  z.string().min(1),
  z.array(z.string().min(1)).min(1).max(inputsMax),
  z.array(token).min(1).max(tokensMax),
  z.array(z.array(token).min(1)).min(1).max(inputsMax),
]);

export type EmbeddingsRequest = {
  readonly model: string;
  readonly inputs: readonly (string | readonly number[])[];
  /** Tokens of all inputs together. */
  readonly tokens: number;
  readonly base64: boolean;
  readonly dimensions: number;
};

/**
 * Parses the request, or throws the provider's 400. Source:
 * https://developers.openai.com/api/reference/resources/embeddings/methods/create
 */
export function parseEmbeddingsRequest(body: unknown): EmbeddingsRequest {
  const { model, input, encoding_format: encoding, dimensions } = parseBody(requestSchema, body);
  const size = sizeOf(model, dimensions ?? undefined);
  const inputs = parseInputs(input);
  const counts = inputs.map((one) => (typeof one === 'string' ? countTokens(one) : one.length));
  const longest = counts.reduce((most, count) => Math.max(most, count), 0);
  if (longest > tokensMax) throw tooLong(longest);
  const tokens = counts.reduce((sum, count) => sum + count, 0);
  if (tokens > tokensPerRequestMax) throw tooMany(tokens);
  return { model, inputs, tokens, base64: encoding === 'base64', dimensions: size };
}

const sizes: Readonly<Record<string, number>> = {
  'text-embedding-3-large': 3072,
  'text-embedding-3-small': 1536,
  'text-embedding-ada-002': 1536,
};

function sizeOf(model: string, wanted: number | undefined): number {
  const size = sizes[model];
  if (size === undefined) throw openaiError(404, `The model \`${model}\` does not exist.`, { code: 'model_not_found' });
  if (wanted === undefined) return size;
  // https://github.com/SciPhi-AI/R2R/pull/768
  if (!model.startsWith('text-embedding-3-'))
    throw openaiError(400, 'This model does not support specifying dimensions.');
  if (wanted <= size) return wanted;
  const message = `Invalid value for 'dimensions' = ${wanted}. Must be less than or equal to ${size}.`;
  throw openaiError(400, message, { param: 'dimensions' });
}

/** Every problem with the input has the same message: https://github.com/embeddings-benchmark/mteb/issues/1200 */
function parseInputs(input: unknown): EmbeddingsRequest['inputs'] {
  const parsed = inputSchema.safeParse(input).data;
  if (parsed === undefined) {
    throw openaiError(
      400,
      "'$.input' is invalid. Please check the API reference: https://platform.openai.com/docs/api-reference.",
    );
  }
  if (typeof parsed === 'string') return [parsed];
  const tokens = z.array(token).safeParse(parsed).data;
  return tokens === undefined ? z.array(z.union([z.string(), z.array(token)])).parse(parsed) : [tokens];
}

/** Source of the message: https://github.com/pingcap/autoflow/issues/265 */
export function tooLong(tokens: number): VendorRefusal {
  const message =
    `This model's maximum context length is ${tokensMax} tokens, however you requested ${tokens} tokens ` +
    `(${tokens} in your prompt; 0 for the completion). Please reduce your prompt; or completion length.`;
  return openaiError(400, message);
}

/** Source: https://github.com/OpenDataBox/CrackSQL/pull/27 */
function tooMany(tokens: number): VendorRefusal {
  const message = `Requested ${tokens} tokens, max ${tokensPerRequestMax} tokens per request`;
  return openaiError(400, message, { type: 'max_tokens_per_request', code: 'max_tokens_per_request' });
}
