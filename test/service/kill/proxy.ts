import { Agent, createServer, type IncomingMessage, request as openRequest } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { StoreWire, Wanted } from '../../support/fault-proxy-wire.ts';

/** Where a call is stopped, for good: whoever made it hears nothing any more. */
export interface Stop {
  /** `before` it is executed; `late`, executed at `landing`; `after` it was, with its reply kept back. */
  readonly side: 'before' | 'late' | 'after';
  readonly landing: Promise<void>;
  /** The caller now waits at that very point. */
  readonly reached: () => void;
}

/** Asked once for each call that arrives; undefined lets it through. */
export type StopPlan = (call: Wanted) => Stop | undefined | Promise<Stop | undefined>;

export interface KillProxy {
  readonly endpoint: string;
  /** Resolves when the calls that land late have landed. */
  landed(): Promise<unknown>;
  stop(): Promise<void>;
}

/** Stands before a store and keeps its clients waiting at a point of their way, so that they can be killed just there. */
export async function startKillProxy(target: string, wire: StoreWire, plan: StopPlan): Promise<KillProxy> {
  const agent = new Agent({ keepAlive: true });
  const late: Promise<unknown>[] = [];
  const server = createServer({ keepAliveTimeout: 65_000 }, async (request, response) => {
    try {
      const bytes = await buffer(request);
      const stop = await plan(wire.describe(request, bytes));
      if (stop?.side === 'before' || stop?.side === 'late') {
        if (stop.side === 'late') late.push(stop.landing.then(() => land(agent, target, request, bytes)));
        stop.reached();
        return;
      }
      const { message, body } = await send(agent, target, request, bytes);
      if (stop) {
        stop.reached();
        return;
      }
      const { connection: _own, 'transfer-encoding': _framed, 'keep-alive': _kept, ...headers } = message.headers;
      response.writeHead(message.statusCode ?? 502, headers).end(body);
    } catch {
      // The client was killed.
      request.socket.destroy();
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the system named no port');
  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    landed: () => Promise.all(late),
    stop() {
      agent.destroy();
      return new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

/** A condition that no longer holds is an answer; anything else would be a call that never landed. */
async function land(...call: Parameters<typeof send>): Promise<void> {
  const { message } = await send(...call);
  if ((message.statusCode ?? 500) >= 500) throw new Error(`a late call was answered ${message.statusCode}`);
}

function send(agent: Agent, target: string, request: IncomingMessage, bytes: Buffer) {
  const { connection: _own, ...headers } = request.headers;
  return new Promise<{ message: IncomingMessage; body: Buffer }>((resolve, reject) => {
    openRequest(`${target}${request.url}`, { agent, method: request.method, headers }, (message) => {
      buffer(message).then((body) => resolve({ message, body }), reject);
    })
      .on('error', reject)
      .end(bytes);
  });
}
