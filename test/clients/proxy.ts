import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import * as z from 'zod';

/** Request of a client with the response of the gateway. */
export interface Call {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  /** Parsed JSON, undefined if there is none. */
  readonly body: unknown;
  /** 0 if the client left before the first byte. */
  readonly status: number;
  readonly requestId: string | undefined;
  readonly ignored: readonly string[];
  /** Message and `param` of an error, else empty. */
  readonly problem: string;
}

export interface CallProxy {
  readonly url: string;
  /** Returns the calls since the last call of this method, oldest first. Waits for those in progress. */
  take(): Promise<readonly Call[]>;
  stop(): Promise<void>;
}

const listSchema = z.string().transform((text) => text.split(',').map((name) => name.trim()));

const errorSchema = z.object({
  error: z.object({ message: z.string().default(''), param: z.string().nullish() }),
});

/** Forwards every request to the gateway and records what the suite checks. The clients know only its URL. */
export const startProxy = async (gatewayUrl: string): Promise<CallProxy> => {
  const pending = new Set<Promise<Call>>();
  const done: Call[] = [];
  const server = createServer((incoming, response) => {
    const call = forward(gatewayUrl, incoming, response);
    pending.add(call);
    call.then((finished) => {
      pending.delete(call);
      done.push(finished);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port.');
  return {
    url: `http://127.0.0.1:${address.port}`,
    take: async () => {
      while (pending.size > 0) await Promise.all(pending);
      return done.splice(0);
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

const forward = async (gatewayUrl: string, incoming: IncomingMessage, response: ServerResponse): Promise<Call> => {
  const { method = 'GET', url = '/', headers } = incoming;
  const target = new URL(url, gatewayUrl);
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(part);
  const bytes = Buffer.concat(parts);
  const asked = { method, path: target.pathname, query: target.searchParams, headers, body: parseJson(bytes) };
  const answer = await send(target, method, { ...headers, host: target.host }, bytes, response);
  return { ...asked, ...answer };
};

type Answer = Pick<Call, 'status' | 'requestId' | 'ignored' | 'problem'>;

const send = (
  target: URL,
  method: string,
  headers: IncomingMessage['headers'],
  bytes: Buffer,
  response: ServerResponse,
): Promise<Answer> =>
  new Promise((resolve) => {
    const none: Answer = { status: 0, requestId: undefined, ignored: [], problem: 'The connection broke off.' };
    const outgoing = request(target, { method, headers, agent: false }, (answer) => {
      const { statusCode: status = 0 } = answer;
      response.writeHead(status, answer.headers);
      answer.pipe(response);
      const parts: Buffer[] = [];
      if (status >= 400) answer.on('data', (part: Buffer) => parts.push(part));
      answer.once('close', () => {
        const ignored = listSchema.safeParse(answer.headers['x-service-ignored-parameters']).data ?? [];
        const requestId = z.string().safeParse(answer.headers['x-request-id']).data;
        resolve({ status, requestId, ignored, problem: status >= 400 ? problemOf(Buffer.concat(parts)) : '' });
      });
    });
    outgoing.once('error', () => {
      response.destroy();
      resolve(none);
    });
    response.once('close', () => outgoing.destroy());
    outgoing.end(bytes);
  });

const problemOf = (bytes: Buffer): string => {
  const { error } = errorSchema.safeParse(parseJson(bytes)).data ?? {};
  if (error === undefined) return bytes.toString('utf8').slice(0, 200);
  return error.param ? `${error.message} (param ${error.param})` : error.message;
};

const parseJson = (bytes: Buffer): unknown => {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
};
