import type { VendorRefusal } from '../wire.ts';
import { openaiError } from './error.ts';

const idCharactersMax = 64;

type Ids = { readonly [Name in 'user' | 'prompt_cache_key' | 'safety_identifier']?: string | null | undefined };

/**
 * Sources: https://github.com/maximhq/bifrost/pull/1000 (`user`, 2025-12), https://github.com/earendil-works/pi/pull/4719
 * (`prompt_cache_key`, 2026-05), https://github.com/openai/openai-openapi 2.3.0 (`safety_identifier`, 2026-08). The
 * package openai 7.55.0 says 128 for the last one.
 */
export function refuseLongIds({ user, prompt_cache_key, safety_identifier }: Ids): VendorRefusal | undefined {
  const long = Object.entries({ user, prompt_cache_key, safety_identifier }).find(
    ([, text]) => [...(text ?? '')].length > idCharactersMax,
  );
  if (long === undefined) return undefined;
  const [param, text] = long;
  const message = `Invalid '${param}': string too long. Expected a string with maximum length ${idCharactersMax}, but got a string with length ${[...(text ?? '')].length} instead.`;
  return openaiError(400, message, { param, code: 'string_above_max_length' });
}

/** Models from GPT-5.5 on support only `24h`: `prompt_cache_retention` in the package openai 7.55.0 (2026-11). */
export function refuseRetention({
  model,
  prompt_cache_retention: retention,
}: {
  readonly model: string;
  readonly prompt_cache_retention?: string | null | undefined;
}): VendorRefusal | undefined {
  if (retention !== 'in_memory' || !/^gpt-(5\.[5-9]|[6-9])/.test(model)) return undefined;
  const message = `Unsupported value: 'prompt_cache_retention' does not support 'in_memory' with this model.`;
  return openaiError(400, message, { param: 'prompt_cache_retention', code: 'unsupported_value' });
}
