import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/** Response of a function to one event, as far as it has arrived. */
export interface Invocation {
  /** Everything received so far, including the headers of the response. */
  readonly bytes: () => Buffer;
  /** Resolves once the text was received, and once the response has ended. */
  saw(text: string): Promise<void>;
  readonly ended: Promise<InvocationEnd>;
}

export interface InvocationEnd {
  readonly streamed: boolean;
  readonly contentType: string | undefined;
  /** Failure that the runtime reports, in a trailer or in its own response. Undefined without a failure. */
  readonly error: string | undefined;
}

export interface RuntimeApi {
  /** `host:port`, in the format of AWS_LAMBDA_RUNTIME_API. */
  readonly address: string;
  /** Delivers the event when the function requests the next one. */
  invoke(event: object): Invocation;
  /** Resolves when the function requests an event and there is none, so all earlier work is done. */
  idle(): Promise<void>;
  stop(): Promise<void>;
}

const TIME_MS = 60_000;
const ARN = 'arn:aws:lambda:eu-central-1:000000000000:function:text';
const LIFECYCLE = /^\/2018-06-01\/runtime\/(?:invocation\/(next|([^/]+)\/(response|error))|init\/error)$/;

/** Fake of Lambda's runtime API: https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html */
export const startRuntimeApi = async (): Promise<RuntimeApi> => {
  const queue: Pending[] = [];
  const running = new Map<string, Pending>();
  const idlers: (() => void)[] = [];
  let asking: ServerResponse | undefined;

  const handOver = (): void => {
    if (asking === undefined) return;
    const next = queue.shift();
    if (next === undefined) {
      for (const resolve of idlers.splice(0)) resolve();
      return;
    }
    running.set(next.id, next);
    asking.writeHead(200, {
      'content-type': 'application/json',
      'lambda-runtime-aws-request-id': next.id,
      'lambda-runtime-deadline-ms': String(Date.now() + TIME_MS),
      'lambda-runtime-invoked-function-arn': ARN,
      'lambda-runtime-trace-id': 'Root=1-5bef4de7-ad49b0e87f6ef6c87fc2e700;Parent=9a9197af755a6419;Sampled=1',
    });
    asking.end(JSON.stringify(next.event));
    asking = undefined;
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [, next, id = '', ending] = LIFECYCLE.exec(request.url ?? '') ?? [];
    if (next === 'next') {
      asking = response;
      handOver();
      return;
    }
    await (running.get(id)?.take(request, ending === 'error') ?? request.resume());
    response.writeHead(202, { 'content-type': 'application/json' }).end('{"status":"OK"}');
  };

  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 0 }, (request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the system named no port');
  return {
    address: `127.0.0.1:${address.port}`,
    invoke: (event) => {
      const pending = new Pending(event);
      queue.push(pending);
      handOver();
      return pending;
    },
    idle: () =>
      new Promise((resolve) => {
        idlers.push(resolve);
        handOver();
      }),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

class Pending implements Invocation {
  readonly id = randomUUID();
  readonly event: object;
  readonly #pieces: Buffer[] = [];
  readonly #end = Promise.withResolvers<InvocationEnd>();
  #changed = Promise.withResolvers<void>();
  #isOver = false;

  constructor(event: object) {
    this.event = event;
  }

  get ended(): Promise<InvocationEnd> {
    return this.#end.promise;
  }

  bytes(): Buffer {
    return Buffer.concat(this.#pieces);
  }

  async saw(text: string): Promise<void> {
    while (!this.#isOver && !this.bytes().includes(text)) await this.#changed.promise;
  }

  async take(request: IncomingMessage, failed: boolean): Promise<void> {
    for await (const piece of request) {
      this.#pieces.push(piece);
      this.#change();
    }
    const told = failed
      ? request.headers['lambda-runtime-function-error-type']
      : request.trailers['lambda-runtime-function-error-type'];
    this.#isOver = true;
    this.#change();
    this.#end.resolve({
      streamed: request.headers['lambda-runtime-function-response-mode'] === 'streaming',
      contentType: request.headers['content-type'],
      error: failed ? String(told ?? 'unknown') : told?.toString(),
    });
  }

  #change(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}
