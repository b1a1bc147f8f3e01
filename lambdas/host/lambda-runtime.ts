import { Writable } from 'node:stream';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';

/** Status and headers of a response: the argument of `HttpResponseStream.from`. */
export interface Prelude {
  readonly statusCode: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A handler as Lambda runs it: it writes its answer and settles when it is done. */
export type StreamingHandler = (
  event: APIGatewayProxyEventV2,
  stream: Writable,
  context: Record<string, unknown>,
) => Promise<void>;

const isStreaming = (handler: unknown): handler is StreamingHandler => typeof handler === 'function';

/** The library's types describe a handler as it is written; this is the form in which Lambda calls it. */
export const streaming = (handler: unknown): StreamingHandler => {
  if (isStreaming(handler)) return handler;
  throw new TypeError('a handler must be a function');
};

const preludes = new WeakMap<Writable, Prelude>();

/**
 * The two functions that Lambda's runtime puts into the global scope. The head goes out with the first write and not before:
 * a stream that is ended without one loses it here as it does there.
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

/** To be called before a module that makes handlers is loaded. */
export const installLambdaRuntime = (): void => {
  Object.assign(globalThis, { awslambda });
};

export interface Receiver {
  head(prelude: Prelude): void;
  /** Calls back when there is room for more. */
  write(bytes: Buffer, done: () => void): void;
  end(done: () => void): void;
}

/** Stream for a handler. It never fails and never closes early; data without a receiver is dropped. */
export const createResponseStream = (receiver: Receiver): Writable => {
  let begun = false;
  const begin = (stream: Writable): void => {
    if (begun) return;
    begun = true;
    receiver.head(preludes.get(stream) ?? { statusCode: 200 });
  };
  const stream: Writable = new Writable({
    write: (bytes: Buffer, _encoding, done) => {
      begin(stream);
      if (bytes.length === 0) done();
      else receiver.write(bytes, done);
    },
    final: (done) => {
      if (!begun) receiver.head({ statusCode: 200 });
      receiver.end(done);
    },
  });
  return stream;
};
