import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { startVendor, type VendorServer } from '../lambdas/providers/vendor-server.ts';
import { within } from '../support/gateway-process.ts';

/** Model in the recorded streams. */
export const THEIR_MODEL = 'claude-vendor-20260101';

/** Recorded streams with a proper end. */
export const recorded = [
  'basic.sse',
  'tool-use.sse',
  'parallel-tools.sse',
  'thinking.sse',
  'refusal.sse',
  'refusal-at-once.sse',
  'cache-usage.sse',
  'empty-input-tool.sse',
] as const;

/** Returns the events of a recorded stream, without its leading comment about the source. */
export function recordedEvents(name: string): readonly string[] {
  const text = readFileSync(new URL(`../fixtures/anthropic/${name}`, import.meta.url), 'utf8');
  return text.slice(text.indexOf('event: ')).split(/(?<=\n\n)/);
}

export interface ScriptedVendor extends VendorServer {
  /** Applies to the next request only. */
  next(play: (response: ServerResponse) => void): void;
  /** Resolves with the response to the next request. Its head is sent; the test writes the body. */
  nextByHand(): Promise<ServerResponse>;
}

/** Simulated provider whose test controls every byte. */
export async function startScriptedVendor(): Promise<ScriptedVendor> {
  const plays: ((response: ServerResponse) => void)[] = [];
  const vendor = await startVendor((_request, response) => {
    const play = plays.shift();
    if (play) play(response);
    else response.writeHead(500).end();
  });
  return {
    ...vendor,
    next: (play) => void plays.push(play),
    nextByHand: () => {
      const arrived = Promise.withResolvers<ServerResponse>();
      plays.push((response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
        arrived.resolve(response);
      });
      return within('the request', arrived.promise);
    },
  };
}
