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

const prelude = Symbol('prelude');

/** A stream that knows the head of its response. */
interface Headed extends Writable {
  [prelude]?: Prelude;
}

/**
 * The two functions that Lambda's runtime defines in the global scope. The headers leave with the first write: a stream
 * that ends without a write loses them, as on Lambda.
 */
const awslambda = {
  streamifyResponse: (handler: StreamingHandler): StreamingHandler => handler,
  HttpResponseStream: {
    from: (stream: Headed, head: Prelude): Writable => {
      stream[prelude] = head;
      return stream;
    },
  },
};

/** Call this before importing a module that creates handlers. */
export const installLambdaRuntime = (): void => {
  Object.assign(globalThis, { awslambda });
};

export interface Receiver {
  head(prelude: Prelude): void;
  /** Calls back when it can accept more data. Text is sent as UTF-8. */
  write(data: Buffer | string, done: () => void): void;
  end(done: () => void): void;
}

/** Stream for a handler. It never fails and never closes early; data without a receiver is dropped. */
export const createResponseStream = (receiver: Receiver): Writable => {
  let begun = false;
  const begin = (stream: Headed): void => {
    if (begun) return;
    begun = true;
    receiver.head(stream[prelude] ?? { statusCode: 200 });
  };
  const stream: Headed = new Writable({
    // Node sends text together with the head. The stream has no resources to close.
    decodeStrings: false,
    autoDestroy: false,
    emitClose: false,
    write: (data: Buffer | string, _encoding, done) => {
      begin(stream);
      if (data.length === 0) done();
      else receiver.write(data, done);
    },
    final: (done) => {
      if (!begun) receiver.head({ statusCode: 200 });
      receiver.end(done);
    },
  });
  return stream;
};
