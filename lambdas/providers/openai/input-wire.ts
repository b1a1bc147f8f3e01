import * as z from 'zod';
import type { EmbeddingWire } from '../../core/inputs/embed.ts';
import type { ModerationWire } from '../../core/inputs/moderate.ts';
import type { InputWire } from '../../core/inputs/paid-input.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import type { TokenUsage } from '../../core/pricing/charge.ts';
import { readListedJson } from '../listed-json.ts';
import { tokenCount } from '../read-json.ts';
import { unreadable } from '../refusals.ts';
import { callVendor, type WireOptions } from '../vendor-call.ts';
import { parseRefusal, toInBandError, toOpenaiError } from './errors.ts';

export interface InputVendor {
  readonly path: string;
  /** Array member of every successful response. */
  readonly holds: string;
  readonly toUsage: (body: JsonObject) => TokenUsage | undefined;
}

/** Creates the wire of OpenAI's protocols without paid output: one `input`, and one response that passes as bytes. */
export const createInputWire = (options: WireOptions, { path, holds, toUsage }: InputVendor): InputWire => ({
  send: async ({ provider, upstream, modelId, body: asked, signal }) => {
    const { response, refusalContext } = await callVendor(options, {
      provider,
      path,
      body: { ...asked, model: upstream.model },
      streamed: false,
      signal,
      refuse: (status, refusal, context) => toOpenaiError(status, parseRefusal(refusal), context, 'input'),
    });
    const { outline, withModel } = await readListedJson(response);
    if (isJsonObject(outline.error)) throw toInBandError(parseRefusal(outline), refusalContext, 'input');
    if (!Array.isArray(outline[holds])) throw unreadable();
    return { bytes: withModel(modelId), usage: toUsage(outline) };
  },
});

/**
 * https://developers.openai.com/api/reference/resources/embeddings/methods/create. `total_tokens` repeats the same
 * number.
 */
const usage = z.object({ prompt_tokens: tokenCount, total_tokens: tokenCount });

const toUsage = (body: JsonObject): TokenUsage | undefined => {
  const { prompt_tokens: prompt, total_tokens: total } = usage.safeParse(body.usage).data ?? {};
  if (typeof prompt !== 'number') return undefined;
  return {
    input: Math.max(prompt, total ?? 0),
    cacheRead: 0,
    cacheWrite: 0,
    cacheWrite1h: 0,
    output: 0,
    reasoning: 0,
    ...(total && total !== prompt && { totalDiffers: true }),
  };
};

export const createEmbeddingWire = (options: WireOptions): EmbeddingWire =>
  createInputWire(options, { path: '/embeddings', holds: 'data', toUsage });

/**
 * https://developers.openai.com/api/reference/resources/moderations/methods/create. The service is free and reports no
 * usage.
 */
export const createModerationWire = (options: WireOptions): ModerationWire =>
  createInputWire(options, { path: '/moderations', holds: 'results', toUsage: () => undefined });
