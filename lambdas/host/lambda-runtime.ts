import { Writable } from 'node:stream';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';

/** Status and headers of a response: the argument of `HttpResponseStream.from`. */
export interface Prelude {
  readonly statusCode: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Handler as Lambda calls it: it writes its response to the stream, and its promise settles when it has finished. */
export type StreamingHandler = (
  event: APIGatewayProxyEventV2,
  stream: Writable,
  context: Record<string, unknown>,
) => Promise<void>;

const isStreaming = (handler: unknown): handler is StreamingHandler => typeof handler === 'function';

/**
 * Casts a handler to the signature that Lambda calls, because the library's types declare the signature with which the
 * handler is written.
 */
export const streaming = (handler: unknown): StreamingHandler => {
  if (isStreaming(handler)) return handler;
  throw new TypeError('a handler must be a function');
};

const preludes = new WeakMap<Writable, Prelude>();

/**
 * The two functions that Lambda's runtime defines in the global scope. The headers leave with the first write: a stream
 * that ends without a write loses them, as on Lambda.
 */
const awslambda = {
  streamifyResponse: (handler: StreamingHandler): StreamingHandler => handler,
  HttpResponseStream: {
    from: (stream: Writable, prelude: Prelude): Writable => {
      preludes.set(stream, prelude);
      return stream;
    },
  },
};

/** Call this before importing a module that creates handlers. */
export const installLambdaRuntime = (): void => {
  Object.assign(globalThis, { awslambda });
};

export interface Receiver {
  /** `only`: the whole body, if it is known already. The next `write` sends it. */
  head(prelude: Prelude, only?: Buffer | string): void;
  /** Calls back when it can accept more data. Text is sent as UTF-8. */
  write(data: Buffer | string, done: () => void): void;
  end(done: () => void): void;
}

/** Text stays text, and the stream has no resources to close. */
const OPTIONS = { decodeStrings: false, autoDestroy: false, emitClose: false };

/**
 * Stream for a handler. It never fails and never closes early; data without a receiver is dropped. Its first piece
 * waits for the end of the current callback, as in Node's own responses, so that the length of a response of one piece
 * is known.
 */
class ResponseStream extends Writable {
  readonly #receiver: Receiver;
  #prelude: Prelude = { statusCode: 200 };
  #wrote = false;
  #hasHead = false;
  #first: Buffer | string | undefined;
  #isReady = true;
  #next: (() => void) | undefined;

  constructor(receiver: Receiver) {
    super(OPTIONS);
    this.#receiver = receiver;
  }

  override _write(data: Buffer | string, _encoding: string, done: () => void): void {
    if (!this.#wrote) this.#prelude = preludes.get(this) ?? this.#prelude;
    this.#wrote = true;
    if (data.length === 0) {
      done();
    } else if (this.#hasHead || this.#first !== undefined) {
      this.sendFirst();
      this.#whenReady(() => this.#receiver.write(data, done));
    } else {
      this.#first = data;
      done();
      process.nextTick(sendFirst, this);
    }
  }

  override _final(done: () => void): void {
    if (!this.#hasHead) this.#receiver.head(this.#prelude, this.#first);
    this.#hasHead = true;
    this.sendFirst();
    this.#whenReady(() => this.#receiver.end(done));
  }

  sendFirst(): void {
    const first = this.#first;
    if (first === undefined) return;
    this.#first = undefined;
    if (!this.#hasHead) this.#receiver.head(this.#prelude);
    this.#hasHead = true;
    this.#isReady = false;
    this.#receiver.write(first, () => {
      this.#isReady = true;
      this.#next?.();
    });
  }

  /** Node makes one call of `_write` or `_final` at a time. */
  #whenReady(next: () => void): void {
    if (this.#isReady) next();
    else this.#next = next;
  }
}

const sendFirst = (stream: ResponseStream): void => stream.sendFirst();

export const createResponseStream = (receiver: Receiver): Writable => new ResponseStream(receiver);
