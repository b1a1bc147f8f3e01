import * as z from 'zod';
import type { EmbeddingWire } from '../../core/inputs/embed.ts';
import type { JsonObject } from '../../core/json.ts';
import type { TokenUsage } from '../../core/pricing/charge.ts';
import { tokenCount } from '../read-json.ts';
import type { WireOptions } from '../vendor-call.ts';
import { createInputWire } from './input-wire.ts';

/** https://developers.openai.com/api/reference/resources/embeddings/methods/create. `total_tokens` is the same number again. */
const usage = z.object({ prompt_tokens: tokenCount });

const toUsage = (body: JsonObject): TokenUsage | undefined => {
  const parsed = usage.safeParse(body.usage);
  const input = parsed.data?.prompt_tokens ?? undefined;
  if (input === undefined) return undefined;
  return { input, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output: 0, reasoning: 0 };
};

export const createEmbeddingWire = (options: WireOptions): EmbeddingWire =>
  createInputWire(options, { path: '/embeddings', holds: 'data', toUsage });
