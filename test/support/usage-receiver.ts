import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { UsageEvent } from '../../lambdas/protocols/account/usage-event.ts';

export interface ReceivedBatch {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly events: readonly UsageEvent[];
}

/** Receives usage events as an operator does. Its status is 204 until a test changes it. */
export const startUsageReceiver = async (port = 0) => {
  const state = { status: 204, batches: [] as ReceivedBatch[] };
  const server = createServer(async (request, response) => {
    const body = await text(request);
    state.batches.push({ headers: request.headers, body, events: JSON.parse(body) });
    if (state.status === 0) return;
    response.writeHead(state.status, state.status === 302 ? { location: '/elsewhere' } : {}).end();
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const address = server.address() as AddressInfo;
  return {
    state,
    port: address.port,
    url: `http://127.0.0.1:${address.port}/usage`,
    /** Returns the events by id, so that repeated ones count once. */
    byId: (): ReadonlyMap<string, UsageEvent> =>
      new Map(state.batches.flatMap(({ events }) => events.map((event) => [event.id, event]))),
    stop: async (): Promise<void> => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
