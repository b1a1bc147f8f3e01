import { Agent, createServer, type IncomingMessage, request as openRequest, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { dynamodbWire, type StoreWire, type Wanted } from './fault-proxy-wire.ts';

/** Fault of one call. Each except `delay` and `repeat` makes the caller believe that the call failed. */
export type Fault =
  /** The call is not forwarded. The connection is reset, or the service reports the status. */
  | { readonly kind: 'fail-before'; readonly status?: 500 | 503 }
  /** The call is executed, but the connection is reset instead of a reply. */
  | { readonly kind: 'lose-reply' }
  /**
   * The connection is reset immediately and the call is executed at `until`, like an attempt that stalled and arrives
   * late.
   */
  | { readonly kind: 'hold-back'; readonly until: Promise<void> }
  /** The call is executed and answered, and executed again at `until`. */
  | { readonly kind: 'repeat'; readonly until: Promise<void> }
  /** The call is neither executed nor answered before `until`. */
  | { readonly kind: 'delay'; readonly until: Promise<void> }
  /** The call is rejected as the store rejects it: for a throttled key, or for a conflict with another write. */
  | { readonly kind: 'throttle' | 'conflict' };

export interface Call extends Wanted {
  /** The first of the keys. Only a transaction has more. */
  readonly key: string;
  /** Number of earlier calls of the same operation on the same key. */
  readonly turn: number;
  /** Resolves when the call was answered and every late execution has ended. */
  readonly over: Promise<void>;
}

/** Called once for each call that arrives. The call waits for the fault. */
export type Plan = (call: Call) => Fault | undefined | Promise<Fault | undefined>;

export interface FaultProxy {
  /** URL that the client uses instead of the store's. */
  readonly endpoint: string;
  /** Calls in the order of arrival. */
  readonly calls: readonly Call[];
  /** Sets the plan. Undefined forwards every call. */
  setPlan(plan: Plan | undefined): void;
  /** Sets an outage. While it lasts, every connection is reset before anything is read. */
  setOutage(lasts: boolean): void;
  /** Resolves when everything that has arrived so far is over. Needs every `until` to resolve. */
  landed(): Promise<void>;
  forget(): void;
  stop(): Promise<void>;
}

interface FaultProxyOptions {
  /** URL of the real store. */
  readonly target: string;
  readonly wire?: StoreWire;
  readonly plan?: Plan;
}

/**
 * Starts a proxy in front of a store that simulates faults of the network and of a busy service. Forwards bytes
 * unchanged.
 */
export async function startFaultProxy({ target, wire = dynamodbWire, plan }: FaultProxyOptions): Promise<FaultProxy> {
  const calls: Call[] = [];
  const turns = new Map<string, number>();
  const agent = new Agent({ keepAlive: true });
  let current = plan;
  let outage = false;

  const server = createServer({ keepAliveTimeout: 65_000 }, async (request, response) => {
    // Omits the date. A client that compares it with the clock of the test may see clock skew and repeat the call.
    response.sendDate = false;
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    try {
      const bytes = await buffer(request);
      const wanted = wire.describe(request, bytes);
      const key = wanted.keys[0] ?? '';
      const turn = turns.get(`${wanted.operation} ${key}`) ?? 0;
      turns.set(`${wanted.operation} ${key}`, turn + 1);
      const call = { ...wanted, key, turn, over };
      calls.push(call);
      const fault = await current?.(call);
      const forward = () => send(agent, target, request, bytes);
      await play(fault, { request, response, forward, refusal: (kind) => wire.refusal(kind, wanted) });
    } catch {
      // The client or the store has closed its connection, so the proxy closes the other one.
      request.socket.destroy();
    } finally {
      end();
    }
  });
  server.on('connection', (socket) => {
    if (outage) socket.resetAndDestroy();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the system returned no port');

  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    calls,
    setPlan(next) {
      current = next;
    },
    setOutage(lasts) {
      outage = lasts;
      if (lasts) server.closeAllConnections();
    },
    landed: async () => void (await Promise.all(calls.map((call) => call.over))),
    forget() {
      calls.length = 0;
      turns.clear();
    },
    stop() {
      agent.destroy();
      return new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

interface Reply {
  readonly message: IncomingMessage;
  readonly bytes: Buffer;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly forward: () => Promise<Reply>;
  readonly refusal: (kind: 'throttle' | 'conflict' | 500 | 503) => ReturnType<StoreWire['refusal']>;
}

async function play(fault: Fault | undefined, { request, response, forward, refusal }: Exchange): Promise<void> {
  const reset = () => request.socket.resetAndDestroy();
  const refuse = (kind: Parameters<typeof refusal>[0]): void => {
    const { status, contentType, text } = refusal(kind);
    response.writeHead(status, { 'content-type': contentType }).end(text);
  };
  switch (fault?.kind) {
    case undefined:
      return answer(response, await forward());
    case 'fail-before':
      if (fault.status) refuse(fault.status);
      else reset();
      return;
    case 'throttle':
    case 'conflict':
      return refuse(fault.kind);
    case 'lose-reply':
      await forward();
      reset();
      return;
    case 'hold-back':
      reset();
      await fault.until;
      await forward();
      return;
    case 'repeat':
      answer(response, await forward());
      await fault.until;
      await forward();
      return;
    case 'delay':
      await fault.until;
      return answer(response, await forward());
  }
}

function answer(response: ServerResponse, { message, bytes }: Reply): void {
  const {
    connection: _own,
    'transfer-encoding': _framed,
    'keep-alive': _kept,
    date: _date,
    ...headers
  } = message.headers;
  response.writeHead(message.statusCode ?? 502, headers).end(bytes);
}

/** Forwards the body with its original framing, by length or in chunks. */
function send(agent: Agent, target: string, request: IncomingMessage, bytes: Buffer): Promise<Reply> {
  const { connection: _own, ...headers } = request.headers;
  return new Promise((resolve, reject) => {
    openRequest(`${target}${request.url}`, { agent, method: request.method, headers }, (message) => {
      buffer(message).then((body) => resolve({ message, bytes: body }), reject);
    })
      .on('error', reject)
      .end(bytes);
  });
}
