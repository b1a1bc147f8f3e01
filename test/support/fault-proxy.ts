import { Agent, createServer, type IncomingMessage, request as openRequest, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { dynamodbWire, type StoreWire, type Wanted } from './fault-proxy-wire.ts';

/** What goes wrong with one call on its way. All but `delay` and `repeat` make the caller believe that it failed. */
export type Fault =
  /** Never forwarded; the connection is reset, or the service says that it failed. */
  | { readonly kind: 'fail-before'; readonly status?: 500 | 503 }
  /** Executed; the connection is reset instead of a reply. */
  | { readonly kind: 'lose-reply' }
  /** The connection is reset at once, and the call executed at `until`: an attempt that stalled and lands late. */
  | { readonly kind: 'hold-back'; readonly until: Promise<void> }
  /** Executed and answered, and executed once more at `until`. */
  | { readonly kind: 'repeat'; readonly until: Promise<void> }
  /** Neither executed nor answered before `until`. */
  | { readonly kind: 'delay'; readonly until: Promise<void> }
  /** Refused as the service does it for one hot key, or for an item inside a transaction. */
  | { readonly kind: 'throttle' | 'conflict' };

export interface Call extends Wanted {
  /** The first of its keys, which is the only one but in a transaction. */
  readonly key: string;
  /** Earlier calls of the same operation on the same key. */
  readonly turn: number;
  /** Resolves when it has been answered and everything of it that comes late has come. */
  readonly over: Promise<void>;
}

/** Asked once for each call that arrives; the call waits for the verdict. */
export type Plan = (call: Call) => Fault | undefined | Promise<Fault | undefined>;

export interface FaultProxy {
  /** For the client, in the store's place. */
  readonly endpoint: string;
  /** In the order of their arrival. */
  readonly calls: readonly Call[];
  /** Undefined lets every call through. */
  setPlan(plan: Plan | undefined): void;
  /** While it lasts every connection is reset before anything is read from it. */
  setOutage(lasts: boolean): void;
  /** Resolves when everything that arrived so far is over. Needs every `until` to come. */
  landed(): Promise<void>;
  forget(): void;
  stop(): Promise<void>;
}

interface FaultProxyOptions {
  /** The real endpoint. */
  readonly target: string;
  readonly wire?: StoreWire;
  readonly plan?: Plan;
}

/** Stands before a store's endpoint and does to calls what a network and a busy service do. Forwards bytes as they came. */
export async function startFaultProxy({ target, wire = dynamodbWire, plan }: FaultProxyOptions): Promise<FaultProxy> {
  const calls: Call[] = [];
  const turns = new Map<string, number>();
  const agent = new Agent({ keepAlive: true });
  let current = plan;
  let outage = false;

  const server = createServer({ keepAliveTimeout: 65_000 }, async (request, response) => {
    // Without a date the client cannot take a test's own clock for a wrong one, and repeat the call.
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
      // The client has gone, or the store: as it would be without anybody in between.
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
  if (address === null || typeof address === 'string') throw new Error('the system named no port');

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

/** The body goes out framed as it came: by its length, or in chunks. */
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
