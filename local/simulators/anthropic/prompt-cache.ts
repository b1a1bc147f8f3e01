import { createHash } from 'node:crypto';
import type { PromptBlock, Ttl } from './prompt-blocks.ts';

/** Tokens of one prompt that were read from the cache and written to it. The rest is plain input. */
export type CacheCount = { readonly read: number; readonly written5m: number; readonly written1h: number };

export type PromptCache = {
  /** `scope` separates accounts and models. */
  use(scope: string, blocks: readonly PromptBlock[]): CacheCount;
};

const millisByTtl: Readonly<Record<Ttl, number>> = { '5m': 5 * 60_000, '1h': 60 * 60_000 };

/** Number of blocks before a marker within which an earlier prefix is found. */
const lookbackBlocks = 20;
const entriesMax = 10_000;

/**
 * Simulates https://platform.claude.com/docs/en/build-with-claude/prompt-caching: a marker caches the prefix that ends
 * with its block, a later prompt reads the longest known prefix, and each read renews the lifetime of the prefix. The
 * minimum length of a prefix (512 to 4096 tokens) is not checked, so that a test can cache a few words.
 */
export function createPromptCache(now: () => number = Date.now): PromptCache {
  const entries = new Map<string, { readonly ttl: Ttl; readonly expiresAt: number }>();

  function keep(key: string, ttl: Ttl): void {
    entries.delete(key);
    entries.set(key, { ttl, expiresAt: now() + millisByTtl[ttl] });
    const oldest = entries.size > entriesMax ? entries.keys().next().value : undefined;
    if (oldest !== undefined) entries.delete(oldest);
  }

  function isKnown(key: string): boolean {
    return (entries.get(key)?.expiresAt ?? 0) > now();
  }

  return {
    use(scope, blocks) {
      const prefixes = toPrefixes(scope, blocks);
      const marked = prefixes.filter(({ ttl }) => ttl !== undefined);
      const known = findKnown(prefixes, isKnown);
      if (known !== undefined) keep(known.key, entries.get(known.key)?.ttl ?? '5m');
      const read = known?.tokens ?? 0;
      const written: Record<Ttl, number> = { '5m': 0, '1h': 0 };
      let before = read;
      for (const { key, ttl = '5m', tokens } of marked) {
        if (tokens <= read) continue;
        written[ttl] += tokens - before;
        before = tokens;
        keep(key, ttl);
      }
      return { read, written5m: written['5m'], written1h: written['1h'] };
    },
  };
}

type Prefix = { readonly key: string; readonly tokens: number; readonly ttl?: Ttl };

function toPrefixes(scope: string, blocks: readonly PromptBlock[]): readonly Prefix[] {
  let key = scope;
  let tokens = 0;
  return blocks.map((block) => {
    key = createHash('sha256').update(key).update('\n').update(block.material).digest('base64');
    tokens += block.tokens;
    return { key, tokens, ttl: block.ttl };
  });
}

function findKnown(prefixes: readonly Prefix[], isKnown: (key: string) => boolean): Prefix | undefined {
  for (let at = prefixes.length - 1; at >= 0; at -= 1) {
    const prefix = prefixes[at];
    const inSight = prefixes.slice(at, at + lookbackBlocks).some(({ ttl }) => ttl !== undefined);
    if (prefix !== undefined && inSight && isKnown(prefix.key)) return prefix;
  }
  return undefined;
}
