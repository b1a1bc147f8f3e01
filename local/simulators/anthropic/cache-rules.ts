import type { VendorRefusal } from '../wire.ts';
import { anthropicError } from './error.ts';
import type { PromptBlock } from './prompt-blocks.ts';
import type { CountRequest } from './request.ts';

const markersMax = 4;

/**
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching. Messages:
 * https://github.com/tghamm/Anthropic.SDK/issues/50, https://github.com/headroomlabs-ai/headroom/issues/2939,
 * https://github.com/vellum-ai/vellum-assistant/pull/23414.
 */
export const cacheRules: readonly ((
  blocks: readonly PromptBlock[],
  request: CountRequest,
) => VendorRefusal | undefined)[] = [refuseMarkerCount, refuseMarkerOrder, refuseTopLevel];

function refuseMarkerCount(blocks: readonly PromptBlock[]): VendorRefusal | undefined {
  const count = blocks.filter(({ ttl }) => ttl !== undefined).length;
  if (count <= markersMax) return undefined;
  return anthropicError(400, `A maximum of ${markersMax} blocks with cache_control may be provided. Found ${count}.`);
}

function refuseMarkerOrder(blocks: readonly PromptBlock[]): VendorRefusal | undefined {
  let shortBefore = false;
  for (const { field, ttl } of blocks) {
    if (ttl === '1h' && shortBefore) {
      const words =
        "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. " +
        'Note that blocks are processed in the following order: tools, system, messages.';
      return anthropicError(400, `${field}.cache_control.ttl: ${words}`);
    }
    shortBefore ||= ttl === '5m';
  }
  return undefined;
}

function refuseTopLevel(
  blocks: readonly PromptBlock[],
  { cache_control: marker }: CountRequest,
): VendorRefusal | undefined {
  if (marker == null) return undefined;
  const wanted = marker.ttl ?? '5m';
  const target = blocks.at(-1)?.ttl ?? wanted;
  if (target === wanted) return undefined;
  const words = `Top-level cache_control has ttl='${wanted}' but the target block already has cache_control with`;
  return anthropicError(400, `${words} ttl='${target}'`);
}
