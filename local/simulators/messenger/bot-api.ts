import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { BotApiError, type Failure, toBotApiError } from './failures.ts';
import type { Method } from './methods.ts';

export type BotApi = {
  readonly url: string;
  stop(): Promise<void>;
};

export type BotApiOptions = {
  readonly botToken: string;
  readonly port: number;
  readonly methods: Readonly<Record<string, Method>>;
  /** Called for every message of the bot. */
  nextFailure(): Failure | undefined;
};

const HOST = '127.0.0.1';

/** `/bot<token>/<method>` with a JSON body. https://core.telegram.org/bots/api#making-requests */
export async function startBotApi(options: BotApiOptions): Promise<BotApi> {
  const server = createServer((request, response) => {
    call(options, new URL(request.url ?? '/', 'http://local').pathname, request).then(
      (result) => answerJson(response, 200, { ok: true, result }),
      (error: unknown) => refuse(response, error),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, HOST, resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The system named no port.');
  return {
    url: `http://${HOST}:${address.port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function call(options: BotApiOptions, path: string, request: IncomingMessage): Promise<unknown> {
  const { name, method } = find(options, path);
  const body = await readBody(request);
  const failure = name === 'sendMessage' ? options.nextFailure() : undefined;
  if (!failure) return method(body);
  if (failure.isTaken) method(body);
  throw failure.status === 0 ? new Cut() : toBotApiError(failure);
}

function find({ botToken, methods }: BotApiOptions, path: string): { readonly name: string; readonly method: Method } {
  const [, token, name = ''] = /^\/bot([^/]+)\/(\w+)$/.exec(path) ?? [];
  if (token === undefined) throw new BotApiError(404, 'Not Found');
  if (token !== botToken) throw new BotApiError(401, 'Unauthorized');
  const method = Object.hasOwn(methods, name) ? methods[name] : undefined;
  if (!method) throw new BotApiError(404, 'Not Found: method not found');
  return { name, method };
}

/** Ends the connection without a response. */
class Cut extends Error {}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  if (chunks.length === 0) return {};
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    throw new BotApiError(400, "Bad Request: can't parse the body");
  }
}

function refuse(response: ServerResponse, error: unknown): void {
  if (error instanceof Cut) response.destroy();
  else if (error instanceof BotApiError) answerJson(response, error.status, error.toBody());
  else answerJson(response, 500, { ok: false, error_code: 500, description: `Internal Server Error: ${error}` });
}

function answerJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
