import { createServer, type IncomingMessage, request as openRequest } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StoreWire, Wanted } from '../../support/fault-proxy-wire.ts';

/** A point at which a call stops permanently: its caller gets no reply. */
export interface Stop {
  /**
   * When the call is executed: `before` it is never executed, `late` it is executed at `landing`, `after` it was
   * executed but its reply is withheld.
   */
  readonly side: 'before' | 'late' | 'after';
  readonly landing: Promise<void>;
  /** Called when the caller waits at this point. */
  readonly reached: () => void;
}

/** Called once per call. Undefined lets the call pass. */
export type StopPlan = (call: Wanted) => Stop | undefined | Promise<Stop | undefined>;

export interface KillProxy {
  readonly endpoint: string;
  /** Resolves when the late calls have been executed. */
  landed(): Promise<unknown>;
  stop(): Promise<void>;
}

/** Starts a proxy for a store that stops calls at chosen points, so that their caller can be killed there. */
export async function startKillProxy(target: string, wire: StoreWire, plan: StopPlan): Promise<KillProxy> {
  const late: Promise<unknown>[] = [];
  const server = createServer({ keepAliveTimeout: 65_000 }, async (request, response) => {
    try {
      const bytes = await buffer(request);
      const stop = await plan(wire.describe(request, bytes));
      if (stop?.side === 'before' || stop?.side === 'late') {
        if (stop.side === 'late') {
          const landing = stop.landing.then(() => land(target, request, bytes));
          // Its error is reported by `landed`.
          landing.catch(() => undefined);
          late.push(landing);
        }
        stop.reached();
        return;
      }
      const { message, body } = await send(target, request, bytes);
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
      return new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

const LANDING_TRIES = 5;
const LANDING_PAUSE_MS = 200;

/**
 * Executes a late call. A failed condition is a valid reply. After a connection error or a status from 500 the call may
 * not have been executed, so it is repeated. A store accepts each of these writes again without a further effect.
 */
async function land(target: string, request: IncomingMessage, bytes: Buffer): Promise<void> {
  const problems: string[] = [];
  while (problems.length < LANDING_TRIES) {
    try {
      const { message, body } = await send(target, request, bytes);
      if ((message.statusCode ?? 500) < 500) return;
      problems.push(`${message.statusCode} ${body.toString().slice(0, 200)}`);
    } catch (error) {
      problems.push(String(error));
    }
    await sleep(LANDING_PAUSE_MS);
  }
  throw new Error(`a late ${request.method} ${request.url} failed: ${problems.join(', ')}`);
}

/** Uses a new connection. The store may close an idle one before a late call. */
function send(target: string, request: IncomingMessage, bytes: Buffer) {
  const { connection: _own, ...headers } = request.headers;
  return new Promise<{ message: IncomingMessage; body: Buffer }>((resolve, reject) => {
    openRequest(`${target}${request.url}`, { agent: false, method: request.method, headers }, (message) => {
      buffer(message).then((body) => resolve({ message, body }), reject);
    })
      .on('error', reject)
      .end(bytes);
  });
}
