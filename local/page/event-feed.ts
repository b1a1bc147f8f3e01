import type { ServerResponse } from 'node:http';
import { safeHeaders } from './answers.ts';
import type { PageEvents } from './ui/wire.ts';

/** Number of past events that a page gets when it is opened. */
const KEPT_MAX = 200;
const KEEP_ALIVE_MS = 15_000;

export type EventFeed = {
  publish<Name extends keyof PageEvents>(name: Name, data: PageEvents[Name]): void;
  /**
   * Sends the kept events that follow `lastEventId`, or all kept events if the id is unknown, and then every new event.
   */
  serve(response: ServerResponse, lastEventId: string | undefined): void;
  /** Ends every connection, and new ones immediately. */
  stop(): void;
};

type Kept = { readonly id: string; readonly text: string };

/** Server-sent events for the open pages. */
export function createEventFeed(newRunId: () => string): EventFeed {
  const runId = newRunId();
  const kept: Kept[] = [];
  const open = new Set<ServerResponse>();
  let count = 0;
  let isStopped = false;
  const timer = setInterval(() => {
    for (const response of open) response.write(':\n\n');
  }, KEEP_ALIVE_MS);
  timer.unref();
  return {
    publish(name, data) {
      count += 1;
      const id = `${runId}-${count}`;
      const text = `id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
      kept.push({ id, text });
      if (kept.length > KEPT_MAX) kept.shift();
      for (const response of open) response.write(text);
    },
    serve(response, lastEventId) {
      response.writeHead(200, { ...safeHeaders, 'content-type': 'text/event-stream; charset=utf-8' });
      if (isStopped) {
        response.end();
        return;
      }
      open.add(response);
      response.once('close', () => open.delete(response));
      const seen = kept.findIndex(({ id }) => id === lastEventId);
      const missed = kept.slice(seen + 1).map(({ text }) => text);
      response.write(`retry: 1000\n\n${missed.join('')}`);
    },
    stop() {
      isStopped = true;
      clearInterval(timer);
      for (const response of open) response.end();
    },
  };
}
