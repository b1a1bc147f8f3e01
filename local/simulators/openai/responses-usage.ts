import type { Composed } from '../compose.ts';
import type { ClaimedUsage } from '../scenario.ts';
import { countTokens } from '../tokens.ts';
import { imageTokens } from './image-tokens.ts';
import { fileTokens } from './responses-files.ts';
import { type InputItem, itemFiles, itemImages, itemText } from './responses-items.ts';
import { itemsOf, type ResponsesRequest } from './responses-request.ts';

const tokensPerItem = 3;

/** Instructions, items, images, tools and schema: all that the provider counts as input. */
export function countInputTokens(request: ResponsesRequest): number {
  const rest = [request.tools, request.text?.format].filter((part) => part != null);
  return (
    tokensPerItem +
    countTokens(request.instructions ?? '') +
    itemsOf(request).reduce((sum, item) => sum + itemTokens(item), 0) +
    rest.reduce((sum, part) => sum + countTokens(JSON.stringify(part)), 0)
  );
}

function itemTokens(item: InputItem): number {
  const images = itemImages(item).reduce((sum, { detail }) => sum + imageTokens(detail), 0);
  const files = itemFiles(item).reduce((sum, file) => sum + fileTokens(file), 0);
  return tokensPerItem + images + files + countTokens(itemText(item));
}

/** Input tokens include cache reads and writes; output tokens include reasoning tokens. */
export function toResponsesUsage(inputTokens: number, composed: Composed, claimed: ClaimedUsage = {}) {
  const input = claimed.input ?? inputTokens;
  const output = claimed.output ?? composed.outputTokens;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: claimed.cached ?? 0, cache_write_tokens: claimed.cacheWrite ?? 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: claimed.reasoning ?? composed.reasoningTokens },
    total_tokens: input + output,
  };
}
