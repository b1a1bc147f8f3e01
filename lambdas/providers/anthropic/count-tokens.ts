import * as z from 'zod';
import type { JsonObject } from '../../core/json.ts';
import type { CountCall } from '../../core/text/count-tokens.ts';
import { readJson } from '../read-json.ts';
import { unreadable } from '../refusals.ts';
import { callVendor, type WireOptions } from '../vendor-call.ts';
import { parseRefusal, toAnthropicError } from './errors.ts';
import { ownParam } from './vendor-path.ts';

const tokens = z.int().nonnegative();
const counted = z.object({
  input_tokens: tokens,
  /** Of a request with `context_management`. */
  context_management: z.object({ original_input_tokens: tokens }).optional().catch(undefined),
});

/** https://platform.claude.com/docs/en/api/messages/count_tokens; free (BILL-17). Throws as a call for an answer does. */
export const createMessageTokenCounter =
  (options: WireOptions) =>
  async ({ provider, upstream, body, headers, signal }: CountCall): Promise<JsonObject> => {
    const { response } = await callVendor(options, {
      provider,
      path: '/v1/messages/count_tokens',
      body: { ...body, model: upstream.model },
      headers,
      streamed: false,
      signal,
      refuse: (status, refused, told) => toAnthropicError(status, parseRefusal(refused, ownParam), told),
    });
    const { data } = counted.safeParse(await readJson(response));
    if (!data) throw unreadable();
    return data;
  };
