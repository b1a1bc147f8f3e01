import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { startVendor, type VendorServer } from '../lambdas/providers/vendor-server.ts';
import { within } from '../support/gateway-process.ts';

/** The model that the recorded streams name. */
export const THEIR_MODEL = 'claude-vendor-20260101';

/** Recorded streams that end well. */
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

/** Each event as it stood in the stream; the comment on top says only where it comes from. */
export function recordedEvents(name: string): readonly string[] {
  const text = readFileSync(new URL(`../fixtures/anthropic/${name}`, import.meta.url), 'utf8');
  return text.slice(text.indexOf('event: ')).split(/(?<=\n\n)/);
}

export interface ScriptedVendor extends VendorServer {
  /** For the next request alone. */
  next(play: (response: ServerResponse) => void): void;
  /** The next request's answer, its head sent, to be written by hand. */
  nextByHand(): Promise<ServerResponse>;
}

/** A vendor whose every byte is the test's. */
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
